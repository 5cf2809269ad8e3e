"""The SQLite store with many records in a scope and with many scopes (specification, section 17)."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memory.pool import MATCH_TOKENS
from memory.ranker import NO_SIMILARITY, KeywordRanker
from memory.record import MemoryRecord
from memory.store import Hit, Query, Vector
from memory.stores.searches import WHOLE_POOL
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_connections import path_of
from memory.stores.sqlite_handles import Bounds
from tests.memory_records import ORG, RANKERS, USER, Shelf, fact, found, kept, sql, texts

MANY = WHOLE_POOL + 100


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-keyword", tmp_path / "memory")


def opened(shelf: Shelf, ranker: str = "keyword", bounds: Bounds | None = None) -> SqliteStore:
    return SqliteStore(
        shelf.directory, ranker=RANKERS[ranker], now=shelf.clock.now, cap=None, bounds=bounds or Bounds()
    )


@pytest.fixture(params=RANKERS, scope="module")
def ranker(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def filled(ranker: str, tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Filling a large scope takes longer than any test of it, so all of them begin with a copy."""
    shelf = Shelf("sqlite-keyword", tmp_path_factory.mktemp(ranker) / "memory")
    asyncio.run(fill(shelf, ranker))
    return shelf


async def fill(shelf: Shelf, ranker: str) -> None:
    """One telling old record, and many that share a weak word with the question."""
    store = opened(shelf, ranker)
    await store.write(ORG, [fact("kubernetes rollback runbook")])
    shelf.clock.pass_by()
    await store.write(ORG, [replace(fact(f"cluster note {number}"), keywords=()) for number in range(MANY)])
    await store.aclose()


@pytest.fixture
async def large(ranker: str, filled: Shelf, shelf: Shelf) -> AsyncGenerator[SqliteStore]:
    """A scope too large to rank whole."""
    shutil.copytree(filled.directory, shelf.directory)
    shelf.clock.at = filled.clock.at
    store = opened(shelf, ranker)
    yield store
    await store.aclose()


async def test_an_old_record_that_matches_best_is_found_among_thousands(large: SqliteStore) -> None:
    """Criterion: bm25 candidate ordering rescues a relevant-but-old record."""
    hits = await found(large, ORG, "kubernetes rollback runbook cluster", 5)
    assert hits[0].text == "kubernetes rollback runbook"
    assert len(hits) == 5


async def test_a_large_scope_counts_its_uses_too(large: SqliteStore) -> None:
    for uses in range(1, 4):
        [only] = await found(large, ORG, "kubernetes")
        assert only.use_count == uses


async def test_retired_records_of_a_large_scope_are_not_found(large: SqliteStore) -> None:
    await large.forget(ORG, "mem:org:acme:0")
    assert await found(large, ORG, "kubernetes") == []
    assert len(await large.list(ORG, 10, query="cluster")) == 10


async def test_a_question_in_another_form_finds_its_record_in_a_large_scope(large: SqliteStore, ranker: str) -> None:
    """The index has the relevance ranker's terms as well as the reference's tokens."""
    await large.write(ORG, [fact("Ümläute are fine, deploying too")])
    expected = "umlaute deployed" if ranker == "relevance" else "deploying"
    assert texts(await found(large, ORG, expected, 1)) == ["Ümläute are fine, deploying too"]


async def test_the_closest_vectors_of_a_large_scope_are_candidates(large: SqliteStore, ranker: str) -> None:
    await large.write(ORG, [fact("nothing in common"), fact("nothing else")])
    await large.keep_vectors(ORG, "test/model", {f"mem:org:acme:{MANY + 1}": (1.0, 0.0)})
    await large.keep_vectors(ORG, "test/model", {f"mem:org:acme:{MANY + 2}": (0.0, 1.0)})
    query = Query("kubernetes", 5, Vector("test/model", (1.0, 0.0)))
    names = texts([hit.record for hit in (await large.retrieve(ORG, query)).hits])
    assert "kubernetes rollback runbook" in names
    assert ("nothing in common" in names) == (ranker == "relevance")
    assert "nothing else" not in names


@pytest.mark.parametrize("fillers", [10, MANY], ids=["ranked_whole", "chosen_by_the_index"])
async def test_only_the_longest_tokens_choose_candidates_and_all_count_for_the_score(
    shelf: Shelf, fillers: int
) -> None:
    """Criterion: the FTS MATCH is capped at the 24 longest distinct tokens (trap 31)."""
    store = opened(shelf)
    kept_words = [f"longertoken{number:02}" for number in range(MATCH_TOKENS)]
    await store.write(ORG, [fact("ox"), fact(kept_words[5]), fact(f"{kept_words[6]} ox")])
    await store.write(ORG, [fact(f"filler number {number}") for number in range(fillers)])
    query = " ".join(["ox", *kept_words])
    hits = (await store.retrieve(ORG, Query(query, 5))).hits
    assert texts([hit.record for hit in hits]) == [f"{kept_words[6]} ox", kept_words[5]]
    assert hits[0].score == pytest.approx(0.7 * 2 / 25 + 0.3)
    assert texts(await found(store, ORG, " ".join(["ox", *kept_words[1:]]), 1)) == [f"{kept_words[6]} ox"]
    assert "ox" in texts(await found(store, ORG, " ".join(["ox", *kept_words[1:]])))
    await store.aclose()


