"""What can go wrong with the state database.

StateError(SwitchboardError)      the database could not be used
├── StateBusyError                somebody else holds it, or it took too long; later it may work
├── StateFullError                the disk is full; nothing of the write was kept
├── StateUnreachableError         server or disk are gone; of a commit under way it is unknown whether it was kept
├── StateValueError               a row has a value that its column cannot have; other rows may be fine
└── StateDamagedError             the file itself is damaged: nothing is written until it is repaired
    └── StateIndexDamagedError    only the full-text index is, which can be made anew from the table
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.errors import StateError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_INDEX_TEXTS = (
    "vtable constructor failed: transcript_fts",
    "invalid fts5 file format",
    "no such table: transcript_fts",
    "no such table: main.transcript_fts",
)
_PRIMARY = 0xFF
"""SQLite's extended result codes keep the primary one in their low byte (sqlite.org/rescode.html)."""

_PLAIN = {
    sqlite3.SQLITE_CANTOPEN: "the state database's file cannot be opened",
    sqlite3.SQLITE_READONLY: "the state database's file may not be written",
    sqlite3.SQLITE_IOERR: "the disk of the state database fails",
}


class StateBusyError(StateError):
    """Somebody else holds the database for longer than is waited for."""


class StateFullError(StateError):
    """There is no room on the disk."""


class StateUnreachableError(StateError):
    """The server does not answer, the connection to it broke, or the disk does not say that it has everything."""


class StateValueError(StateError):
    """A row has a value that makes no sense where it stands."""


class StateDamagedError(StateError):
    """The database's file is damaged."""


class StateIndexDamagedError(StateDamagedError):
    """The full-text index is damaged; what it was made from has shown no fault."""


@contextmanager
def mapped() -> Generator[None]:
    """Turns the libraries' errors into ours; what a function raises by itself passes.

    Theirs are not chained: they hold the statement's values, or the row, and with them what people said. Where it
    happened stays.
    """
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except SQLAlchemyError as fault:
        raise _ours(fault).with_traceback(fault.__traceback__) from None
    except sqlite3.Error as fault:
        raise sqlite_error(fault).with_traceback(fault.__traceback__) from None


def sqlite_error(fault: sqlite3.Error) -> StateError:
    """Bare SQLITE_CORRUPT is damage to the file; only what the virtual table itself says lays it at the index."""
    extended = getattr(fault, "sqlite_errorcode", 0)
    code = extended & _PRIMARY
    if extended == sqlite3.SQLITE_CORRUPT_VTAB or str(fault).startswith(_INDEX_TEXTS):
        return StateIndexDamagedError("the full-text index of the state database is damaged")
    if code in _DAMAGE:
        return StateDamagedError("the state database is damaged")
    if code in _BUSY:
        return StateBusyError("the state database is locked by another process")
    if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:  # the index of a log wants room, too
        return StateFullError("no room on the disk for the state database")
    return StateError(_PLAIN.get(code) or getattr(fault, "sqlite_errorname", type(fault).__name__))


def _ours(fault: "SQLAlchemyError") -> StateError:
    original = getattr(fault, "orig", None) or fault
    if isinstance(original, sqlite3.Error):
        return sqlite_error(original)
    return _server_error(original, is_broken=getattr(fault, "connection_invalidated", False))


def _server_error(original: BaseException, *, is_broken: bool) -> StateError:
    name, code = type(original).__name__, getattr(original, "sqlstate", None)
    if code in _TOLD:
        error, sentence = _TOLD[code]
        return error(sentence)
    if is_broken:
        return StateUnreachableError(f"the connection to the state database broke ({name})")
    if name == "OperationalError" and code is None:  # there was no connection, so its text is about the server alone
        return StateUnreachableError(f"the state database cannot be reached: {' '.join(str(original).split())}")
    return StateError(f"{name} ({code})" if code else name)


_TOLD: dict[str | None, tuple[type[StateError], str]] = {
    "55P03": (StateBusyError, "a lock of the state database was not given up in time"),
    "57014": (StateBusyError, "the state database took too long"),
    "53100": (StateFullError, "no room on the disk of the state database's server"),
    "XX001": (StateDamagedError, "the state database's server reports damaged data"),
    "XX002": (StateDamagedError, "the state database's server reports a damaged index"),
}
"""PostgreSQL's codes (postgresql.org/docs/current/errcodes-appendix.html)."""
