"""One bot for each state database: a lock that ends with the process that holds it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from sqlalchemy import text

from app.errors import ConfigurationError
from app.state.errors import mapped
from app.state.opening import engine_of, file_of

_BOT = 0x53_57_42_4F_54
"""The advisory lock of the bot that works with a database (PostgreSQL counts them for each database)."""


@contextmanager
def hold(url: str) -> Generator[None]:
    """While it lasts, nobody else can hold the database at ``url``. Blocks for as long as opening a connection takes.

    Raises ``ConfigurationError``, in one sentence for the operator, when somebody does hold it; ``StateError`` when
    the server cannot be asked. SQLite's lock is a file beside the database; PostgreSQL's belongs to a connection of
    its own and is lost with it.
    """
    file = file_of(url)
    with _file_held(file) if file is not None else _server_held(url):
        yield


@asynccontextmanager
async def holding(url: str) -> AsyncGenerator[None]:
    """As ``hold``, for the event loop."""
    lock = hold(url)
    await asyncio.to_thread(lock.__enter__)
    try:
        yield
    finally:
        await asyncio.to_thread(lock.__exit__, None, None, None)


def lock_file_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.lock")


@contextmanager
def _file_held(file: Path) -> Generator[None]:
    """The file stays: taking it away would let two processes hold locks on two files of the same name."""
    path = lock_file_of(file)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as exc:
        raise ConfigurationError(f"state.url: {path} cannot be written: {exc.strerror}") from exc
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(_refusal(str(file), _holder(handle))) from None
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    number = os.pread(handle, 20, 0).decode(errors="replace")
    return f" (process {number})" if number.isdecimal() else ""


@contextmanager
def _server_held(url: str) -> Generator[None]:
    engine = engine_of(url)
    try:
        with mapped(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if not connection.scalar(text("SELECT pg_try_advisory_lock(:bot)"), {"bot": _BOT}):
                raise ConfigurationError(_refusal(engine.url.render_as_string(hide_password=True), ""))
            try:
                yield
            finally:
                connection.invalidate()  # its end is what gives the lock back, whatever has become of the server
    finally:
        engine.dispose()


def _refusal(database: str, holder: str) -> str:
    return (
        f"another Switchboard{holder} is using the state database {database}; "
        "stop it, or give this one a state.url or a data_dir of its own"
    )
