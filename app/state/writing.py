"""The connection that the state database's writes go through, one transaction after the other."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine

WRITES = "switchboard_writes"
"""The execution option of a connection that is going to write."""


class Writing:
    """For one thread at a time.

    A file does not go away, so its connection is held: to get one and to give it back takes longer than a small
    transaction. A server's is got for each, because the pool finds out then whether the server is still there.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine.execution_options(**{WRITES: True})
        self._is_file = engine.dialect.name == "sqlite"
        self._held: Connection | None = None

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """All or nothing. After a failure the connection goes back to the pool, which looks after it."""
        if not self._is_file:
            with self.engine.begin() as connection:
                yield connection
            return
        if self._held is None:
            self._held = self.engine.connect()
        is_kept = False
        try:
            with self._held.begin():
                yield self._held
            is_kept = True
        finally:
            if not is_kept:
                self.close()

    def close(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.close()
