"""Archives that fail, or tell what they were asked, for the tests of moving house."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memory.comparison import told
from memory.record import MemoryRecord
from memory.store import LeaveAside, MemoryArchive, Stats, StoreUnavailableError
from memory.walking import Step
from tests.memory_records import Shelf, VectorStore


@dataclass(slots=True)
class Watched:
    """Who is told how far it is, and remembers."""

    begun: list[tuple[Step, int]] = field(default_factory=list[tuple[Step, int]])
    done: int = 0

    def begin(self, step: Step, total: int) -> None:
        self.begun.append((step, total))

    def advance(self, done: int) -> None:
        self.done += done


@dataclass(slots=True)
class Wary:
    """Over an archive: tells what was written, and may refuse a read or a write of a scope before it is done."""

    inner: MemoryArchive
    refuses_read: Callable[[str], Exception | None] = lambda _: None
    refuses_write: Callable[[str], Exception | None] = lambda _: None
    written: list[list[MemoryRecord]] = field(default_factory=list[list[MemoryRecord]])
    largest_page: int = 0

    async def scope_keys(
        self, limit: int, *, after: str | None = None, leave_aside: LeaveAside | None = None
    ) -> Sequence[str]:
        return await self.inner.scope_keys(limit, after=after, leave_aside=leave_aside)

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        fault = self.refuses_read(scope_key)
        if fault is not None:
            raise fault
        self.largest_page = max(self.largest_page, limit)
        return await self.inner.records(scope_key, limit, after=after)

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        fault = self.refuses_write(scope_key)
        if fault is not None:
            raise fault
        changed = await self.inner.restore(scope_key, records)
        self.written.append(list(records))
        return changed

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:
        return await self.inner.stats(scope_key, leave_aside=leave_aside)


@dataclass(slots=True)
class Failing:
    """Lets some calls through, then refuses some, then lets every one through again."""

    good: int
    bad: int = 1_000_000
    fault: Callable[[], Exception] = lambda: StoreUnavailableError("the server has gone")

    def __call__(self, _scope_key: str) -> Exception | None:
        if self.good:
            self.good -= 1
            return None
        if self.bad:
            self.bad -= 1
            return self.fault()
        return None


@asynccontextmanager
async def two_stores(folder: Path, source: str, target: str) -> AsyncGenerator[tuple[VectorStore, VectorStore]]:
    """Of the kinds of ``tests.memory_records.SHELVES``."""
    async with Shelf(source, folder / "source").open() as one, Shelf(target, folder / "target").open() as other:
        yield one, other


async def everything(archive: MemoryArchive) -> dict[str, str]:
    """Every record as it has to be the same elsewhere, by its id."""
    found: dict[str, str] = {}
    for key in await archive.scope_keys(100_000):
        found |= {each.id: told(each) for each in await archive.records(key, 100_000)}
    return found
