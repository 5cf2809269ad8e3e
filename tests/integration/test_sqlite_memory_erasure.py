"""What the SQLite store erases is in no byte of any file of its directory, nor in its memory (issue item 8)."""

import asyncio
import gc
import sqlite3
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

import pytest

from memory.record import MemoryRecord
from memory.store import EraseReceipt, StoreUnavailableError
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_connections import connect, path_of
from memory.stores.sqlite_handles import Bounds
from memory.stores.sqlite_rows import entry_of
from memory.stores.sqlite_scrubbing import delete_by_sequence
from memory.stores.vectors import packed
from tests.memory_records import ORG, RANKERS, Shelf, fact, files_under, found, kept, sql, texts

SECRET = "the launch code is zebra-quartz-4711"
SECRET_ID = "mem:org:acme:40"
SECRET_THREAD = "slack:C9SECRET:9.9"
VECTOR = (0.123456, -0.654321, 0.777777)
BOUNDS = Bounds(timeout_s=0.3)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-relevance", tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[SqliteStore]:
    opened = SqliteStore(shelf.directory, ranker=RANKERS["relevance"], now=shelf.clock.now, cap=None, bounds=BOUNDS)
    yield opened
    await opened.aclose()


def index_tokens(records: Iterable[MemoryRecord]) -> set[str]:
    entries = [entry_of(each) for each in records]
    return {token for _, words, terms in entries for token in (*words.split(), *terms.split())}


async def fill(store: SqliteStore) -> list[bytes]:
    """Records around a secret one, found and embedded; every trace the secret leaves in files."""
    await store.write(ORG, [fact(f"plain fact number {number} {'filler ' * 30}") for number in range(40)])
    secret = replace(fact(SECRET, thread=SECRET_THREAD), author="Zelda Quux", keywords=("hushword",))
    await store.write(ORG, [secret])
    await store.write(ORG, [fact(f"later fact number {number} {'filler ' * 30}") for number in range(40)])
    await store.keep_vectors(ORG, "test/model", {SECRET_ID: VECTOR})
    assert SECRET in texts(await found(store, ORG, "zebra quartz", 3))
    records = await kept(store)
    [hit] = [each for each in records if each.id == SECRET_ID]
    tokens = index_tokens([hit]) - index_tokens(each for each in records if each.id != SECRET_ID)
    words = ("zebra", "quartz", "4711", "launch", "Quux", "quux", "hushword", SECRET_THREAD, *tokens)
    assert len(tokens) > 5
    return [*(word.encode() for word in words), packed(VECTOR)]


def traces(shelf: Shelf, needles: Iterable[bytes]) -> set[bytes]:
    content = b"".join(files_under(shelf.directory).values())
    return {needle for needle in needles if needle in content}


async def test_everything_that_is_looked_for_can_be_found(store: SqliteStore, shelf: Shelf) -> None:
    """The other tests of this file would not notice if the store wrote in another form."""
    needles = await fill(store)
    assert traces(shelf, needles) == set(needles)
    await store.forget(ORG, SECRET_ID)
    assert b"zebra" in traces(shelf, needles), "a forgotten record keeps its row"


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_no_byte_of_an_erased_record_is_left(store: SqliteStore, shelf: Shelf, is_forgotten: bool) -> None:  # noqa: FBT001 - a parameter of the test
    needles = await fill(store)
    if is_forgotten:
        await store.forget(ORG, SECRET_ID)
    assert await store.erase(ORG, SECRET_ID) == EraseReceipt(1, 1)
    assert traces(shelf, needles) == set()
    assert len(await found(store, ORG, "plain later fact", 100)) == 80
    assert traces(shelf, needles) == set()


async def test_no_byte_of_what_a_thread_taught_is_left(store: SqliteStore, shelf: Shelf) -> None:
    needles = await fill(store)
    await store.write("user:slack:U1", [fact("zebra crossing", thread=SECRET_THREAD), fact("mine")])
    assert await store.erase_thread(SECRET_THREAD) == EraseReceipt(2, 2)
    assert traces(shelf, needles) == set()
    assert texts(await kept(store, "user:slack:U1")) == ["mine"]


async def test_an_erased_scope_has_no_file(store: SqliteStore, shelf: Shelf) -> None:
    await fill(store)
    assert await store.erase(ORG) == EraseReceipt(81, 1)
    assert files_under(shelf.directory) == {}


