"""Memory by itself: recall at a full scope, many scopes side by side, durable inserts."""

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil

from app.clock import SystemClock
from app.runtime import settle
from benchmarks.figures import Aim, ms, percentile, ratio
from benchmarks.tables import Table
from memory.composition import Budget
from memory.recall import Recall
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.scope import Scopes
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from memory.stores.sqlite import SqliteStore

RECALL_P99 = Aim(2.0, "ms", is_exclusive=True)
INSERTS = 1_000
"""Durable records a second, at least."""
SCOPE_RECORDS = 500
SMALL_SCOPE_RECORDS = 100
SAMPLED = 100
BATCH = 50
WORDS = 4_000

Make = Callable[[], MemoryStore]


@dataclass(frozen=True, slots=True)
class Size:
    scopes: tuple[int, ...]
    recalls: int


FULL = Size(scopes=(100, 1_000, 10_000), recalls=500)
QUICK = Size(scopes=(100, 1_000), recalls=200)


def run(size: Size) -> Iterator[Table]:
    settle()
    yield asyncio.run(_full_scope(size))
    yield asyncio.run(_many_scopes(size))


async def _full_scope(size: Size) -> Table:
    rows: list[Sequence[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in _stores(Path(folder)).items():
            async with _opened(make) as store:
                words = _words(Random(1))
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
    """Scopes beyond the sampled ones hold one record each: what must not matter is how many there are."""
    rows: list[Sequence[str]] = []
    first_ms = 0.0
    words = _words(Random(1))
    for scopes in size.scopes:
        with tempfile.TemporaryDirectory() as folder:
            make = _stores(Path(folder))["SQLite"]
            keys = [f"channel:c{number}" for number in range(scopes)]
            async with _opened(make) as store:
                for number, key in enumerate(keys):
                    records = SMALL_SCOPE_RECORDS if number < SAMPLED else 1
                    await _fill(store, key, records, words, Random(number))
            async with _opened(make) as store:
                times_s = await _recall_times(store, keys[:SAMPLED], words, SAMPLED)
                resident = f"{psutil.Process().memory_info().rss / 1e6:.0f} MB"
        p50_ms = percentile(times_s, 50) * 1000
        first_ms = first_ms or p50_ms
        p99 = ms(percentile(times_s, 99))
        rows.append((f"{scopes:,} scopes", f"{p50_ms:.1f} ms", p99, ratio(p50_ms, first_ms), resident))
    return Table(
        f"First recall from a scope of {SMALL_SCOPE_RECORDS} records, among many scopes",
        ("", "p50", "p99", "p50 ratio", "resident"),
        rows,
        (f"SQLite, one file per scope, opened anew; {SAMPLED} scopes recalled once each, the others hold one record",),
    )


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


def _words(random: Random) -> list[str]:
    """Made-up words; the first are used far more often than the last, as in speech."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(random.choices(letters, k=random.randint(4, 9))) for _ in range(WORDS)]


def _sentence(words: Sequence[str], random: Random, length: int) -> str:
    return " ".join(words[min(int(random.paretovariate(0.6)), len(words)) - 1] for _ in range(length))


async def _fill(store: MemoryStore, key: str, records: int, words: Sequence[str], random: Random) -> None:
    for start in range(0, records, BATCH):
        batch = [
            MemoryCandidate("fact", f"{_sentence(words, random, 14)} {random.random()}", f"slack:C1:{n}.0")
            for n in range(min(BATCH, records - start))
        ]
        await store.write(key, batch)


async def _recall_times(store: MemoryStore, keys: Sequence[str], words: Sequence[str], count: int) -> list[float]:
    """One recall of each of ``keys`` in turn, ``count`` in all."""
    random = Random(3)
    recall = Recall(store, RelevanceRanker(), Budget())
    times_s: list[float] = []
    for number in range(count):
        query = _sentence(words, random, 8)
        began_s = time.perf_counter()
        await recall.recall(f"session {number}", Scopes(keys[number % len(keys)]), query)
        times_s.append(time.perf_counter() - began_s)
    return times_s
