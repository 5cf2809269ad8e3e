"""A scope's SQLite file: where it lies, how it is opened, and the two connections kept to it."""

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from memory.stores.sqlite_schema import is_refused, mend, migrate
from memory.stores.sqlite_scrubbing import scrub_if_owed
from memory.stores.sqlite_snapshot import Snapshot

Found = TypeVar("Found")

SUFFIX = ".db"
COMPANIONS = ("-wal", "-shm", "-journal")
_SETTINGS = (
    "secure_delete = ON",
    "synchronous = FULL",
    "temp_store = MEMORY",
    "cache_size = -512",  # KiB
    "journal_size_limit = 4194304",
    "wal_autocheckpoint = 0",  # The log is carried over into the file beside the calls, not during one.
)
_PAUSE_S = 0.005
LONG_LOG = 256
"""The log is carried over after so many searches; a batch of writes weighs as much as ``WRITE_WEIGHT`` of them."""
WRITE_WEIGHT = 16
LONGEST_LOG_PAGES = 8_192
LONGEST_READ_WAIT_S = 0.5
"""How long a search waits to count what it found as used."""


def path_of(directory: Path, scope_key: str) -> Path:
    """The scope's file; its name tells nothing and may be any key's."""
    digest = sha256(scope_key.encode("utf-8", "surrogatepass")).hexdigest()
    return directory / digest[:2] / f"{digest}{SUFFIX}"


def connect(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """A connection to a file that exists; without a right to write one that only reads. Raises ``sqlite3.Error``."""
    try:
        return _open(path, "mode=rw", timeout_s)
    except sqlite3.OperationalError as exc:
        is_forbidden = exc.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
        if not is_forbidden or not path.exists() or companion(path, "-wal").exists():
            raise
    # Nobody may make a log beside the file, so nobody is writing.
    return _open(path, "mode=ro&immutable=1", timeout_s, _FrozenConnection)


def create(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Like ``connect``, for a file that may not exist yet."""
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_directory(path.parent.parent)
    with ExitStack() as unless_it_works:
        connection = _open(path, "mode=rwc", timeout_s)
        unless_it_works.callback(connection.close)
        _keep_log(connection, timeout_s)
        unless_it_works.pop_all()
    return connection


def _keep_log(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Have the file write ahead to a log; SQLite itself does not wait for its lock when the file is new."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def companion(path: Path, ending: str) -> Path:
    """What SQLite keeps beside a database file: its log, the log's index or its journal."""
    return path.with_name(f"{path.name}{ending}")


def sync_directory(directory: Path) -> None:
    """Make what was created or removed in ``directory`` outlive a loss of power."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _FrozenConnection(sqlite3.Connection):
    """One that never notices a change of the file, so it serves one read only."""


def _open(
    path: Path, mode: str, timeout_s: float, kind: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    with ExitStack() as unless_it_works:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,
            factory=kind,
        )
        unless_it_works.callback(connection.close)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        connection.execute("PRAGMA user_version").fetchone()
        unless_it_works.pop_all()
    return connection


@dataclass(slots=True)
class Lane:
    """One connection and its turn-taking: tasks wait for each other, and threads too where a task was cancelled."""

    timeout_s: float
    """How long a statement waits for another process."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    thread: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None
    inode: int = 0

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class ScopeFile:
    """One scope's file. Reads and writes have a lane each, so that no read waits for a write."""

    def __init__(self, path: Path, scope_key: str, *, timeout_s: float) -> None:
        self.path = path
        self.scope_key = scope_key
        self.reads = Lane(min(timeout_s, LONGEST_READ_WAIT_S))
        self.writes = Lane(timeout_s)
        self.users = 0
        self.log_length = 0
        self.snapshot: Snapshot | None = None
        """What the read lane found last; belongs to that lane's connection."""
        self._is_prepared = False

    def reader(self) -> sqlite3.Connection | None:
        """The read lane's connection; ``None`` when nothing was ever written to the scope."""
        connection = self._current(self.reads)
        if connection is None:
            self.snapshot = None
            if self._is_begun():
                connection = self._opened(self.reads, connect)
                # A count of uses need not outlive a loss of power.
                connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def writer(self) -> sqlite3.Connection | None:
        """The write lane's connection; ``None`` when nothing was ever written to the scope."""
        return self.opened_writer() if self._is_begun() else None

    def opened_writer(self) -> sqlite3.Connection:
        """The write lane's connection, to a new file if need be."""
        return self._current(self.writes) or self._opened(self.writes, create)

    def forget_reads(self) -> None:
        """Let go of all that was read: records, and the pages below them. In the read lane."""
        self.distrust(self.reads)
        self.snapshot = None

    def shorten_log(self) -> None:
        """Carry the log over into the file, as far as no reader needs it; what goes wrong is for the next write."""
        with self.writes.thread, suppress(sqlite3.Error, OSError):
            connection = self.writer()
            if connection is not None:
                scrub_if_owed(connection)
                _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if pages > LONGEST_LOG_PAGES:  # There is never a quiet moment to begin it anew: make one.
                    connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()

    def distrust(self, lane: Lane) -> None:
        """Begin from the file itself next time."""
        lane.close()
        self._is_prepared = False

    def close(self) -> None:
        """Close both connections, once no thread uses them."""
        for lane in (self.reads, self.writes):
            with lane.thread:
                self.distrust(lane)
        self.snapshot = None

    def _is_begun(self) -> bool:
        """Whether there is more than an empty file, which somebody may just be making."""
        with suppress(FileNotFoundError):
            return self.path.stat().st_size > 0
        return False

    def _opened(self, lane: Lane, opener: Callable[..., sqlite3.Connection]) -> sqlite3.Connection:
        with ExitStack() as unless_it_works:
            connection = opener(self.path, timeout_s=lane.timeout_s)
            unless_it_works.callback(connection.close)
            lane.inode = self.path.stat().st_ino
            if not self._is_prepared:
                self._prepare(connection)
            unless_it_works.pop_all()
        lane.connection = connection
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        migrate(connection, self.scope_key)
        try:
            mend(connection, self.scope_key)
            scrub_if_owed(connection)
            self._is_prepared = True
        except sqlite3.OperationalError as exc:
            if not is_refused(exc):
                raise

    def _current(self, lane: Lane) -> sqlite3.Connection | None:
        """The open connection, unless the file it was opened on is gone."""
        if lane.connection is not None:
            inode = 0
            with suppress(FileNotFoundError):
                inode = self.path.stat().st_ino
            if inode != lane.inode or isinstance(lane.connection, _FrozenConnection):
                self.distrust(lane)
        return lane.connection


async def in_lane(executor: Executor, file: ScopeFile, lane: Lane, work: Callable[[], Found]) -> Found:
    """``work``'s result, done in a thread of ``executor`` while nobody else uses the lane of ``file``."""

    def alone() -> Found:
        with lane.thread:
            try:
                file.log_length += 1 if lane is file.reads else WRITE_WEIGHT
                return work()
            except (sqlite3.Error, OSError):
                file.distrust(lane)
                raise

    async with lane.turn:
        return await asyncio.get_running_loop().run_in_executor(executor, alone)
