"""Opening the state database: where it is, how its connections behave, its soundness and its schema."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from app.clock import Clock
from app.errors import ConfigurationError, StateError
from app.state.checking import damage, ensure_sound, refuse_damaged_pages
from app.state.engine import Database
from app.state.errors import StateDamagedError, mapped
from app.state.flushing import kernel_queues
from app.state.migrating import upgrade
from app.state.writing import WRITES

FILE_NAME = "state.db"
BUSY_MS = 5_000
CONNECT_S = 10
STATEMENT_MS = 60_000
_LIVENESS = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""A server that is no longer there is noticed within about half a minute (postgresql.org, libpq-connect)."""


def default_url(data_dir: Path) -> str:
    return f"sqlite:///{data_dir / FILE_NAME}"


@asynccontextmanager
async def open_database(url: str, clock: Clock | None = None) -> AsyncGenerator[Database]:
    """The database at ``url`` (SQLite or PostgreSQL), with the newest schema.

    Raises ``StateError``'s tree, and ``ConfigurationError`` for a URL or a schema that this program cannot use.
    """
    engine = await asyncio.to_thread(_opened, url)
    open_queue = await asyncio.to_thread(kernel_queues) if file_of(url) else None
    database = Database(engine, clock, open_queue)
    try:
        yield database
    finally:
        await database.aclose()


def file_of(url: str) -> Path | None:
    """Where the database is, when it is a file. Raises ``ConfigurationError`` for a URL that is of no use here."""
    where = _parsed(url)
    if where.get_backend_name() != "sqlite":
        return None
    if not where.database or where.database == ":memory:":
        raise ConfigurationError("state.url names no file: a database in memory is gone with the process")
    return Path(where.database)


def engine_of(url: str) -> Engine:
    """An engine whose connections are set up; nothing is opened yet. Raises ``ConfigurationError``."""
    file = file_of(url)
    if file is None:
        where = _parsed(url).set(drivername="postgresql+psycopg")
        liveness = {"connect_timeout": CONNECT_S, **_LIVENESS}
        engine = create_engine(where, hide_parameters=True, pool_pre_ping=True, connect_args=liveness)
        event.listen(engine, "connect", _prepare_postgresql)
        return engine
    where = URL.create("sqlite", database=str(file))
    settings = {"check_same_thread": False, "timeout": BUSY_MS / 1000}
    engine = create_engine(where, hide_parameters=True, connect_args=settings)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise ConfigurationError(f"data_dir or state.url: the folder {folder} cannot be made: {exc.strerror}") from exc


def _parsed(url: str) -> URL:
    """Without a chain: what cannot be parsed may hold a password."""
    try:
        where = make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigurationError("state.url is no database URL; write sqlite:///… or postgresql://…") from None
    if where.get_backend_name() not in {"sqlite", "postgresql", "postgres"}:
        raise ConfigurationError(f"state.url: {where.get_backend_name()} is not supported, sqlite and postgresql are")
    return where


def _opened(url: str) -> Engine:
    engine = engine_of(url)
    file = file_of(url)
    with ExitStack() as on_failure:
        on_failure.callback(engine.dispose)
        try:
            _readied(engine, file)
        except StateDamagedError as fault:
            raise fault if file is None else damage(file, str(fault)) from fault
        except StateError:
            if file is None or file.exists():
                raise
            raise ConfigurationError(
                f"data_dir or state.url: {file} cannot be made; the bot's account must be able to write into its folder"
            ) from None
        on_failure.pop_all()
    return engine


def _readied(engine: Engine, file: Path | None) -> None:
    is_new = file is not None and not file.exists()
    if file is not None:
        _make_folder(file.parent)
        refuse_damaged_pages(engine, file)
    with mapped():
        upgrade(engine)
    if file is not None and is_new:
        _close_to_others(file)
    ensure_sound(engine)


def _close_to_others(file: Path) -> None:
    """What people said is for the bot's own account, also in a folder that others may enter."""
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        with suppress(OSError):
            file.with_name(name).chmod(0o600)


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
    connection.connection.cursor().execute("BEGIN IMMEDIATE" if is_writer else "BEGIN")


def _prepare_postgresql(connection: Any, _record: object) -> None:
    """No statement waits without end. Set here and not in the URL, which poolers in between may refuse."""
    connection.autocommit = True
    connection.execute(f"SET lock_timeout = {BUSY_MS}")
    connection.execute(f"SET statement_timeout = {STATEMENT_MS}")
    connection.autocommit = False
