"""What the SQLite store does when a file is broken, held, not to be written, or the disk is full (issue: bad input)."""

import asyncio
import errno
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from memory.record import WriteCounts
from memory.store import EraseReceipt, Query, Retrieved, StoreUnavailableError
from memory.stores.sqlite import MEMORY_DEGRADED, SqliteStore
from memory.stores.sqlite_connections import is_damaged, path_of
from memory.stores.sqlite_files import USE_UNCOUNTED
from memory.stores.sqlite_handles import Bounds
from tests.memory_records import ORG, RANKERS, THREAD, USER, Shelf, fact, found, kept, sql, texts

BOUNDS = Bounds(timeout_s=0.05)
NOBODY = 65_534


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf("sqlite-keyword", tmp_path / "memory")


def opened(shelf: Shelf) -> SqliteStore:
    return SqliteStore(shelf.directory, ranker=RANKERS["keyword"], now=shelf.clock.now, cap=None, bounds=BOUNDS)


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[SqliteStore]:
    """Two scopes with a record each; not open yet."""
    async with shelf.open() as filled:
        await filled.write(ORG, [fact("deploys need approval")])
        await filled.write(USER, [fact("deploys are mine")])
    reopened = opened(shelf)
    yield reopened
    await reopened.aclose()


def overwrite(path: Path, content: bytes, at: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[at : at + len(content)] = content
    path.write_bytes(data)


HARM = {
    "no database": (0, b"this is no database file at all" * 200),
    "header only": (4_096, b"\xff" * 200_000),
    "text cut off": (100, b"\x00" * 4_000),
}


@pytest.mark.parametrize("harm", HARM)
async def test_a_corrupt_file_is_one_warning_and_the_rest_goes_on(store: SqliteStore, shelf: Shelf, harm: str) -> None:
    """Issue: that scope degrades to nothing with one warning on reads, a clear error on writes."""
    at, content = HARM[harm]
    overwrite(path_of(shelf.directory, ORG), content, at)
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            assert await store.retrieve(ORG, Query("deploys", 8)) == Retrieved(is_degraded=True)
    assert [(line["event"], line["scope"], line["log_level"]) for line in lines] == [(MEMORY_DEGRADED, ORG, "warning")]
    assert "deploys" not in str(lines)
    for call in (
        lambda: store.get(ORG, ["mem:org:acme:0"]),
        lambda: store.write(ORG, [fact("new")]),
        lambda: store.list(ORG, 8),
        lambda: store.forget(ORG, "mem:org:acme:0"),
        lambda: store.erase(ORG, "mem:org:acme:0"),
        lambda: store.unembedded(ORG, "test/model", 8),
        lambda: store.keep_vectors(ORG, "test/model", {"mem:org:acme:0": (1.0,)}),
    ):
        with pytest.raises(StoreUnavailableError, match="cannot be used") as error:
            await call()
        assert "deploys" not in str(error.value)
    assert texts(await found(store, USER, "deploys")) == ["deploys are mine"]
    assert await store.write(USER, [fact("more")]) == WriteCounts(inserted=1)


@pytest.mark.parametrize("harm", HARM)
async def test_a_scope_whose_file_is_damaged_can_be_erased_and_begun_anew(
    store: SqliteStore, shelf: Shelf, harm: str
) -> None:
    at, content = HARM[harm]
    overwrite(path_of(shelf.directory, ORG), content, at)
    assert await store.erase(ORG) == EraseReceipt(0, 1), "what it held cannot be counted"
    assert not path_of(shelf.directory, ORG).exists()
    assert await store.erase(ORG) == EraseReceipt()
    assert await store.retrieve(ORG, Query("deploys", 8)) == Retrieved()
    assert await store.write(ORG, [fact("anew")]) == WriteCounts(inserted=1)
    assert texts(await kept(store)) == ["anew"]
    assert texts(await found(store, USER, "deploys")) == ["deploys are mine"]


async def test_a_thread_is_erased_from_every_file_that_can_be_read(store: SqliteStore, shelf: Shelf) -> None:
    overwrite(path_of(shelf.directory, ORG), b"garbage" * 1_000)
    with pytest.raises(StoreUnavailableError, match="1 records of 1 scopes were erased, but 1 files"):
        await store.erase_thread(THREAD)
    assert await kept(store, USER) == []


async def test_a_scope_that_works_again_is_told_of_again_when_it_fails_again(store: SqliteStore, shelf: Shelf) -> None:
    path = path_of(shelf.directory, ORG)
    whole = content_of(path)
    with structlog.testing.capture_logs() as lines:
        for _ in range(2):
            overwrite(path, b"garbage" * 1_000)
            assert (await store.retrieve(ORG, Query("deploys", 8))).is_degraded
            restore(path, whole)
            assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
            await store.aclose()
            store = opened(shelf)
    assert [line["event"] for line in lines] == [MEMORY_DEGRADED] * 2
    await store.aclose()


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def restore(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def astray(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "unmounted" / path.name)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("harm", [astray, a_folder])
async def test_what_is_no_file_is_not_taken_for_an_empty_scope(
    store: SqliteStore, shelf: Shelf, harm: Callable[[Path], None]
) -> None:
    """Found nothing and could not look are different answers."""
    await store.aclose()
    harm(path_of(shelf.directory, ORG))
    async with shelf.open() as again:
        with structlog.testing.capture_logs() as lines:
            for _ in range(2):
                assert await again.retrieve(ORG, Query("deploys", 8)) == Retrieved(is_degraded=True)
        assert [line["event"] for line in lines] == [MEMORY_DEGRADED]
        for call in (lambda: again.list(ORG, 8), lambda: again.write(ORG, [fact("new")]), lambda: again.erase(ORG)):
            with pytest.raises(StoreUnavailableError, match="cannot be used"):
                await call()
        assert texts(await found(again, USER, "deploys")) == ["deploys are mine"]


async def test_an_empty_file_is_an_empty_scope(store: SqliteStore, shelf: Shelf) -> None:
    """What a process leaves that died while it made the file."""
    restore(path_of(shelf.directory, ORG), b"")
    assert await store.erase_thread("slack:C1:none") == EraseReceipt()
    assert await found(store, ORG, "deploys") == []
    assert await store.write(ORG, [fact("anew")]) == WriteCounts(inserted=1)


@contextmanager
def held(path: Path, *statements: str) -> Generator[None]:
    """Another process holds the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        for statement in statements:
            holder.execute(statement)
        yield


async def test_while_another_process_writes_reads_answer_and_writes_say_so(store: SqliteStore, shelf: Shelf) -> None:
    path = path_of(shelf.directory, ORG)
    with structlog.testing.capture_logs() as lines, held(path, "BEGIN IMMEDIATE"):
        for _ in range(2):
            assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
        with pytest.raises(StoreUnavailableError, match="locked"):
            await store.write(ORG, [fact("new")])
        assert texts(await found(store, USER, "deploys")) == ["deploys are mine"]
    assert [(line["event"], line["scope"]) for line in lines] == [(USE_UNCOUNTED, ORG)]
    assert [each.use_count for each in await found(store, ORG, "deploys")] == [1]
    assert [each.use_count for each in await found(store, ORG, "deploys")] == [2]
    assert await store.write(ORG, [fact("new")]) == WriteCounts(inserted=1)


async def test_a_count_that_cannot_be_written_costs_nobody_an_answer(store: SqliteStore, shelf: Shelf) -> None:
    path = path_of(shelf.directory, ORG)
    sql(path, "CREATE TRIGGER refuse BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'no counting'); END")
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
            assert await store.write(ORG, [replace(fact("new"), supersedes="x")]) == WriteCounts(inserted=1)
            assert [each.use_count for each in await found(store, ORG, "deploys")] == [1]
    assert [(line["event"], line["scope"]) for line in lines] == [(USE_UNCOUNTED, ORG)]
    assert "deploys" not in str(lines)
    sql(path, "DROP TRIGGER refuse")


async def test_a_file_held_for_one_alone_cannot_be_read(store: SqliteStore, shelf: Shelf) -> None:
    path = path_of(shelf.directory, ORG)
    with held(path, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "COMMIT", "SELECT count(*) FROM records"):
        assert (await store.retrieve(ORG, Query("deploys", 8))).is_degraded
        with pytest.raises(StoreUnavailableError, match="locked"):
            await store.list(ORG, 8)
        assert texts(await found(store, USER, "deploys")) == ["deploys are mine"]
    assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]


@contextmanager
def without_rights(directory: Path) -> Generator[None]:
    """As somebody who may read ``directory`` and write nothing in it."""
    paths = [directory, *directory.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


async def test_a_directory_that_is_not_to_be_written_can_be_read() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf("sqlite-keyword", Path(folder) / "memory")
        async with shelf.open() as store:
            await store.write(ORG, [fact("deploys need approval")])
        allow(Path(folder))
        store = opened(shelf)
        with structlog.testing.capture_logs() as lines, without_rights(shelf.directory):
            for _ in range(2):
                assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
            assert texts(await store.list(ORG, 8)) == ["deploys need approval"]
            with pytest.raises(StoreUnavailableError, match="cannot be used"):
                await store.write(ORG, [fact("new")])
            with pytest.raises(StoreUnavailableError, match="cannot be used"):
                await store.write(USER, [fact("new")])
            await store.aclose()
        assert [line["event"] for line in lines] == [USE_UNCOUNTED]


def allow(folder: Path) -> None:
    folder.chmod(0o755)


@contextmanager
def full_disk(most_bytes: int) -> Generator[None]:
    """No file can grow beyond ``most_bytes``."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_changes_nothing_and_is_survived(store: SqliteStore) -> None:
    """Memory systems, A3 10; section 28."""
    await found(store, ORG, "deploys")
    with full_disk(100_000):
        with pytest.raises(StoreUnavailableError, match="cannot be used"):
            await store.write(ORG, [fact(f"{number} " + "x" * 3_900) for number in range(50)])
        assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
    assert texts(await kept(store)) == ["deploys need approval"]
    assert await store.write(ORG, [fact("there is room again")]) == WriteCounts(inserted=1)


WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from pathlib import Path
from memory.ranker import KeywordRanker
from memory.record import MemoryCandidate
from memory.stores.sqlite import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]), ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=None)
    batch = 0
    while True:
        batch += 1
        texts = [f"batch {batch} record {number}" for number in range(10)]
        await store.write("org:acme", [MemoryCandidate("fact", text, "slack:C1:1.0") for text in texts])
        print(batch, flush=True)

