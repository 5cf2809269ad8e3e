"""The files of the SQLite store: how they mend themselves, and who else may use them."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from memory.record import WriteCounts
from memory.store import EraseReceipt, Query, Stats, StoreUnavailableError
from memory.stores.sqlite_connections import path_of
from memory.text import TERMS_VERSION
from tests.memory_records import ORG, THREAD, Shelf, VectorStore, fact, found, kept, sql, texts


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-relevance", tmp_path / "memory")


@pytest.fixture
def path(shelf: Shelf) -> Path:
    return path_of(shelf.directory, ORG)


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[VectorStore]:
    async with shelf.open() as opened:
        yield opened


def entries(path: Path) -> list[int]:
    """Sequence numbers the full-text index has."""
    return [number for (number,) in sql(path, "SELECT rowid FROM records_fts ORDER BY rowid")]


async def test_the_indexes_a_scope_is_read_by_are_there(store: VectorStore, path: Path) -> None:
    """Criterion: records_active_seq and records_active_used exist after construction (section 15)."""
    await store.write(ORG, [fact("one")])
    names = {name for (name,) in sql(path, "SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {"records_status_norm", "records_active_seq", "records_active_used"} <= names
    [plan] = sql(path, "EXPLAIN QUERY PLAN SELECT min(seq) FROM records WHERE status = 'active' AND norm = x'00'")
    assert "records_status_norm" in plan[-1]


async def test_another_scopes_file_is_not_read(shelf: Shelf) -> None:
    """Section 15: one database per scope, wherever a file has been moved to."""
    async with shelf.open() as store:
        await store.write("user:slack:U1", [fact("private")])
    mine, theirs = path_of(shelf.directory, "user:slack:U1"), path_of(shelf.directory, "user:slack:U2")
    move(mine, theirs)
    async with shelf.open() as store:
        assert (await store.retrieve("user:slack:U2", Query("private", 8))).is_degraded
        with pytest.raises(StoreUnavailableError, match="another scope"):
            await store.get("user:slack:U2", ["mem:user:slack:U2:0"])
        with pytest.raises(StoreUnavailableError, match="another scope"):
            await store.list("user:slack:U2", 8)


def move(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    source.rename(target)


async def test_the_index_has_exactly_the_active_records(shelf: Shelf, path: Path) -> None:
    """Criterion: forget, supersede, and evict each delete the row's records_fts entry (section 15)."""
    async with shelf.open(cap=3) as store:
        await store.write(ORG, [fact("one"), fact("two"), fact("three")])
        await store.forget(ORG, "mem:org:acme:0")
        assert entries(path) == [1, 2]
        await store.write(ORG, [replace(fact("2"), supersedes="mem:org:acme:1")])
        assert entries(path) == [2, 3]
        await store.write(ORG, [fact("five"), fact("six")])
        assert len(entries(path)) == 3
        assert sql(path, "SELECT status, count(*) FROM records GROUP BY status ORDER BY status") == [
            ("active", 3),
            ("evicted", 1),
            ("forgotten", 1),
            ("superseded", 1),
        ]


@pytest.mark.parametrize(
    "harm",
    [
        "INSERT INTO records_fts (rowid, words, terms) VALUES (77, 'x', 'x')",
        "INSERT INTO records_fts (rowid, words, terms) VALUES (1, 'x', 'x')",
        "DELETE FROM records_fts WHERE rowid = 0",
        "UPDATE records SET status = 'forgotten' WHERE seq = 0",
        "DELETE FROM records_fts",
        "DROP TABLE records_fts",
    ],
)
async def test_an_index_that_does_not_fit_is_mended_at_the_next_opening(shelf: Shelf, path: Path, harm: str) -> None:
    """Criterion: Constructor reconciliation deletes FTS rows for non-active or missing records (section 15)."""
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploy one"), fact("deploy two"), fact("deploy three")])
        await store.forget(ORG, "mem:org:acme:1")
    sql(path, harm)
    async with shelf.open() as store:
        active = [each.sequence for each in await found(store, ORG, "deploy")]
        assert active == [each.sequence for each in await kept(store)]
        assert entries(path) == active


async def test_terms_of_an_earlier_version_are_computed_again(shelf: Shelf, path: Path) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [replace(fact("deploys need approval"), author="Ada Lovelace")])
        [before] = await kept(store)
    sql(path, "UPDATE records SET terms = 'stale'")
    sql(path, "UPDATE meta SET value = '0' WHERE key = 'terms_version'")
    async with shelf.open() as store:
        assert texts(await found(store, ORG, "lovelace")) == ["deploys need approval"]
        assert await found(store, ORG, "stale") == []
        [after] = await kept(store)
        assert after.terms == before.terms
    assert sql(path, "SELECT value FROM meta WHERE key = 'terms_version'") == [(str(TERMS_VERSION),)]


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE records SET keywords = '{'",
        "UPDATE records SET keywords = '12'",
        "UPDATE records SET keywords = x'00ff'",
        "UPDATE records SET created_at = 'noon'",
        "UPDATE records SET created_at = 9223372036854775807",
        "UPDATE records SET terms = x'00ff'",
        "UPDATE records SET text = x'ff00'",
        "UPDATE records SET author = x'ff00'",
        "UPDATE records SET source_thread_key = x'ff00'",
        "UPDATE records SET kind = 'rumour'",
    ],
)
async def test_a_row_nobody_here_wrote_is_trouble_and_no_crash(shelf: Shelf, path: Path, harm: str) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploy one")])
        sql(path, harm)
        with pytest.raises(StoreUnavailableError, match="does not read as a record"):
            await store.list(ORG, 8)
        assert (await store.retrieve(ORG, Query("deploy", 8))).is_degraded
        assert await store.erase(ORG, "mem:org:acme:0") == EraseReceipt(1, 1)
        assert await store.write(ORG, [fact("deploy two")]) == WriteCounts(inserted=1)


