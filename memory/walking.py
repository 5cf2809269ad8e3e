"""Through everything in a store: scope by scope, some at once, and through a scope's records in two stores in step."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol, TypeVar

from memory.record import MemoryRecord
from memory.store import MemoryArchive, StoreDamagedError, StoreFullError, StoreUnavailableError

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
    """Empty for a file that does not even tell whose it is."""
    reason: str


def unheeded(_reason: str) -> None:
    """Leaves a scope aside for a count or a look that comes before the walk, which tells it."""


async def each_scope(
    archive: MemoryArchive, work: Callable[[str], Awaitable[None]], pauses_s: Sequence[float] = PAUSES_S
) -> list[Trouble]:
    """Have ``work`` done for every scope, again after a pause where it failed; those it could not be done for.

    Of a scope that cannot even be named, the reason is all there is. Raises ``StoreUnavailableError`` when there is no
    room to write in, when the store cannot be asked for its scopes, and once ``work`` has failed for several in a row
    that are not damaged; what has begun is finished before.
    """
    walk = _ScopeWalk(archive, work, pauses_s)
    await asyncio.gather(*(walk.work_off() for _ in range(SIDE_BY_SIDE)))
    if walk.fatal is not None:
        raise walk.fatal
    return walk.troubles


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
    """The scopes of an archive, of which several workers take the next one each."""

    def __init__(
        self, archive: MemoryArchive, work: Callable[[str], Awaitable[None]], pauses_s: Sequence[float]
    ) -> None:
        self._archive = archive
        self._work = work
        self._pauses_s = pauses_s
        self._turn = asyncio.Lock()
        self._keys: Sequence[str] = ()
        self._at = 0
        self._failed_in_a_row = 0
        self.troubles: list[Trouble] = []
        self.fatal: StoreUnavailableError | None = None

    async def work_off(self) -> None:
        """Do one scope after the other until there is none left, or no use in going on."""
        try:
            while self.fatal is None and (key := await self._following()) is not None:
                await self._one(key)
        except StoreUnavailableError as exc:
            self.fatal = exc

    async def _following(self) -> str | None:
        async with self._turn:
            if self._at == len(self._keys):
                after = self._keys[-1] if self._keys else None
                named = partial(self._archive.scope_keys, KEYS, after=after, leave_aside=self._leave_aside)
                keys = await _patiently(named, self._pauses_s)
                if not keys:
                    return None
                self._keys, self._at = keys, 0
            self._at += 1
            return self._keys[self._at - 1]

    def _leave_aside(self, reason: str) -> None:
        trouble = Trouble("", reason)
        if trouble not in self.troubles:
            self.troubles.append(trouble)

    async def _one(self, key: str) -> None:
        """Raises ``StoreUnavailableError`` for what stands in the way of every scope."""
        try:
            await _patiently(partial(self._work, key), self._pauses_s)
        except StoreDamagedError as exc:
            self.troubles.append(Trouble(key, str(exc)))
        except StoreUnavailableError as exc:
            self.troubles.append(Trouble(key, str(exc)))
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= IN_A_ROW or isinstance(exc, StoreFullError):
                raise
        else:
            self._failed_in_a_row = 0


async def _patiently(work: Callable[[], Awaitable[Found]], pauses_s: Sequence[float]) -> Found:
    """``work``'s result, if need be after some pauses; a full disk stays full, and what is damaged stays so."""
    for pause_s in pauses_s:
        try:
            return await work()
        except (StoreDamagedError, StoreFullError):
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
