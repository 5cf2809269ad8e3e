"""Backups of scope files: consistent while others write, checked, and named only when they are whole."""

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.record import Status
from memory.stores.backup_folder import new_folder
from memory.stores.sqlite_backup import back_up, examine
from memory.stores.sqlite_connections import path_of
from tests.memory_records import ORG, USER, Shelf, VectorStore, fact, texts
from tests.moving_house import Watched, everything

NOW = datetime(2026, 11, 30, 1, 2, 3, tzinfo=UTC)
SCOPES = [f"user:slack:U{number}" for number in range(6)]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-relevance", tmp_path / "memory")


def copied(shelf: Shelf) -> Shelf:
    """Where the tests have the copy."""
    target = shelf.directory.with_name("copy")
    target.mkdir()
    return Shelf(shelf.kind, target)


async def test_a_copy_has_every_record_and_opens_as_a_memory(shelf: Shelf) -> None:
    target, watch = copied(shelf), Watched()
    async with shelf.open() as store:
        await store.write(ORG, [fact("one"), fact("two")])
        await store.write(USER, [fact("mine")])
        await store.forget(ORG, "mem:org:acme:0")
        await store.keep_vectors(ORG, "test/small", {"mem:org:acme:1": (0.5, 1.0)})
        held = await asyncio.to_thread(back_up, shelf.directory, target.directory, watch)
        assert (held.scopes, held.records, held.faults) == (2, Counter({Status.ACTIVE: 2, Status.FORGOTTEN: 1}), ())
        assert (watch.begun, watch.done) == ([("back up", 2)], 2)
        files = [path for path in target.directory.rglob("*") if path.is_file()]
        assert {(path.suffix, path.stat().st_mode & 0o777) for path in files} == {(".db", 0o600)}
        async with target.open() as other:
            assert await everything(other) == await everything(store)
            assert await other.unembedded(ORG, "test/small", 9) == []


async def test_while_others_write_each_scope_is_copied_as_it_was_at_one_moment(shelf: Shelf) -> None:
    async def writes(store: VectorStore, key: str, is_over: asyncio.Event) -> None:
        number = 0
        while not is_over.is_set():
            await store.write(key, [fact(f"{number} a"), fact(f"{number} b")])
            number += 1

    target = copied(shelf)
    is_over = asyncio.Event()
    async with shelf.open() as store, asyncio.timeout(30):
        for key in SCOPES:
            await store.write(key, [fact("first a"), fact("first b")])
        async with asyncio.TaskGroup() as group:
            for key in SCOPES:
                group.create_task(writes(store, key, is_over))
            held = await asyncio.to_thread(back_up, shelf.directory, target.directory, Watched())
            is_over.set()
        assert (held.scopes, held.faults) == (len(SCOPES), ())
        async with target.open() as other:
            for key in SCOPES:
                now, then = texts(await store.records(key, 10_000)), texts(await other.records(key, 10_000))
                assert then == now[: len(then)]
                assert len(then) % 2 == 0
            assert (await other.stats()).records[Status.ACTIVE] == held.records[Status.ACTIVE]


async def test_what_was_erased_is_not_in_the_free_pages_of_a_copy(shelf: Shelf) -> None:
    target = copied(shelf)
    async with shelf.open() as store:
        await store.write(ORG, [fact(f"{number} secretword") for number in range(40)])
        await store.write(ORG, [fact("stays")])
    path = path_of(shelf.directory, ORG)
    await asyncio.to_thread(delete_carelessly, path)
    assert b"secretword" in await asyncio.to_thread(path.read_bytes)
    held = await asyncio.to_thread(back_up, shelf.directory, target.directory, Watched())
    assert held.records == Counter({Status.ACTIVE: 1})
    assert b"secretword" not in await asyncio.to_thread(path_of(target.directory, ORG).read_bytes)


def delete_carelessly(path: Path) -> None:
    """As a process does that dies before it has scrubbed the file."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM records WHERE text <> 'stays'")
        connection.execute("INSERT INTO meta VALUES ('scrub_owed', '1')")


async def test_a_damaged_file_is_a_fault_and_the_others_are_copied(shelf: Shelf) -> None:
    target = copied(shelf)
    async with shelf.open() as store:
        for key in (ORG, USER):
            await store.write(key, [fact(f"{number} {'word ' * 40}") for number in range(200)])
    path = path_of(shelf.directory, ORG)
    await asyncio.to_thread(overwrite, path)
    held = await asyncio.to_thread(back_up, shelf.directory, target.directory, Watched())
    assert (held.scopes, held.records.total()) == (1, 200)
    (fault,) = held.faults
    assert path.name in fault


def overwrite(path: Path) -> None:
    """Break the pages in the middle of the table."""
    with path.open("r+b") as opened:
        for page in range(20, 60, 4):
            opened.seek(page * 4_096)
            opened.write(b"\x99" * 4_096)


async def test_a_file_with_the_records_of_another_scope_is_a_fault(shelf: Shelf) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("one")])
    wrong = path_of(shelf.directory, USER)
    wrong.parent.mkdir(exist_ok=True)
    path_of(shelf.directory, ORG).rename(wrong)
    held = await asyncio.to_thread(examine, shelf.directory, Watched())
    assert (held.scopes, held.faults) == (0, (f"{wrong} is not of the scope that its name says",))


async def test_what_holds_nothing_yet_is_no_scope_and_no_fault(shelf: Shelf) -> None:
    target = copied(shelf)
    async with shelf.open() as store:
        await store.write(ORG, [fact("one")])
        await store.erase(ORG, "mem:org:acme:0")
    path_of(shelf.directory, USER).parent.mkdir(exist_ok=True)
    path_of(shelf.directory, USER).touch()
    held = await asyncio.to_thread(back_up, shelf.directory, target.directory, Watched())
    assert (held.scopes, held.records, held.faults) == (0, Counter(), ())


def test_a_folder_has_its_name_only_when_it_is_finished(tmp_path: Path) -> None:
    with new_folder(tmp_path / "backups", NOW) as folder:
        assert [path.name for path in (tmp_path / "backups").iterdir()] == ["memory-20261130T010203Z.unfinished"]
        assert folder.path.stat().st_mode & 0o777 == 0o700
        final = folder.finish(is_whole=True)
    assert [final] == list((tmp_path / "backups").iterdir())
    assert final.name == "memory-20261130T010203Z"


def test_half_a_backup_is_removed_or_says_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path)
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path, NOW) as folder:
        assert folder.finish(is_whole=False).name == "memory-20261130T010203Z.incomplete"


def interrupted(parent: Path) -> None:
    with new_folder(parent, NOW) as folder:
        (folder.path / "ab").mkdir()
        raise KeyboardInterrupt


def test_backups_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    with new_folder(tmp_path, NOW) as one, new_folder(tmp_path, NOW) as two:
        two.finish(is_whole=False)
        one.finish(is_whole=True)
    with new_folder(tmp_path, NOW) as three:
        three.finish(is_whole=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "memory-20261130T010203Z",
        "memory-20261130T010203Z.1.incomplete",
        "memory-20261130T010203Z.2",
    ]