class PoolSizes(KeywordRanker):
    """The reference, which notes how many records it was given."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def rank(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        now: datetime,
        similarity: Mapping[str, float] = NO_SIMILARITY,
        limit: int | None = None,
    ) -> list[Hit]:
        self.seen.append(len(records))
        return super().rank(records, query, now, similarity, limit)


async def test_a_large_scope_hands_five_candidates_for_each_hit_to_the_ranker(shelf: Shelf) -> None:
    """Criterion: Worker retrieve capped at max(50, 5 times limit) (trap 32)."""
    ranker = PoolSizes()
    store = SqliteStore(shelf.directory, ranker=ranker, now=shelf.clock.now, cap=None)
    await store.write(ORG, [fact(f"cluster note {number}") for number in range(WHOLE_POOL)])
    await found(store, ORG, "cluster", 1)
    await store.write(ORG, [fact("one too many")])
    for limit in (1, 10, 11, 50):
        await found(store, ORG, "cluster", limit)
    assert ranker.seen == [WHOLE_POOL, 50, 50, 55, 250]
    await store.aclose()


async def test_every_match_of_a_small_scope_is_ranked(shelf: Shelf) -> None:
    """Criterion: the 50-candidate floor hands the engine every match in a small scope."""
    store = opened(shelf)
    await store.write(ORG, [fact(f"deploy {number}") for number in range(300)])
    assert len(await found(store, ORG, "deploy", 300)) == 300
    await store.aclose()


async def test_one_statement_counts_fifty_uses(shelf: Shelf) -> None:
    """Criterion: the usage bump is one batched UPDATE and works at MAX_LIMIT."""
    store = opened(shelf)
    await store.write(ORG, [fact(f"deploy {number}") for number in range(60)])
    await found(store, ORG, "deploy")
    statements: list[str] = []
    async with store.handles.lease(ORG) as file:
        connection = file.reads.connection
        assert connection is not None
        connection.set_trace_callback(statements.append)
    assert len(await found(store, ORG, "deploy", 50)) == 50
    assert await store.forget(ORG, "mem:org:acme:99") is False, "a change waits for the count"
    assert sum(each.startswith("UPDATE") for each in statements) == 1
    assert not any("SELECT *" in each for each in statements), "what is known is not read again"
    assert sum(each.use_count for each in await kept(store)) == 100
    await store.aclose()


async def test_uses_of_many_searches_are_written_together_and_by_themselves(shelf: Shelf) -> None:
    """No search waits for a write; what other processes see is late by a moment."""
    path = path_of(shelf.directory, ORG)
    store = opened(shelf)
    await store.write(ORG, [fact("deploy one"), fact("deploy two")])
    for uses in range(1, 21):
        assert [each.use_count for each in await found(store, ORG, "deploy", 1)] == [uses]
        shelf.clock.pass_by()
    assert [each.use_count for each in await kept(store)] == [20, 0], "every read sees them"
    async with asyncio.timeout(10):
        while counts_in(path) != [20, 0]:
            await asyncio.sleep(0.02)
    assert [each.use_count for each in await kept(store)] == [20, 0]
    assert [each.last_used_at for each in await kept(store)] == [shelf.clock.at - timedelta(days=1), None]
    await found(store, ORG, "deploy", 1)
    await store.aclose()
    assert counts_in(path) == [21, 0]


def counts_in(path: Path) -> list[int]:
    return [count for (count,) in sql(path, "SELECT use_count FROM records ORDER BY seq")]


async def test_uses_are_kept_when_another_process_makes_records_be_read_again(shelf: Shelf) -> None:
    store = opened(shelf)
    await store.write(ORG, [fact("deploy one"), fact("deploy two")])
    await found(store, ORG, "one")
    sql(path_of(shelf.directory, ORG), "UPDATE records SET use_count = 5 WHERE seq = 0")
    assert [each.use_count for each in await found(store, ORG, "deploy")] == [7, 1]
    assert [each.use_count for each in await kept(store)] == [7, 1]
    await store.aclose()
    assert counts_in(path_of(shelf.directory, ORG)) == [7, 1]


async def test_uses_outlive_the_records_in_memory_and_the_open_file(shelf: Shelf) -> None:
    store = opened(shelf, bounds=Bounds(handles=1, records=0))
    await store.write(ORG, [fact("deploy")])
    await found(store, ORG, "deploy")
    assert [each.use_count for each in await found(store, ORG, "deploy")] == [2]
    await store.write(USER, [fact("mine")])
    assert counts_in(path_of(shelf.directory, ORG)) == [2]
    assert [each.use_count for each in await found(store, ORG, "deploy")] == [3]
    await store.aclose()


async def test_writing_looks_up_only_what_it_needs(shelf: Shelf) -> None:
    """Criterion: Write feeds planWrite targeted lookups, never the full-active scan under the cap (section 18)."""
    store = opened(shelf)
    await store.write(ORG, [fact(f"deploy {number}") for number in range(60)])
    statements: list[str] = []
    async with store.handles.lease(ORG) as file:
        connection = file.writes.connection
        assert connection is not None
        connection.set_trace_callback(statements.append)
    await store.write(ORG, [fact("deploy 7"), replace(fact("new"), supersedes="mem:org:acme:2")])
    reads = [each for each in statements if each.startswith("SELECT *")]
    assert reads
    assert all("WHERE seq =" in each for each in reads)
    await store.aclose()


async def test_open_files_are_bounded_and_nothing_is_lost(shelf: Shelf) -> None:
    store = opened(shelf, bounds=Bounds(handles=4, records=30, threads=3))
    scopes = [f"user:slack:U{number}" for number in range(25)]
    async with asyncio.timeout(40), asyncio.TaskGroup() as group:
        for key in scopes * 3:
            group.create_task(store.write(key, [fact(f"mine is {key}"), fact("deploy")]))
            group.create_task(found(store, key, "deploy"))
    assert len(store.handles.files) <= 4
    for key in scopes:
        records = await kept(store, key)
        assert texts(records) == [f"mine is {key}", "deploy"]
        assert records[0].use_count == 2
        assert len(store.handles.files) <= 4
    await store.aclose()
    assert sql(path_of(shelf.directory, scopes[0]), "SELECT count(*) FROM records") == [(2,)]


async def test_files_are_closed_before_their_places_are_needed(shelf: Shelf) -> None:
    """A search of one more scope does not wait until another one's uses are written and synced."""
    store = opened(shelf, bounds=Bounds(handles=16))
    scopes = [f"user:slack:U{number}" for number in range(16)]
    for key in scopes:
        await store.write(key, [fact("deploy")])
        await found(store, key, "deploy")
    async with asyncio.timeout(10):
        while len(store.handles.files) > 14:
            await asyncio.sleep(0.01)
    closed = [key for key in scopes if key not in store.handles.files]
    assert closed == scopes[: len(closed)], "those used longest ago"
    assert [counts_in(path_of(shelf.directory, key)) for key in closed] == [[1]] * len(closed)
    for key in scopes * 3:
        await found(store, key, "deploy")
        assert len(store.handles.files) <= 16
    await store.aclose()
    assert [counts_in(path_of(shelf.directory, key)) for key in scopes] == [[4]] * 16


