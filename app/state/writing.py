"""The connections that the state database's writes go through, one transaction after the other."""

import os
import sqlite3
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, Transaction

WRITES = "switchboard_writes"
"""The execution option of a connection that is going to write."""
LOG_COMMITS = 200
"""Commits after which the log is written back into the file: of steps about as many pages as SQLite itself lets be."""


class Writing:
    """For one thread at a time, which may be another one each time.

    A file's small transactions have a connection of their own, which waits for nobody: neither for a lock nor for the
    disk. It is held: to get one and to give it back takes longer than they do.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine.execution_options(**{WRITES: True})
        self.takes_steps = engine.dialect.name == "sqlite"
        self.log = -1
        """The descriptor of what SQLite writes commits to, for whoever flushes it; while there is a connection."""
        self._held: Connection | None = None
        self._begun: Transaction | None = None
        self._logged = 0

    def carried_out(self, works: Iterable[Callable[[Connection], Any]]) -> list[Any] | None:
        """What they return, in one transaction that is committed, and durable once ``log`` has been flushed.

        ``None``: somebody else holds the file, one of them failed, the log is long, or there is no connection yet;
        ``transaction`` makes one, and finds out. For what finds a few rows by index: it may be called where nothing may
        wait for a disk.
        """
        held = self._held
        if held is None or self._logged >= LOG_COMMITS:
            return None
        self._logged += 1
        with suppress(Exception):  # whoever carries them out again tells everybody what concerns them
            self._begun = held.begin()
            values = [work(held) for work in works]
            self._begun.commit()
            self._begun = None
            return values
        return None

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """All or nothing, and durable. After a failure the connection goes back to the pool, which looks after it."""
        if self._begun is not None:
            self.close()
        if self.takes_steps and self._held is None:
            self._held = self._connected()
        if self._held is not None:
            self._shorten(self._held)
        self._logged += 1
        with self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        held, self._held, self._begun = self._held, None, None
        if held is not None:
            held.close()
            os.close(self.log)

    def _connected(self) -> Connection | None:
        """Not of the pool, whose connections wait for whoever holds the file, and for the disk. ``None``: no log.

        With ``synchronous`` NORMAL SQLite itself waits for the disk only where it writes the log back into the file,
        which the thread does, and where it begins it anew (sqlite.org/pragma.html#pragma_synchronous), which the thread
        does as well unless a write of hundreds of pages came first.
        """
        with ExitStack() as on_failure:
            connection = on_failure.enter_context(self.engine.connect())
            connection.detach()
            cursor = connection.connection.cursor()
            cursor.execute("PRAGMA schema_version")  # looks into the file, which opens the log
            (file,) = (place for _, name, place in cursor.execute("PRAGMA database_list") if name == "main")
            for pragma in ("synchronous = NORMAL", "wal_autocheckpoint = 0", "busy_timeout = 0"):
                cursor.execute(f"PRAGMA {pragma}")
            try:
                self.log = os.open(f"{file}-wal", os.O_RDWR)
            except OSError:  # not every file system lets SQLite keep one (sqlite.org/wal.html)
                self.takes_steps = False
                return None
            on_failure.pop_all()
        return connection

    def _shorten(self, held: Connection) -> None:
        """Before a transaction of the thread's, which then begins the log anew."""
        if self._logged >= LOG_COMMITS:
            self._logged = 0
            with suppress(sqlite3.Error):  # the transaction finds out
                held.connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")
