"""Bringing a database's schema up to date: Alembic's steps, in one transaction, one starter at a time.

Alembic itself is imported when there is something to do: a start that finds the newest schema does not pay for it.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, column, inspect, select, table, text

from app.errors import ConfigurationError
from app.state.errors import StateDamagedError
from app.state.writing import WRITES

_FOLDER = Path(__file__).with_name("migrations")
_VERSIONS = table("alembic_version", column("version_num"))
_ENVIRONMENT = Lock()
"""Alembic keeps what it works on in its modules, so one thread at a time."""
_TURN = 0x53_57_49_54_43_48
"""The advisory lock of those who change the schema (PostgreSQL counts them for each database)."""


def upgrade(engine: Engine, version: str | None = None) -> None:
    """To ``version``, the newest one unless given. All or nothing; a database that is there already is not written.

    Raises ``ConfigurationError`` for a schema that this program is too old for, ``StateDamagedError`` for rows that
    refer to nothing, and SQLAlchemy's errors.
    """
    wanted = version or newest()
    with engine.connect() as connection:
        found = known(version_of(connection))
    if found == wanted:
        return
    from alembic import command
    from alembic.config import Config

    with _ENVIRONMENT, _alone(engine) as connection:
        config = Config()
        config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, wanted)


def version_of(connection: Connection) -> str | None:
    """The schema's version; None for an empty database."""
    if not inspect(connection).has_table(_VERSIONS.name):
        return None
    return connection.execute(select(_VERSIONS.c.version_num)).scalar_one_or_none()


def known(version: str | None) -> str | None:
    """``version``, unless this program is too old for it: then ``ConfigurationError``."""
    if version is not None and version not in versions():
        raise ConfigurationError(
            f"the state database has schema {version}, which is newer than this program's ({newest()}); "
            "install the newer version again or choose another state.url"
        )
    return version


def newest() -> str:
    return versions()[-1]


@cache
def versions() -> tuple[str, ...]:
    """Every version there is, oldest first: each is a file whose name begins with it."""
    steps = (_FOLDER / "versions").glob("[0-9]*_*.py")
    return tuple(sorted(step.name.partition("_")[0] for step in steps))


@contextmanager
def _alone(engine: Engine) -> Generator[Connection]:
    """A transaction that no other starter has at the same time."""
    if engine.dialect.name == "sqlite":
        with engine.execution_options(**{WRITES: True}).connect() as connection, _without_foreign_keys(connection):
            yield connection
    else:
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": _TURN})
            yield connection


@contextmanager
def _without_foreign_keys(connection: Connection) -> Generator[None]:
    """Making a table anew would delete what refers to it; SQLite knows that switch outside of transactions only."""
    raw = connection.connection.cursor()
    raw.execute("PRAGMA foreign_keys=OFF")
    try:
        with connection.begin():
            yield
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise StateDamagedError(f"rows of {broken[0]} refer to nothing in {broken[2]}")
    finally:
        raw.execute("PRAGMA foreign_keys=ON")
        raw.close()