async def test_no_byte_is_left_of_a_scope_that_another_process_has_open(store: SqliteStore, shelf: Shelf) -> None:
    needles = await fill(store)
    async with shelf.open() as theirs:
        assert len(await kept(theirs)) == 81
        assert await store.erase(ORG) == EraseReceipt(81, 1)
        assert traces(shelf, [*needles, b"plain fact"]) == set()
        assert await kept(theirs) == []
        assert await store.erase(ORG) == EraseReceipt()


def copies_in_memory() -> list[MemoryRecord]:
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, MemoryRecord) and each.text == SECRET]


async def test_no_copy_stays_in_memory(store: SqliteStore) -> None:
    """Memory systems, A3 26 and 27: caches are emptied with the record."""
    await fill(store)
    await found(store, ORG, "zebra")
    await store.erase(ORG, SECRET_ID)
    assert copies_in_memory() == []


async def test_no_copy_stays_in_memory_of_what_is_to_be_rewritten_later(store: SqliteStore, shelf: Shelf) -> None:
    await fill(store)
    await found(store, ORG, "zebra")
    with closing(sqlite3.connect(path_of(shelf.directory, ORG), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        with pytest.raises(StoreUnavailableError, match="log"):
            await store.erase(ORG, SECRET_ID)
        assert copies_in_memory() == []


def delete_and_die(path: Path) -> None:
    with closing(connect(path, timeout_s=1)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        assert delete_by_sequence(connection, ORG, 40) == 1


async def test_an_erasure_that_was_cut_off_is_finished_at_the_next_opening(store: SqliteStore, shelf: Shelf) -> None:
    """A process that dies between the deletion and the rewriting of the file."""
    needles = await fill(store)
    await store.aclose()
    path = path_of(shelf.directory, ORG)
    await asyncio.to_thread(delete_and_die, path)
    assert traces(shelf, needles), "deleted, but still to be read in the file"
    async with shelf.open() as again:
        assert len(await found(again, ORG, "plain later fact", 100)) == 80
        assert traces(shelf, needles) == set()
    assert sql(path, "SELECT key FROM meta ORDER BY key") == [("scope_key",), ("terms_version",)]


async def test_a_reader_elsewhere_delays_the_end_of_an_erasure(store: SqliteStore, shelf: Shelf) -> None:
    """Its old view needs the old log: the erasure says so, and a later one finishes it."""
    needles = await fill(store)
    with closing(sqlite3.connect(path_of(shelf.directory, ORG), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM records").fetchone()
        with pytest.raises(StoreUnavailableError, match="log"):
            await store.erase(ORG, SECRET_ID)
        assert SECRET not in texts(await found(store, ORG, "zebra launch", 100))
    assert await store.erase(ORG, SECRET_ID) == EraseReceipt()
    assert traces(shelf, needles) == set()


HOLD_THE_CHECKPOINT_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as index:
    fcntl.lockf(index, fcntl.LOCK_EX, 1, 121)
    print("held", flush=True)
    sys.stdin.readline()
"""
"""What a process does for the moment in which it carries a log over (SQLite, WAL-mode file format, section 2.2.1)."""


@asynccontextmanager
async def carrying_the_log_over(path: Path) -> AsyncGenerator[None]:
    """Another process is at it for the length of the block."""
    index = path.with_name(f"{path.name}-shm")
    arguments = ("-c", HOLD_THE_CHECKPOINT_LOCK, str(index))
    other = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE)
    try:
        assert other.stdout is not None
        async with asyncio.timeout(30):
            assert await other.stdout.readline() == b"held\n"
        yield
    finally:
        await other.communicate(b"\n")


async def test_an_erasure_waits_for_whoever_is_carrying_the_log_over(shelf: Shelf) -> None:
    """Another process does so every now and then, and SQLite itself would not wait."""
    async with shelf.open(bounds=Bounds(timeout_s=30)) as store:
        await store.write(ORG, [fact("zebra quartz"), fact("plain")])
        async with carrying_the_log_over(path_of(shelf.directory, ORG)):
            erasing = asyncio.create_task(store.erase(ORG, "mem:org:acme:0"))
            await asyncio.wait({erasing}, timeout=0.3)
            assert not erasing.done()
        assert await erasing == EraseReceipt(1, 1)
        assert traces(shelf, [b"zebra"]) == set()
