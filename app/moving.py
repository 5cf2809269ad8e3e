"""Memory as a whole on its way: from one store to another, or into a new folder that is a backup."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from app.bootstrap_moving import open_archive
from app.moving_report import not_copied
from memory.addresses import Address, Folder
from memory.moving import Copied, copy
from memory.store import StoreUnavailableError
from memory.stores.backup_folder import new_folder
from memory.stores.remote_trust import Credentials
from memory.stores.sqlite_backup import Held, back_up, examine
from memory.verification import Verified, verify
from memory.walking import Watch, unheeded

Moved = tuple[Copied, Verified]
ROUNDS = 3
"""How often a source that changes meanwhile is copied into a backup."""


async def move(source: Address, target: Address, credentials: Credentials | None, watch: Watch) -> Moved:
    """Copy, then compare; what cannot be looked into is trouble as any other. Raises ``StoreUnavailableError``."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(open_archive(source, credentials))
        theirs = await stack.enter_async_context(open_archive(target, credentials))
        for archive in (theirs, ours):  # Whether they answer at all, and to this token.
            await archive.scope_keys(1, leave_aside=unheeded)
        try:
            copied = await copy(ours, theirs, watch)
            return copied, await verify(ours, theirs, copied, watch)
        except StoreUnavailableError as fault:
            raise StoreUnavailableError(
                f"{fault}; what was copied stays, and the same command goes on from there"
            ) from fault


def back_up_all(
    source: Address, parent: Path, credentials: Credentials | None, watch: Watch, now: datetime
) -> tuple[Path, Held]:
    """A new folder below ``parent``, and what is in it; with faults it is not whole, and named so.

    Raises ``StoreUnavailableError`` and ``OSError``: then there is none.
    """
    with new_folder(parent, now) as folder:
        if isinstance(source, Folder):
            held = back_up(source.path, folder.path, watch)
        else:
            held = asyncio.run(_copied_into(folder.path, source, credentials, watch))
        return folder.finish(is_whole=not held.faults), held


async def repeated(moving: Callable[[], Awaitable[Moved]]) -> Moved:
    """What changes in the source while it is copied is fetched again; what changes all the time may be missing."""
    copied, verified = await moving()
    for _ in range(ROUNDS - 1):
        if verified.is_whole or not verified.is_settled:
            break
        copied, verified = await moving()
    return copied, verified


async def _copied_into(folder: Path, source: Address, credentials: Credentials | None, watch: Watch) -> Held:
    copied, verified = await repeated(partial(move, source, Folder(folder), credentials, watch))
    held = await asyncio.to_thread(examine, folder, watch)
    return replace(held, faults=(*held.faults, *not_copied(copied, verified, held.records)))