async def test_the_file_itself_refuses_to_say_the_same_twice(store: VectorStore, path: Path) -> None:
    """Memory systems, A3 7: no two plain active records of one text, whoever writes; a correction may repeat one."""
    await store.write(ORG, [fact("use yarn"), replace(fact("use yarn"), supersedes="mem:org:acme:8")])
    with pytest.raises(sqlite3.IntegrityError):
        sql(path, "UPDATE records SET supersedes = NULL")


async def test_another_process_sees_and_is_seen(shelf: Shelf) -> None:
    async with shelf.open() as ours, shelf.open() as theirs:
        await ours.write(ORG, [fact("deploy one")])
        assert texts(await found(theirs, ORG, "deploy")) == ["deploy one"]
        await theirs.write(ORG, [fact("deploy two")])
        assert texts(await found(ours, ORG, "deploy")) == ["deploy one", "deploy two"]
        assert await theirs.forget(ORG, "mem:org:acme:0")
        assert [each.use_count for each in await found(ours, ORG, "deploy")] == [2]
        assert await ours.erase(ORG, "mem:org:acme:1") == EraseReceipt(1, 1)
        assert await found(theirs, ORG, "deploy") == []


async def test_a_new_file_may_be_made_by_several_at_once(shelf: Shelf) -> None:
    async with asyncio.timeout(40), AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(shelf.open()) for _ in range(5)]
        for scope_key in (f"user:slack:U{number}" for number in range(6)):
            async with asyncio.TaskGroup() as group:
                for number, each in enumerate(stores):
                    group.create_task(each.write(scope_key, [fact("shared"), fact(f"from {number}")]))
                    group.create_task(found(each, scope_key, "shared"))
            records = await kept(stores[0], scope_key)
            assert sorted(texts(records)) == [*(f"from {number}" for number in range(5)), "shared"]
            assert len({each.id for each in records}) == 6


async def test_a_scope_another_process_has_open_can_be_erased_and_written_again(shelf: Shelf) -> None:
    async with shelf.open() as ours, shelf.open() as theirs:
        await ours.write(ORG, [fact("deploy one")])
        await found(theirs, ORG, "deploy")
        assert await ours.erase(ORG) == EraseReceipt(1, 1)
        assert await found(theirs, ORG, "deploy") == []
        await theirs.write(ORG, [fact("deploy two")])
        assert texts(await found(ours, ORG, "deploy")) == ["deploy two"]


async def test_files_somebody_removed_are_not_read_from_memory(store: VectorStore, path: Path) -> None:
    """Memory systems, A3 26: nothing deleted is served from a cache."""
    await store.write(ORG, [fact("deploy one")])
    await found(store, ORG, "deploy")
    for each in files_of(path):
        each.unlink()
    assert await found(store, ORG, "deploy") == await store.list(ORG, 8) == []
    await store.write(ORG, [fact("deploy two")])
    [only] = await found(store, ORG, "deploy")
    assert (only.text, only.use_count) == ("deploy two", 1)


async def test_scopes_may_be_erased_while_they_are_counted(store: VectorStore) -> None:
    scopes = [f"user:slack:U{number}" for number in range(12)]
    for key in scopes:
        await store.write(key, [fact("one")])

    async def erase() -> None:
        for key in scopes:
            await store.erase(key)

    async with asyncio.timeout(20):
        erasing = asyncio.create_task(erase())
        while not erasing.done():
            counted, named = await asyncio.gather(store.stats(), store.scope_keys(100))
            assert counted.scopes <= len(scopes)
            assert set(named) <= set(scopes)
        await erasing
    assert await store.stats() == Stats()


def files_of(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}*"))


async def test_nobody_else_on_the_machine_may_look(store: VectorStore, path: Path) -> None:
    await store.write(ORG, [fact("one", thread=THREAD)])
    assert [mode_of(each) for each in (path.parent,)] == [0o700]


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_a_search_of_nothing_leaves_no_file(store: VectorStore, shelf: Shelf) -> None:
    assert await found(store, ORG, "deploy") == []
    assert await store.forget(ORG, "mem:org:acme:0") is False
    assert await store.erase(ORG) == EraseReceipt()
    assert not shelf.directory.exists()
