"""What can go wrong with the state database.

StateError(SwitchboardError)      the database could not be used
├── StateBusyError                another process holds it; later it may work
├── StateFullError                the disk is full; nothing of the write was kept
└── StateDamagedError             the file itself is damaged: nothing is written until it is repaired
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.errors import SwitchboardError

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PRIMARY = 0xFF
"""SQLite's extended result codes keep the primary one in their low byte (sqlite.org/rescode.html)."""


class StateError(SwitchboardError):
    """The state database could not be used."""


class StateBusyError(StateError):
    """Somebody else holds the database for longer than is waited for."""


class StateFullError(StateError):
    """There is no room on the disk."""


class StateDamagedError(StateError):
    """The database's file is damaged."""


@contextmanager
def mapped() -> Generator[None]:
    """Turns the library's errors into ours; what a function raises by itself passes."""
    try:
        yield
    except SQLAlchemyError as fault:
        raise _ours(fault) from fault


def _ours(fault: SQLAlchemyError) -> StateError:
    """Never with the statement or its values, which hold what people said."""
    original = fault.orig if isinstance(fault, DBAPIError) else None
    if not isinstance(original, sqlite3.Error):
        return StateError(type(original or fault).__name__)
    code = getattr(original, "sqlite_errorcode", 0) & _PRIMARY
    if code in _DAMAGE:
        return StateDamagedError("the state database is damaged")
    if code in _BUSY:
        return StateBusyError("the state database is locked by another process")
    if code == sqlite3.SQLITE_FULL:
        return StateFullError("no room on the disk for the state database")
    return StateError(getattr(original, "sqlite_errorname", type(original).__name__))