async def test_records_in_memory_are_bounded_over_all_scopes(shelf: Shelf) -> None:
    store = opened(shelf, bounds=Bounds(handles=8, records=25))
    for number in range(6):
        await store.write(f"user:slack:U{number}", [fact(f"deploy {each}") for each in range(10)])
    sizes: list[int] = []
    for number in range(6):
        await found(store, f"user:slack:U{number}", "deploy", 1)
        sizes = [len(file.snapshot.pool) for file in store.handles.files.values() if file.snapshot]
        assert sum(sizes) <= 25
    assert sizes == [10, 10]
    await store.aclose()


async def test_a_long_log_is_carried_over_beside_the_calls(shelf: Shelf) -> None:
    store = opened(shelf)
    await store.write(ORG, [fact(f"deploy {number} " + "x" * 500) for number in range(50)])
    size = file_size(path_of(shelf.directory, ORG))
    for _ in range(20):
        await store.write(ORG, [fact("deploy 1")])
    async with asyncio.timeout(10):
        while file_size(path_of(shelf.directory, ORG)) <= size:
            await asyncio.sleep(0.01)
    await store.aclose()
    assert file_size(path_of(shelf.directory, ORG)) > 50 * 500


def file_size(path: Path) -> int:
    return path.stat().st_size


async def test_a_cancelled_call_leaves_the_file_in_order(shelf: Shelf) -> None:
    store = opened(shelf)
    await store.write(ORG, [fact("deploy")])
    async with asyncio.timeout(30):
        for number in range(30):
            batch = [fact(f"deploy {number} {each}") for each in range(20)]
            tasks: list[asyncio.Task[object]] = [
                asyncio.create_task(store.write(ORG, batch)),
                asyncio.create_task(found(store, ORG, "deploy")),
            ]
            await asyncio.sleep(0.0005 * (number % 5))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    records = await kept(store)
    assert (len(records) - 1) % 20 == 0
    assert await store.write(ORG, [fact("after")]) is not None
    await store.aclose()
    assert sql(path_of(shelf.directory, ORG), "PRAGMA integrity_check") == [("ok",)]
