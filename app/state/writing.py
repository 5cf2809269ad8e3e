"""The connections that the state database's writes go through, one transaction after the other."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, Transaction

WRITES = "switchboard_writes"
"""The execution option of a connection that is going to write."""


class Writing:
    """For one thread at a time, which may be another one each time.

    A file's small transactions have a connection of their own, which waits for nobody. It is held: to get one and to
    give it back takes longer than they do.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine.execution_options(**{WRITES: True})
        self.is_file = engine.dialect.name == "sqlite"
        self._held: Connection | None = None
        self._begun: Transaction | None = None

    def carried_out(self, works: Iterable[Callable[[Connection], Any]]) -> list[Any] | None:
        """What they return, in one transaction that ``commit`` is to end.

        ``None``: somebody else holds the file, one of them failed, or there is no connection yet; ``transaction`` makes
        one, and finds out. For what finds a few rows by index: it may be called where nothing may wait for a disk.
        """
        held = self._held
        if held is None:
            return None
        with suppress(Exception):  # whoever carries them out again tells everybody what concerns them
            self._begun = held.begin()
            return [work(held) for work in works]
        return None

    def commit(self) -> None:
        """Waits for the disk. After a failure ``transaction`` undoes what was carried out."""
        if self._begun is not None:
            self._begun.commit()
        self._begun = None

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """All or nothing. After a failure the connection goes back to the pool, which looks after it."""
        if self._begun is not None:
            self.close()
        if self.is_file and self._held is None:
            self._held = self._connected()
        with self.engine.begin() as connection:
            yield connection

    def close(self) -> None:
        held, self._held, self._begun = self._held, None, None
        if held is not None:
            held.close()

    def _connected(self) -> Connection:
        """Not of the pool, whose connections wait for whoever holds the file."""
        connection = self.engine.connect()
        connection.detach()
        connection.connection.cursor().execute("PRAGMA busy_timeout = 0")
        return connection
