"""Through everything in a store: scope by scope, some at once, and through a scope's records in two stores in step."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, TypeVar

from memory.record import MemoryRecord
from memory.store import MemoryArchive, StoreFullError, StoreUnavailableError

PAGE = 200
"""Records that are read at once: a walk takes no more memory, whatever the size of the scope."""
KEYS = 500
SIDE_BY_SIDE = 8
"""Scopes at once."""
IN_A_ROW = 8
"""After so many scopes in a row that could not be used, it is the store that cannot."""
PAUSES_S = (1.0, 4.0, 10.0)
"""Before what failed is tried again: a server that is restarted, or a disk that is busy, ends no walk."""

Pair = tuple[MemoryRecord | None, MemoryRecord | None]
Step = Literal["copy", "verify", "back up", "check"]
Found = TypeVar("Found")


class Watch(Protocol):
    """Whoever is shown how far it is: in records, or in scopes where whole files are backed up and checked."""

    def begin(self, step: Step, total: int) -> None:
        """About so much is ahead."""
        ...

    def advance(self, done: int) -> None:
        """So much more is done."""
        ...


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with one scope, in words that are no record's."""

    scope_key: str
    reason: str


async def each_scope(
    archive: MemoryArchive, work: Callable[[str], Awaitable[None]], pauses_s: Sequence[float] = PAUSES_S
) -> list[Trouble]:
    """Have ``work`` done for every scope, again after a pause where it failed; those it could not be done for.

    Raises ``StoreUnavailableError`` when the scopes cannot be named, when there is no room to write in, and once
    ``work`` has failed for several scopes in a row; what has begun is finished before.
    """
    walk = _ScopeWalk(work, pauses_s)
    after: str | None = None
    while walk.fatal is None:
        keys = await _patiently(partial(archive.scope_keys, KEYS, after=after), pauses_s)
        if not keys:
            return walk.troubles
        async with asyncio.TaskGroup() as group:
            for key in keys:
                await walk.places.acquire()
                group.create_task(walk.one(key))
        after = keys[-1]
    raise walk.fatal


async def pairs(source: MemoryArchive, target: MemoryArchive, scope_key: str) -> AsyncGenerator[Pair]:
    """The scope's records of both stores, oldest first, those of one number side by side.

    What is written to the target up to the number at hand is not in the way.
    """
    left, right = _RecordWalk(source, scope_key), _RecordWalk(target, scope_key)
    ours, theirs = await left.following(), await right.following()
    while ours is not None or theirs is not None:
        is_ours = theirs is None or (ours is not None and ours.sequence <= theirs.sequence)
        is_theirs = ours is None or (theirs is not None and theirs.sequence <= ours.sequence)
        yield ours if is_ours else None, theirs if is_theirs else None
        ours = await left.following() if is_ours else ours
        theirs = await right.following() if is_theirs else theirs


class _ScopeWalk:
    def __init__(self, work: Callable[[str], Awaitable[None]], pauses_s: Sequence[float]) -> None:
        self._work = work
        self._pauses_s = pauses_s
        self._failed_in_a_row = 0
        self.places = asyncio.Semaphore(SIDE_BY_SIDE)
        self.troubles: list[Trouble] = []
        self.fatal: StoreUnavailableError | None = None

    async def one(self, key: str) -> None:
        """Do one scope's work on a place that is given back, unless all is over already."""
        try:
            if self.fatal is None:
                await _patiently(partial(self._work, key), self._pauses_s)
                self._failed_in_a_row = 0
        except StoreUnavailableError as exc:
            self.troubles.append(Trouble(key, str(exc)))
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= IN_A_ROW or isinstance(exc, StoreFullError):
                self.fatal = exc
        finally:
            self.places.release()


async def _patiently(work: Callable[[], Awaitable[Found]], pauses_s: Sequence[float]) -> Found:
    """``work``'s result, if need be after some pauses; a full disk stays full."""
    for pause_s in pauses_s:
        try:
            return await work()
        except StoreFullError:
            raise
        except StoreUnavailableError:
            await asyncio.sleep(pause_s)
    return await work()


class _RecordWalk:
    """A scope's records one by one, read by the page."""

    def __init__(self, archive: MemoryArchive, scope_key: str) -> None:
        self._archive = archive
        self._scope_key = scope_key
        self._page: Sequence[MemoryRecord] = ()
        self._at = 0
        self._is_last = False

    async def following(self) -> MemoryRecord | None:
        if self._at == len(self._page) and not self._is_last:
            after = self._page[-1].sequence if self._page else None
            self._page, self._at = await self._archive.records(self._scope_key, PAGE, after=after), 0
            self._is_last = len(self._page) < PAGE
        if self._at == len(self._page):
            return None
        self._at += 1
        return self._page[self._at - 1]
