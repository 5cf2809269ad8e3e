"""What the tests of the memory stores share: candidates, a clock, and one way to open every store."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, cast

from memory.ranker import KeywordRanker, Ranker
from memory.record import Kind, MemoryCandidate, MemoryRecord
from memory.relevance import RelevanceRanker
from memory.store import MemoryArchive, MemoryStore, Query, RankerName, Retrieved, VectorKeeper
from memory.stores.inprocess import InProcessStore
from memory.stores.postgres import open_postgres
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_handles import Bounds
from tests.memory_databases import MEMORY_DATABASES
from tests.served_stores import served

EPOCH = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ORG = "org:acme"
USER = "user:slack:U1"
THREAD = "slack:C1:1.0"
RANKERS: dict[str, Ranker] = {"keyword": KeywordRanker(), "relevance": RelevanceRanker()}
SERVERLESS_SHELVES = [f"{kind}-{ranker}" for kind in ("inprocess", "sqlite") for ranker in RANKERS]
BEHIND = {"remote": "sqlite", "remotepg": "postgres"}
"""What the service of a remote store keeps its records in."""
REMOTE_SHELVES = ["remote-relevance", "remotepg-relevance"]
LOCAL_SHELVES = [*SERVERLESS_SHELVES, "postgres-relevance"]
"""Where a candidate of this process reaches the store as the object it is."""
SHELVES = [*LOCAL_SHELVES, *REMOTE_SHELVES]


class VectorStore(MemoryStore, VectorKeeper, MemoryArchive, Protocol):
    """What both stores of this process are: they keep vectors, and everything in them can be taken out."""


class StoppedClock:
    """Time that moves only when a test says so."""

    def __init__(self) -> None:
        self.at = EPOCH

    def now(self) -> datetime:
        return self.at

    def pass_by(self, span: timedelta = timedelta(days=1)) -> datetime:
        self.at += span
        return self.at


@dataclass(slots=True)
class Shelf:
    """A place to open a store at, again and again."""

    kind: str
    directory: Path
    clock: StoppedClock = field(default_factory=StoppedClock)

    @asynccontextmanager
    async def open(self, *, cap: int | None = None, bounds: Bounds | None = None) -> AsyncGenerator[VectorStore]:
        kind, ranker = self.kind.split("-")
        store = await self._opened(BEHIND.get(kind, kind), RANKERS[ranker], cap, bounds)
        try:
            if kind in BEHIND:
                name = cast("RankerName", ranker)
                async with served(store, ranker=name, now=self.clock.now, cap=cap) as remote:
                    yield remote
            else:
                yield store
        finally:
            await store.aclose()

    async def _opened(self, kind: str, ranker: Ranker, cap: int | None, bounds: Bounds | None) -> VectorStore:
        if kind == "inprocess":
            return InProcessStore(ranker=ranker, now=self.clock.now, cap=cap)
        if kind == "postgres":
            url = await asyncio.to_thread(MEMORY_DATABASES.at, self.directory)
            return await open_postgres(url, ranker=ranker, now=self.clock.now, cap=cap)
        limits = bounds or Bounds(timeout_s=2.0)
        return SqliteStore(self.directory, ranker=ranker, now=self.clock.now, cap=cap, bounds=limits)


class BreakingName(str):
    """An author whose name cannot be taken down: fails in the middle of a batch, in every store."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        raise LookupError(f"{encoding} {errors}")


def fact(text: str, thread: str = THREAD) -> MemoryCandidate:
    """A candidate; ``dataclasses.replace`` gives it more."""
    return MemoryCandidate("fact", text, thread)


def record(sequence: int, text: str = "deploys need approval", kind: Kind = "fact") -> MemoryRecord:
    return MemoryRecord(f"mem:{ORG}:{sequence}", ORG, kind, text, (), THREAD, EPOCH)


def texts(records: Sequence[MemoryRecord]) -> list[str]:
    return [each.text for each in records]


async def found(store: MemoryStore, scope_key: str, query: str, limit: int = 50) -> list[MemoryRecord]:
    """The records a search returns; a test of degradation asks the store itself."""
    retrieved = await store.retrieve(scope_key, Query(query, limit))
    assert not retrieved.is_degraded
    return [hit.record for hit in retrieved.hits]


async def searched(store: MemoryStore, scope_key: str, query: Query) -> Retrieved:
    """As a turn asks: at once, where that can be."""
    at_hand = store.retrieve_at_once(scope_key, query)
    return await store.retrieve(scope_key, query) if at_hand is None else at_hand


async def standing(store: MemoryStore, scope_key: str, limit: int) -> Sequence[MemoryRecord]:
    """The standing records alone, as they come along with a search for nothing."""
    return (await store.retrieve(scope_key, Query("", 0, standing=limit))).standing


async def kept(store: MemoryStore, scope_key: str = ORG) -> list[MemoryRecord]:
    """Every active record, oldest first, without counting a use."""
    return list(reversed(await store.list(scope_key, 100_000)))


def files_under(directory: Path, root: Path | None = None) -> dict[str, bytes]:
    """The bytes of every file below ``directory``, by its path below ``root``."""
    return {
        path.relative_to(root or directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def sql(path: Path, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
    """What another process would see or do in a store's file; the change is committed."""
    with closing(sqlite3.connect(path, timeout=5)) as connection, connection:
        return connection.execute(statement, values).fetchall()
