"""Searches of what is in memory, which the SQLite store answers without a thread."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path

import pytest

from memory.relevance import RelevanceRanker
from memory.store import Query, StoreUnavailableError, Vector
from memory.stores.searches import Search
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_connections import path_of
from memory.stores.sqlite_files import Lane, in_lane
from memory.stores.sqlite_finding import retrieve, retrieve_at_once
from memory.stores.sqlite_handles import Bounds
from memory.stores.sqlite_snapshot import data_version
from memory.stores.vectors import MOST_TABLES
from tests.fakes import until
from tests.memory_records import EPOCH, ORG, USER, StoppedClock, fact, found, sql, texts

ELSEWHERE = "channel:slack:C1"
LONG_S = 10.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """With one thread, and two records in memory."""
    opened = SqliteStore(tmp_path, ranker=RelevanceRanker(), now=StoppedClock().now, bounds=Bounds(threads=1))
    await opened.write(ORG, [fact("deploys need approval"), fact("lunch is at noon")])
    assert len(await found(opened, ORG, "deploys")) == 1
    yield opened
    await opened.aclose()


@asynccontextmanager
async def no_thread_left(store: SqliteStore) -> AsyncGenerator[None]:
    """Have the store's only thread wait for another scope's file."""
    async with store.handles.lease(ELSEWHERE) as file:
        with file.reads.thread:
            waiting = asyncio.ensure_future(store.list(ELSEWHERE, 8))
            await until(file.reads.turn.locked)
            yield
    assert await waiting == []


async def test_what_is_in_memory_is_found_without_a_thread(store: SqliteStore) -> None:
    async with no_thread_left(store):
        [only] = await found(store, ORG, "deploys")
        assert (only.text, only.use_count) == ("deploys need approval", 2)
    [only] = await store.list(ORG, 8, query="deploys")
    assert only.use_count == 2


async def test_what_is_in_memory_is_told_at_once_and_nothing_else_is(store: SqliteStore) -> None:
    """A scope nobody has asked for, and vectors, have to be waited for: no use is counted until then."""
    told = store.retrieve_at_once(ORG, Query("deploys", 8))
    assert told is not None
    assert [(hit.record.text, hit.record.use_count) for hit in told.hits] == [("deploys need approval", 2)]
    assert store.retrieve_at_once(USER, Query("deploys", 8)) is None
    assert store.retrieve_at_once(ORG, Query("deploys", 8, Vector("m", (1.0, 0.0)))) is None
    assert [each.use_count for each in await found(store, ORG, "deploys")] == [3]


async def test_what_another_process_changed_is_read_again(store: SqliteStore, tmp_path: Path) -> None:
    sql(path_of(tmp_path, ORG), "UPDATE records SET status = 'forgotten' WHERE seq = 0")
    assert await found(store, ORG, "deploys") == []


@pytest.mark.parametrize("scope_key", [ORG, USER])
async def test_what_is_not_in_memory_waits_for_a_thread(store: SqliteStore, scope_key: str) -> None:
    """A scope nobody has asked for, and vectors, whose comparison would hold up everybody else."""
    vector = Vector("m", (1.0, 0.0)) if scope_key == ORG else None
    async with no_thread_left(store):
        asking = asyncio.ensure_future(store.retrieve(scope_key, Query("deploys", 8, vector)))
        done, _ = await asyncio.wait([asking], timeout=0)
        assert not done
    assert len((await asking).hits) == (1 if scope_key == ORG else 0)


async def test_questions_that_name_model_after_model_fill_no_memory(store: SqliteStore) -> None:
    """A client may name any."""
    for number in range(3 * MOST_TABLES):
        await store.retrieve(ORG, Query("deploys", 8, Vector(f"test/{number}", (1.0, 0.0))))
        snapshot = store.handles.files[ORG].snapshot
        assert snapshot is not None
        assert len(snapshot.tables) <= MOST_TABLES


async def test_searches_wait_for_the_one_who_reads_and_lose_no_count(store: SqliteStore) -> None:
    file = store.handles.files[ORG]
    with file.reads.thread:
        asking = [asyncio.ensure_future(found(store, ORG, "lunch")) for _ in range(5)]
        done, _ = await asyncio.wait(asking, timeout=0)
        assert not done
    counts = [records[0].use_count for records in await asyncio.gather(*asking)]
    assert sorted(counts) == [1, 2, 3, 4, 5]


async def test_whoever_waited_for_the_lane_needs_no_thread_once_it_is_free(store: SqliteStore) -> None:
    """Else each would make the next one find it taken, and all of them would go on in threads for ever."""
    file, search = store.handles.files[ORG], Search(Query("lunch", 8), RelevanceRanker(), EPOCH)
    look, at_once = (partial(each, file, search) for each in (retrieve, retrieve_at_once))
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    async with file.reads.turn:
        waiting = asyncio.ensure_future(in_lane(closed, file, file.reads, look, at_once=at_once))
        done, _ = await asyncio.wait([waiting], timeout=0)
        assert not done
    retrieved = await waiting
    assert retrieved is not None
    assert texts([hit.record for hit in retrieved.hits]) == ["lunch is at noon"]


async def test_a_file_whose_log_is_carried_over_is_searched_meanwhile(store: SqliteStore) -> None:
    """Writing down what was used would be slow then, so it waits, and nobody waits for it."""
    file = store.handles.files[ORG]
    with file.writes.thread:
        settling = asyncio.get_running_loop().run_in_executor(None, file.settle)
        assert texts(await found(store, ORG, "lunch")) == ["lunch is at noon"]
        assert not settling.done()
    await settling
    assert not file.uses


async def test_a_closed_store_is_not_searched(store: SqliteStore) -> None:
    await store.aclose()
    with pytest.raises(StoreUnavailableError):
        await store.retrieve(ORG, Query("deploys", 8))


def test_a_file_that_is_held_by_another_is_not_waited_for(tmp_path: Path) -> None:
    """SQLite would wait as long as the connection is told to, on the loop; that is told anew afterwards."""
    path = tmp_path / "scope.db"
    sql(path, "CREATE TABLE records (seq)")
    with closing(sqlite3.connect(path, timeout=LONG_S)) as ours, closing(sqlite3.connect(path)) as theirs:
        lane = Lane(LONG_S, connection=ours)
        lane.be_patient(False)
        theirs.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            data_version(ours)
        theirs.execute("ROLLBACK")
        assert data_version(ours) > 0
        lane.be_patient(True)
        assert waiting_ms(ours) == LONG_S * 1_000


async def test_a_search_at_once_waits_for_nobody_and_one_in_a_thread_does_again(store: SqliteStore) -> None:
    lane = store.handles.files[ORG].reads
    for _ in range(2):
        await found(store, ORG, "deploys")
        assert waiting_ms(lane.connection) == 0
        assert len(await store.list(ORG, 8)) == 2
        assert waiting_ms(lane.connection) == lane.timeout_s * 1_000


def waiting_ms(connection: sqlite3.Connection | None) -> int:
    assert connection is not None
    return connection.execute("PRAGMA busy_timeout").fetchone()[0]