asyncio.run(main())
"""


async def test_a_killed_writer_leaves_whole_batches_only(shelf: Shelf) -> None:
    """Section 18: what was acknowledged is there, and no batch is half there."""
    acknowledged = await asyncio.to_thread(write_and_be_killed, shelf.directory)
    async with shelf.open() as store:
        records = await kept(store)
        assert len(records) % 10 == 0
        assert len(records) >= acknowledged * 10
        assert len(await found(store, ORG, "batch", 1_000_000)) == len(records)
        await store.write(ORG, [fact("after the fall")])
    assert sql(path_of(shelf.directory, ORG), "PRAGMA integrity_check") == [("ok",)]


def write_and_be_killed(directory: Path) -> int:
    """The last batch that a process was told is kept before it is killed in the middle of its work."""
    command = [sys.executable, "-c", WRITER, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603 - our own program
        assert writer.stdout is not None
        acknowledged = 0
        for line in writer.stdout:
            acknowledged = int(line)
            if acknowledged == 15:
                writer.send_signal(signal.SIGKILL)
        return acknowledged


def with_code(fault: sqlite3.Error, code: int) -> sqlite3.Error:
    fault.sqlite_errorcode = code
    return fault


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (sqlite3.DatabaseError("a row does not read as a record"), True),
        (with_code(sqlite3.DatabaseError("file is not a database"), sqlite3.SQLITE_NOTADB), True),
        (with_code(sqlite3.DatabaseError("malformed"), sqlite3.SQLITE_CORRUPT_INDEX), True),
        (with_code(sqlite3.OperationalError("locked"), sqlite3.SQLITE_BUSY), False),
        (sqlite3.ProgrammingError("Cannot operate on a closed database."), False),
        (PermissionError(errno.EACCES, "not allowed"), False),
    ],
)
def test_only_what_no_further_try_can_read_is_damaged(fault: sqlite3.Error | OSError, expected: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert is_damaged(fault) is expected
