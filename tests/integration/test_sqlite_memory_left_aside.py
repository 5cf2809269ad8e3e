"""A folder of scope files of which one cannot be looked into: the others are, and nobody takes that for everything."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.record import Status
from memory.store import Query, Stats, StoreDamagedError, StoreUnavailableError
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_backup import back_up
from memory.stores.sqlite_connections import path_of
from tests.memory_records import ORG, RANKERS, THREAD, USER, Shelf, fact, sql
from tests.moving_house import Watched

NOBODY = 65_534


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-keyword", tmp_path / "memory")


def opened(shelf: Shelf) -> SqliteStore:
    return SqliteStore(shelf.directory, ranker=RANKERS["keyword"], now=shelf.clock.now, cap=None)


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[SqliteStore]:
    """Two scopes with a record each; not open yet."""
    async with shelf.open() as filled:
        await filled.write(ORG, [fact("deploys need approval")])
        await filled.write(USER, [fact("deploys are mine")])
    reopened = opened(shelf)
    yield reopened
    await reopened.aclose()


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1_000)


def astray(path: Path) -> None:
    """As when the disk behind a link is not mounted."""
    path.unlink()
    path.symlink_to(path.parent / "unmounted" / path.name)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def another_scopes(path: Path) -> None:
    shutil.copy(path_of(path.parent.parent, USER), path)


def nobodys(path: Path) -> None:
    sql(path, "UPDATE meta SET value = '{' WHERE key = 'scope_key'")


def unspeakable(path: Path) -> None:
    """What is wrong with it can only be told with bytes that are no text."""
    content = path.read_bytes()
    assert content.count(b"records_thread") == 2
    broken = content.replace(b"records_thread", b"\xffecords_thread").replace(
        b"ON records (source", b"ON recordz (source"
    )
    path.write_bytes(broken)


HARMS = [garbage, astray, a_folder, another_scopes, nobodys, unspeakable]


@pytest.mark.parametrize("harm", HARMS)
async def test_what_cannot_be_looked_into_is_named_and_the_rest_is_there(
    store: SqliteStore, shelf: Shelf, harm: Callable[[Path], None]
) -> None:
    path = path_of(shelf.directory, ORG)
    await asyncio.to_thread(harm, path)
    reasons: list[str] = []
    assert await store.scope_keys(9, leave_aside=reasons.append) == [USER]
    assert await store.stats(leave_aside=reasons.append) == Stats(1, {Status.ACTIVE: 1})
    assert len(reasons) == 2
    assert all(str(path) in each for each in reasons)
    with pytest.raises(StoreUnavailableError, match=path.name):
        await store.scope_keys(9)
    with pytest.raises(StoreUnavailableError, match=path.name):
        await store.stats()
    with pytest.raises(StoreUnavailableError):
        await store.records(ORG, 9)
    assert (await store.retrieve(ORG, Query("deploys", 8))).is_degraded
    with pytest.raises(StoreUnavailableError, match=f"1 files could not be looked at: the memory file {path}"):
        await store.erase_thread(THREAD)
    assert await store.records(USER, 9) == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("harm", HARMS)
async def test_a_backup_names_what_it_lacks(shelf: Shelf, harm: Callable[[Path], None]) -> None:
    path = path_of(shelf.directory, ORG)
    await asyncio.to_thread(harm, path)
    target = shelf.directory.with_name("copy")
    target.mkdir()
    held = await asyncio.to_thread(back_up, shelf.directory, target, Watched())
    assert held.scopes == 1
    (fault,) = held.faults
    assert path.name in fault


async def test_words_that_do_not_read_are_damage_and_are_not_repeated(
    store: SqliteStore, shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    """The driver quotes the text that it cannot read; no log and no refusal tells what is remembered."""
    path = path_of(shelf.directory, ORG)
    sql(path, "UPDATE records SET text = CAST(x'7A6562726171FF' AS TEXT)")
    assert (await store.retrieve(ORG, Query("deploys", 8))).is_degraded
    told = capsys.readouterr().out
    for asked in (store.list(ORG, 9), store.records(ORG, 9)):
        with pytest.raises(StoreDamagedError) as refusal:
            await asked
        told += str(refusal.value)
    assert told.count("does not read") == 3
    assert "zebraq" not in told


async def test_a_status_nobody_gave_is_damage(store: SqliteStore, shelf: Shelf) -> None:
    path = path_of(shelf.directory, ORG)
    sql(path, "UPDATE records SET status = 'zebra'")
    reasons: list[str] = []
    assert await store.stats(leave_aside=reasons.append) == Stats(1, {Status.ACTIVE: 1})
    assert len(reasons) == 1
    with pytest.raises(StoreUnavailableError, match=path.name):
        await store.stats(ORG)
    target = shelf.directory.with_name("copy")
    target.mkdir()
    held = await asyncio.to_thread(back_up, shelf.directory, target, Watched())
    assert (held.scopes, len(held.faults)) == (1, 1)


@pytest.mark.parametrize("counts", ["{", "[]", '{"zebra": 1}', "5"])
async def test_what_became_of_a_batch_does_not_read_and_is_damage(
    store: SqliteStore, shelf: Shelf, counts: str
) -> None:
    await store.write(ORG, [fact("lunch is at noon")], idempotency_key="one")
    await store.aclose()
    sql(path_of(shelf.directory, ORG), "UPDATE applied SET counts = ?", counts)
    again = opened(shelf)
    with pytest.raises(StoreDamagedError):
        await again.write(ORG, [fact("lunch is at noon")], idempotency_key="one")
    await again.aclose()


async def test_a_folder_that_may_not_be_read_is_no_empty_one() -> None:
    """As when a backup was put back by somebody else than who serves it."""
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf("sqlite-keyword", Path(folder) / "memory")
        async with shelf.open() as filled:
            await filled.write(ORG, [fact("deploys need approval")])
        store = opened(shelf)
        shard = path_of(shelf.directory, ORG).parent
        with unreadable(shard):
            for asked in (store.scope_keys(9), store.stats(), store.erase_thread(THREAD)):
                with pytest.raises(StoreUnavailableError, match=str(shelf.directory)):
                    await asked
        assert await store.scope_keys(9) == [ORG]
        await store.aclose()


async def test_what_else_lies_in_the_folder_is_nobodys_scope(store: SqliteStore, shelf: Shelf) -> None:
    (shelf.directory / "lost+found").mkdir(mode=0)
    (shelf.directory / "notes.db").write_bytes(b"nothing of ours")
    assert set(await store.scope_keys(9)) == {ORG, USER}


@contextmanager
def unreadable(shard: Path) -> Generator[None]:
    for each in (shard.parent.parent, shard.parent):
        each.chmod(0o755)
    shard.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        shard.chmod(0o755)
