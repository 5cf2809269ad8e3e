"""Everything in a store as lines, scope by scope, and what such an answer goes without."""

from collections.abc import AsyncIterator, Sequence

import structlog
from pydantic_core import to_json

from memory.record import MemoryRecord
from memory.service.wire import MOST_EXPORTED, JsonObject, lines_of
from memory.store import LeaveAside, MemoryArchive, StoreDamagedError

SCOPE_LEFT_ASIDE = "memory_scope_left_aside"

_log = structlog.stdlib.get_logger(__name__)


class LeftAside:
    """The scopes that an answer goes without: counted in it, and named in the log."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        """A walk that goes on page by page may come by a scope twice."""

    def __call__(self, reason: str) -> None:
        if reason not in self._reasons:
            self._reasons.add(reason)
            _log.warning(SCOPE_LEFT_ASIDE, reason=reason)

    def told(self) -> JsonObject:
        return {"unreadable": len(self._reasons)} if self._reasons else {}


async def exported(archive: MemoryArchive, scope_key: str | None, after: int | None) -> AsyncIterator[bytes]:
    """The records of one scope behind a number, or of all. There is always a last line: whether that is everything."""
    count, aside = 0, LeftAside()
    pages = _everywhere(archive, aside) if scope_key is None else _pages(archive, scope_key, after)
    async for records in pages:
        yield lines_of(records)
        count += len(records)
    left = aside.told()
    yield to_json({"end": not left, "records": count, **left}) + b"\n"


async def with_first(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for each in rest:
        yield each


async def _everywhere(archive: MemoryArchive, aside: LeaveAside) -> AsyncIterator[Sequence[MemoryRecord]]:
    after: str | None = None
    while keys := await archive.scope_keys(MOST_EXPORTED, after=after, leave_aside=aside):
        for key in keys:
            try:
                async for records in _pages(archive, key, None):
                    yield records
            except StoreDamagedError as fault:
                aside(str(fault))
        after = keys[-1]


async def _pages(archive: MemoryArchive, scope_key: str, after: int | None) -> AsyncIterator[Sequence[MemoryRecord]]:
    while records := await archive.records(scope_key, MOST_EXPORTED, after=after):
        yield records
        after = records[-1].sequence
