"""Memory by itself: recall at a full scope, many scopes side by side, durable inserts."""

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from app.clock import SystemClock
from benchmarks.figures import Aim, ms, percentile, ratio
from benchmarks.made_up_words import QUESTION_WORDS, RECORD_WORDS, made_up_words, sentence
from benchmarks.tables import Table
from memory.composition import Budget
from memory.recall import Recall
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.scope import Scopes
from memory.service.process import settle
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from memory.stores.sqlite import SqliteStore

RECALL_P99 = Aim(2.0, "ms", is_exclusive=True)
INSERTS = 1_000
"""Durable records a second, at least."""
SCOPE_RECORDS = 500
SMALL_SCOPE_RECORDS = 100
SAMPLED = 100
VISITS = 1_000
AT_ONCE = 16
"""Scopes that are filled side by side."""
SENTENCES = 20_000
BATCH = 50

Make = Callable[[], MemoryStore]


@dataclass(frozen=True, slots=True)
class Size:
    scopes: tuple[int, ...]
    recalls: int


FULL = Size(scopes=(100, 10_000), recalls=500)
QUICK = Size(scopes=(100, 200), recalls=200)


@dataclass(frozen=True, slots=True)
class _Visit:
    p50_ms: float
    p99_ms: float
    resident_mb: float


def run(size: Size) -> Iterator[Table]:
    settle()
    yield asyncio.run(_full_scope(size))
    yield asyncio.run(_many_scopes(size))


async def _full_scope(size: Size) -> Table:
    rows: list[Sequence[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in _stores(Path(folder)).items():
            async with _opened(make) as store:
                words = made_up_words(Random(1))
                began_s = time.monotonic()
                await _fill(store, "org:acme", SCOPE_RECORDS, words, Random(2))
                rate = SCOPE_RECORDS / (time.monotonic() - began_s)
                times_s = await _recall_times(store, ["org:acme"], words, size.recalls)
            p99_ms = percentile(times_s, 99) * 1000
            inserts = f"{rate:,.0f} {'met' if rate >= INSERTS else 'MISSED'} (aim >= {INSERTS:,})"
            rows.append((name, ms(percentile(times_s, 50)), f"{p99_ms:.2f} ms", RECALL_P99.verdict(p99_ms), inserts))
    return Table(
        f"Recall from a full scope of {SCOPE_RECORDS} records",
        ("", "p50", "p99", "", "inserts/s"),
        rows,
        (f"{size.recalls} recalls of one scope, relevance ranker, no embeddings; inserts in batches of {BATCH}",),
    )


async def _many_scopes(size: Size) -> Table:
    """Every scope is full to the same measure; each number of them is recalled from in a process of its own."""
    rows: list[Sequence[str]] = []
    first: _Visit | None = None
    random = Random(1)
    words = made_up_words(random)
    sentences = [sentence(words, random, RECORD_WORDS) for _ in range(SENTENCES)]
    for scopes in size.scopes:
        with tempfile.TemporaryDirectory() as folder:
            async with _opened(_stores(Path(folder))["SQLite"]) as store:
                await _fill_scopes(store, scopes, sentences)
            visit = await _visited(Path(folder), scopes, words)
        first = first or visit
        rows.append(
            (
                f"{scopes:,} scopes",
                f"{visit.p50_ms:.1f} ms",
                f"{visit.p99_ms:.1f} ms",
                ratio(visit.p50_ms, first.p50_ms),
                f"{visit.resident_mb:.0f} MB",
                ratio(visit.resident_mb, first.resident_mb),
            )
        )
    return Table(
        f"First recall from a scope of {SMALL_SCOPE_RECORDS} records, among many such scopes",
        ("", "p50", "p99", "p50 ratio", "resident", "ratio"),
        rows,
        (f"SQLite, one file per scope, a new process; {SAMPLED} first recalls timed, memory after {VISITS:,} more",),
    )


async def _fill_scopes(store: MemoryStore, scopes: int, sentences: Sequence[str]) -> None:
    random = Random(2)
    for start in range(0, scopes, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, scopes))
        batches = [
            [
                MemoryCandidate("fact", f"{random.choice(sentences)} {number} {each}", f"slack:C{number}:{each}.0")
                for each in range(SMALL_SCOPE_RECORDS)
            ]
            for number in numbers
        ]
        await asyncio.gather(
            *(store.write(_channel(number), batch) for number, batch in zip(numbers, batches, strict=True))
        )


async def _visited(folder: Path, scopes: int, words: Sequence[str]) -> "_Visit":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        return await asyncio.get_running_loop().run_in_executor(processes, _visit, folder, scopes, words)


def _visit(folder: Path, scopes: int, words: Sequence[str]) -> "_Visit":
    """What recalling costs a process that has just started."""
    settle()
    return asyncio.run(_visit_all(folder, scopes, words))


async def _visit_all(folder: Path, scopes: int, words: Sequence[str]) -> "_Visit":
    order = Random(3).sample(range(scopes), scopes)
    async with _opened(_stores(folder)["SQLite"]) as store:
        times_s = await _recall_times(store, [_channel(each) for each in order[:SAMPLED]], words, SAMPLED)
        await _recall_times(store, [_channel(each) for each in order[:VISITS]], words, VISITS)
        resident_mb = psutil.Process().memory_info().rss / 1e6
    return _Visit(percentile(times_s, 50) * 1000, percentile(times_s, 99) * 1000, resident_mb)


def _channel(number: int) -> str:
    return f"channel:c{number}"


def _stores(folder: Path) -> dict[str, Make]:
    now = SystemClock().now
    return {
        "in process": lambda: InProcessStore(ranker=RelevanceRanker(), now=now),
        "SQLite": lambda: SqliteStore(folder, ranker=RelevanceRanker(), now=now),
    }


@asynccontextmanager
async def _opened(make: Make) -> AsyncGenerator[MemoryStore]:
    store = make()
    try:
        yield store
    finally:
        await store.aclose()


async def _fill(store: MemoryStore, key: str, records: int, words: Sequence[str], random: Random) -> None:
    for start in range(0, records, BATCH):
        batch = [
            MemoryCandidate("fact", f"{sentence(words, random, RECORD_WORDS)} {random.random()}", f"slack:C1:{n}.0")
            for n in range(min(BATCH, records - start))
        ]
        await store.write(key, batch)


async def _recall_times(store: MemoryStore, keys: Sequence[str], words: Sequence[str], count: int) -> list[float]:
    """One recall of each of ``keys`` in turn, ``count`` in all."""
    random = Random(3)
    recall = Recall(store, RelevanceRanker(), Budget())
    times_s: list[float] = []
    for number in range(count):
        query = sentence(words, random, QUESTION_WORDS)
        began_s = time.perf_counter()
        await recall.recall(f"session {number}", Scopes(keys[number % len(keys)]), query)
        times_s.append(time.perf_counter() - began_s)
    return times_s
