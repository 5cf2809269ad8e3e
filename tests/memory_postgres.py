"""What the tests of the PostgreSQL memory store share: opening one, and what somebody else does in its database."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, LiteralString

import psycopg

from memory.stores.postgres import PostgresStore, open_postgres
from memory.stores.postgres_server import Bounds
from tests.memory_records import RANKERS, StoppedClock


@asynccontextmanager
async def opened(
    url: str, clock: StoppedClock, bounds: Bounds | None = None, ranker: str = "relevance"
) -> AsyncGenerator[PostgresStore]:
    store = await open_postgres(
        url, ranker=RANKERS[ranker], now=clock.now, cap=None, bounds=bounds or Bounds(connect_s=2.0)
    )
    try:
        yield store
    finally:
        await store.aclose()


def sql(url: str, statement: LiteralString, *values: object) -> list[tuple[Any, ...]]:
    """What somebody else sees or does, in the schema of memory; committed at once."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=switchboard_memory") as connection:
        cursor = connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []
