"""The versions of the SQLite store's files: from every earlier one to the newest, with what is in it (section 15)."""

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from memory.record import MemoryRecord, Status, WriteCounts
from memory.store import Query, Stats, StoreUnavailableError, Vector
from memory.stores.sqlite_connections import path_of
from memory.stores.sqlite_rows import INSERT_ENTRY, INSERT_RECORD, entry_of, values_of
from memory.stores.sqlite_schema import MIGRATIONS
from tests.memory_records import EPOCH, ORG, Shelf, fact, found, kept, record, sql, texts


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-relevance", tmp_path / "memory")


@pytest.fixture
def path(shelf: Shelf) -> Path:
    return path_of(shelf.directory, ORG)


def make_version(path: Path, version: int, records: list[MemoryRecord]) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in chain.from_iterable(MIGRATIONS[:version]):
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('scope_key', '\"org:acme\"'), ('terms_version', '0')")
        connection.executemany(INSERT_RECORD, map(values_of, records))
        connection.executemany(INSERT_ENTRY, map(entry_of, records))
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
async def test_a_file_of_an_earlier_version_is_brought_forward_with_its_records(
    shelf: Shelf, path: Path, version: int
) -> None:
    """Criterion: Migration path over live data (section 15)."""
    old = replace(record(3, "deploys need approval"), author="Ada", confidence=0.5, use_count=4, last_used_at=EPOCH)
    make_version(path, version, [record(1, "lunch at noon"), old])
    async with asyncio.timeout(20), shelf.open() as one, shelf.open() as two:
        both = await asyncio.gather(kept(one), kept(two))
        assert both[0] == both[1]
        first, second = both[0]
        assert (first.text, replace(second, terms=frozenset())) == ("lunch at noon", old)
        assert await one.unembedded(ORG, "test/model", 1) == [second]
        assert await two.write(ORG, [fact("third")]) == WriteCounts(inserted=1)
        assert (await kept(one))[-1].id == "mem:org:acme:4"
    assert sql(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
async def test_a_file_of_an_earlier_version_can_do_what_a_new_one_can(shelf: Shelf, path: Path, version: int) -> None:
    make_version(path, version, [record(1, "lunch at noon"), record(2, "PR #12 is in review")])
    batch = [fact("Lunch at noon"), fact("third")]
    for _ in range(2):
        async with shelf.open() as store:
            assert await store.write(ORG, batch, idempotency_key="k") == WriteCounts(inserted=1, deduped=1)
            assert [each.use_count for each in await store.records(ORG, 10)] == [1, 0, 0]
    async with shelf.open() as store:
        assert list(await store.sweep(ORG)) == ["mem:org:acme:2"]
        assert await store.stats() == Stats(1, {Status.ACTIVE: 2, Status.SWEPT: 1})
        assert await store.restore(ORG, [record(9, "ninth")]) == 1
        assert sorted(texts(await found(store, ORG, "lunch third ninth review"))) == ["lunch at noon", "ninth", "third"]


async def test_vectors_of_an_earlier_version_are_kept(shelf: Shelf, path: Path) -> None:
    make_version(path, 2, [record(1, "lunch at noon"), record(2)])
    sql(path, "INSERT INTO vectors VALUES (1, 'test/model', 2, x'0000803f00000000')")
    async with shelf.open() as store:
        assert texts(await store.unembedded(ORG, "test/model", 8)) == ["deploys need approval"]
        hits = (await store.retrieve(ORG, Query("midday", 8, Vector("test/model", (1.0, 0.0))))).hits
        assert texts([hit.record for hit in hits]) == ["lunch at noon"]


async def test_every_migration_ends_where_the_next_begins(path: Path) -> None:
    make_version(path, 1, [])
    names = [{name for (name,) in sql(path, "SELECT name FROM sqlite_master")}]
    for number, statements in enumerate(MIGRATIONS[1:], start=2):
        for statement in statements:
            sql(path, statement)
        names.append({name for (name,) in sql(path, "SELECT name FROM sqlite_master")})
        assert names[-1] > names[-2], number


async def test_a_file_of_a_newer_version_is_left_alone(shelf: Shelf, path: Path) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("one")])
    sql(path, "PRAGMA user_version = 99")
    async with shelf.open() as store:
        with pytest.raises(StoreUnavailableError, match="newer version"):
            await store.write(ORG, [fact("two")])
        with pytest.raises(StoreUnavailableError, match="newer version"):
            await store.get(ORG, ["mem:org:acme:0"])
    assert sql(path, "SELECT count(*) FROM records") == [(1,)]
