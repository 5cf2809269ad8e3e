"""The part of the composition root for moving memory: which store an address names, opened to be copied."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.clock import SystemClock
from app.errors import ConfigurationError
from memory.addresses import Address, Database, Folder, Service, is_same, parsed
from memory.ranker import Ranker
from memory.relevance import RelevanceRanker
from memory.store import MemoryArchive
from memory.stores.opening import StoreKind, StoreRefusedError, choose
from memory.stores.remote_trust import Credentials, TrustRefusedError
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_connections import SUFFIX

if TYPE_CHECKING:
    from config.settings import Settings

_SHARD = "[0-9a-f][0-9a-f]"
_MEMORY = "a bot keeps its memory in <data_dir>/memory"


class ArchivedStore(MemoryArchive, Protocol):
    """An archive that can be closed."""

    async def aclose(self) -> None: ...


class OpenPostgres(Protocol):
    """``memory.stores.postgres.open_postgres``."""

    async def __call__(
        self, url: str, *, ranker: Ranker, now: Callable[[], datetime], cap: int | None
    ) -> ArchivedStore: ...


@asynccontextmanager
async def open_archive(address: Address, credentials: Credentials | None) -> AsyncGenerator[MemoryArchive]:
    """The store at ``address``, without a cap of its own, closed when the context ends.

    ``credentials``: for a memory service. Raises ``StoreUnavailableError``, and ``ConfigurationError``.
    """
    store = await _opened(address, credentials)
    try:
        yield store
    finally:
        await store.aclose()


async def _opened(address: Address, credentials: Credentials | None) -> ArchivedStore:
    ranker, now = RelevanceRanker(), SystemClock().now
    match address:
        case Folder(path):
            return SqliteStore(path, ranker=ranker, now=now, cap=None)
        case Service(url):
            return await _remote(url, credentials or Credentials(""), now)
        case Database(url):
            open_postgres = await asyncio.to_thread(_postgres)
            return await open_postgres(url, ranker=ranker, now=now, cap=None)


async def _remote(url: str, credentials: Credentials, now: Callable[[], datetime]) -> ArchivedStore:
    """Imported in a thread: the client is large and reads the machine's certificates."""
    await asyncio.to_thread(import_module, "memory.stores.remote")
    from memory.stores.remote import open_remote

    try:
        return await open_remote(url, credentials, ranker="relevance", now=now, cap=None)
    except TrustRefusedError as fault:
        raise ConfigurationError(str(fault)) from fault


def _postgres() -> OpenPostgres:
    """In a thread: the driver is large and reads files."""
    from memory.stores.postgres import open_postgres

    return open_postgres


def require_source(address: Address) -> None:
    """Raises ``ConfigurationError`` unless ``address`` may be read from; servers are asked later."""
    if isinstance(address, Folder):
        if not address.path.exists():
            raise ConfigurationError(f"there is no folder {address}: {_MEMORY}")
        _require_memory(address.path)


def require_target(address: Address) -> None:
    """Make a folder that is not there. Raises ``ConfigurationError`` for one that is of no use."""
    if isinstance(address, Folder):
        try:
            address.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as fault:
            raise ConfigurationError(f"{address} cannot be made a folder: {fault.strerror}") from fault
        _require_memory(address.path)
        if not os.access(address.path, os.W_OK):
            raise ConfigurationError(f"nothing may be written to the folder {address}")


def require_apart(source: Address, target: Address) -> None:
    """Raises ``ConfigurationError`` for one store as both, as far as that can be told."""
    if isinstance(source, Folder) and isinstance(target, Folder):
        one, other = source.path.resolve(), target.path.resolve()
        if one != other and (one in other.parents or other in one.parents):
            raise ConfigurationError("one of the folders is inside the other; choose another --to")
        source, target = Folder(one), Folder(other)
    if is_same(source, target):
        raise ConfigurationError("--from and --to are the same store: there is nothing to copy")


def require_outside(source: Address, parent: Path) -> None:
    """Raises ``ConfigurationError`` when a backup would lie among the files it is of."""
    if isinstance(source, Folder):
        one, other = source.path.resolve(), parent.resolve()
        if one == other or one in other.parents:
            raise ConfigurationError("the backup would be inside the folder it is of; choose another --to")


def own_address(settings: "Settings") -> Address:
    """Where the bot of ``settings`` keeps its memory, on or off. Raises ``ConfigurationError``."""
    from app.bootstrap_memory import wish_of

    try:
        choice = choose(replace(wish_of(settings), enabled=True))
    except StoreRefusedError as fault:
        raise ConfigurationError(str(fault)) from fault
    match choice.kind:
        case StoreKind.INPROCESS | StoreKind.NULL:
            raise ConfigurationError("memory.store is inprocess, which keeps nothing: name the store with --from")
        case StoreKind.SQLITE:
            return Folder(settings.data_dir / "memory")
        case StoreKind.POSTGRES | StoreKind.REMOTE:
            return parsed(choice.address)


def _require_memory(folder: Path) -> None:
    """There are scope files, or nothing that tells of another use."""
    try:
        names = [each.name for each in folder.iterdir() if not each.name.startswith(".")]
    except OSError as fault:
        raise ConfigurationError(f"the folder {folder} cannot be read: {fault.strerror}") from fault
    has_files = any(folder.glob(f"{_SHARD}/*{SUFFIX}"))
    if not has_files and not all(fnmatchcase(name, _SHARD) for name in names):
        raise ConfigurationError(f"{folder} is no folder of scope files: {_MEMORY}")
