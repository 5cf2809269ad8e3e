"""Databases for tests of the PostgreSQL memory store: of the test session's server, migrated, handed out empty.

A test gets one for each place it opens a store at; when it is over they are emptied for those that follow.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tests.state_databases import PostgresServer

_EMPTY = """DO $$ BEGIN
    IF to_regclass('switchboard_memory.scopes') IS NOT NULL THEN DELETE FROM switchboard_memory.scopes; END IF;
END $$"""


class MemoryDatabases:
    """Which database belongs to which place."""

    def __init__(self) -> None:
        self.server: Callable[[], PostgresServer] | None = None
        self._taken: dict[Path, str] = {}
        self._free: list[str] = []

    def at(self, place: Path) -> str:
        """The URL of the database there: the same one until the test is over."""
        if place not in self._taken:
            assert self.server is not None
            self._taken[place] = self._free.pop() if self._free else self.server().new()
        return self._taken[place]

    def release(self) -> None:
        for url in self._taken.values():
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(_EMPTY)
        self._free.extend(self._taken.values())
        self._taken.clear()


MEMORY_DATABASES = MemoryDatabases()


@pytest.fixture(autouse=True)
def _memory_databases(_servers: Callable[[], PostgresServer]) -> Iterator[None]:
    """Nothing is started unless somebody asks for a database."""
    MEMORY_DATABASES.server = _servers
    yield
    MEMORY_DATABASES.release()
