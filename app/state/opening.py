"""Opening the state database: where it is, how its connections behave, its schema brought up to date."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url

from app.state.engine import WRITES, Database
from app.state.errors import mapped
from app.state.migrating import upgrade

FILE_NAME = "state.db"
BUSY_MS = 5_000


def default_url(data_dir: Path) -> str:
    return f"sqlite:///{data_dir / FILE_NAME}"


@asynccontextmanager
async def open_database(url: str) -> AsyncGenerator[Database]:
    """The database at ``url`` (SQLite or PostgreSQL), with the newest schema. Raises ``StateError``'s tree."""
    engine = await asyncio.to_thread(_opened, url)
    database = Database(engine)
    try:
        yield database
    finally:
        await database.aclose()


def engine_of(url: str) -> Engine:
    """An engine whose connections are set up; nothing is opened yet."""
    where = make_url(url)
    if where.get_backend_name() == "sqlite":
        if where.database and where.database != ":memory:":
            Path(where.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(where, connect_args={"check_same_thread": False, "timeout": BUSY_MS / 1000})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return create_engine(where.set(drivername="postgresql+psycopg"), pool_pre_ping=True)


def _opened(url: str) -> Engine:
    engine = engine_of(url)
    with mapped():
        upgrade(engine)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """Durable after every commit, readers beside the writer; transactions begin where we say (``_begin_sqlite``)."""
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its place at once: a reader that turns into a writer cannot wait for another one."""
    is_writer = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")
