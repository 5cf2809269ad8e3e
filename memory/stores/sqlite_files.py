"""A scope's SQLite file: the two connections kept to it, who has a turn at them, and what is left to be written."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import structlog

from memory.stores.sqlite_connections import FAULTS, FrozenConnection, connect, create, words_of
from memory.stores.sqlite_schema import is_refused, mend, migrate
from memory.stores.sqlite_scrubbing import scrub_if_owed
from memory.stores.sqlite_snapshot import Snapshot, data_version
from memory.stores.sqlite_uses import Uses

_log = structlog.stdlib.get_logger(__name__)

USE_UNCOUNTED = "memory_use_uncounted"

Found = TypeVar("Found")

LONG_LOG = 256
"""The log is carried over after so many searches were written down, as far as they used different records."""
ROWS_OF_A_SEARCH = 8
WRITE_WEIGHT = 16
"""As many searches as a batch of writes counts for."""
LONGEST_LOG_PAGES = 8_192
LONGEST_READ_WAIT_S = 0.5
"""How long the read lane waits to write down what was used."""


@dataclass(slots=True)
class Lane:
    """One connection and its turn-taking: tasks wait for each other, and threads too where a task was cancelled."""

    timeout_s: float
    """How long a statement waits for another process."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    thread: threading.Lock = field(default_factory=threading.Lock)
    connection: sqlite3.Connection | None = None
    inode: int = 0
    is_patient: bool = True
    """Whether a statement waits at all. It does on a connection that was just opened."""

    def be_patient(self, is_patient: bool) -> None:  # noqa: FBT001 - it is what the method is about
        """Told to SQLite only when it changes: a search of what is in memory asks one question, not three."""
        if self.connection is not None and self.is_patient is not is_patient:
            self.connection.execute(f"PRAGMA busy_timeout = {round(self.timeout_s * 1_000) if is_patient else 0}")
            self.is_patient = is_patient

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
            self.is_patient = True


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
        self.uses = Uses()
        """What searches leave to be written; the read lane's too."""
        self.settling: asyncio.TimerHandle | None = None
        """When they are, at the latest."""
        self._is_uncounted = False
        self._is_prepared = False

    @property
    def is_put_away(self) -> bool:
        """Nothing is open, and nothing is left to be written."""
        return self.reads.connection is None and self.writes.connection is None and not self.uses

    def reader(self) -> sqlite3.Connection | None:
        """The read lane's connection; ``None`` when nothing was ever written to the scope."""
        connection = self._current(self.reads)
        if connection is None:
            self.snapshot = None
            if self._is_begun():
                connection = self._opened(self.reads, connect)
                # A count of uses need not outlive a loss of power.
                connection.execute("PRAGMA synchronous = NORMAL")
        self.reads.be_patient(True)
        return connection

    @contextmanager
    def read_at_once(self) -> Generator[Snapshot | None]:
        """The scope's records as they were read last, for as long as nobody else reads; waits for nobody.

        ``None`` unless that is what the file holds now, and when something is wrong with it.
        """
        lane = self.reads
        if not lane.thread.acquire(blocking=False):
            yield None
            return
        try:
            yield self.snapshot if self.snapshot is not None and self._is_unchanged(self.snapshot) else None
        finally:
            lane.thread.release()

    def _is_unchanged(self, snapshot: Snapshot) -> bool:
        """Two questions that take microseconds: neither reads a disk, and SQLite is told not to wait for a lock."""
        connection = self.reads.connection
        if connection is None or isinstance(connection, FrozenConnection):
            return False
        try:
            self.reads.be_patient(False)
            return self.path.stat().st_ino == self.reads.inode and data_version(connection) == snapshot.version
        except FAULTS:
            return False

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

    def settle(self) -> None:
        """Write down how often what searches found was used. Waits for both lanes, so is not called in one.

        For the write lane first: a log that is being carried over is slow to write to, and no search waits meanwhile.
        """
        with self.writes.thread, self.reads.thread:
            if not self.uses:
                return
            reason = self._write_uses()
            self.uses.clear()
            if reason is not None:
                self.snapshot = None
                if not self._is_uncounted:
                    _log.warning(USE_UNCOUNTED, scope=self.scope_key, reason=reason)
            self._is_uncounted = reason is not None

    def _write_uses(self) -> str | None:
        """Why that was not possible, if it was not: what is wrong with reading shows when somebody reads."""
        try:
            connection = self.reader()
            if connection is not None:
                self.log_length += 1 + len(self.uses) // ROWS_OF_A_SEARCH
                self.uses.write(connection)
        except FAULTS as exc:
            return words_of(exc)
        return None

    def shorten_log(self) -> None:
        """Carry the log over into the file, as far as no reader needs it; what goes wrong is for the next write."""
        with self.writes.thread, suppress(*FAULTS):
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
        """Close both connections, once no thread uses them and all is written down."""
        self.settle()
        for lane in (self.reads, self.writes):
            with lane.thread:
                self.distrust(lane)
        self.snapshot = None

    def _is_begun(self) -> bool:
        """Whether there is more than an empty file, which somebody may just be making.

        Raises ``FileNotFoundError`` for a link to what is not there: nobody can tell what that holds.
        """
        try:
            return self.path.stat().st_size > 0
        except FileNotFoundError:
            if self.path.is_symlink():
                raise
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
            if inode != lane.inode:
                self.uses.clear()
            if inode != lane.inode or isinstance(lane.connection, FrozenConnection):
                self.distrust(lane)
        return lane.connection


async def in_lane(
    executor: Executor,
    file: ScopeFile,
    lane: Lane,
    work: Callable[[], Found],
    *,
    at_once: Callable[[], Found | None] = lambda: None,
) -> Found:
    """``work``'s result, done in a thread of ``executor`` while nobody else uses the lane of ``file``.

    No thread is needed for what ``at_once`` finds when the lane is free. It is asked only then: those who wait for a
    thread are not followed by others who would not have to.
    """

    def alone() -> Found:
        if lane is file.writes:
            # What is changed or evicted depends on how it was used.
            file.settle()
            file.log_length += WRITE_WEIGHT
        with lane.thread:
            try:
                return work()
            except FAULTS:
                file.distrust(lane)
                raise

    async with lane.turn:
        found = at_once()
        return found if found is not None else await asyncio.get_running_loop().run_in_executor(executor, alone)
