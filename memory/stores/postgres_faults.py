"""What PostgreSQL's driver raises, told in sentences: which database and what is wrong, never a word of a record."""

import psycopg
from psycopg_pool import PoolTimeout

from memory.store import StoreFullError, StoreUnavailableError

DISK_FULL = "53100"
_REASONS = {
    "28000": "it refuses the login",
    "28P01": "it refuses the login",
    "3D000": "the server has no such database",
    "42501": "its role may not do what memory needs",
    "25006": "it only reads at the moment",
    "53300": "it has no connection left",
    "55P03": "somebody else holds what is to be changed",
    "57014": "it took too long",
    "57P01": "it is shutting down or starting",
    "57P02": "it is shutting down or starting",
    "57P03": "it is shutting down or starting",
}
_UNREACHED = (
    ("resolve host", "there is no such host"),
    ("Connection refused", "nobody listens there"),
    ("No such file", "nobody listens there"),
    ("timeout", "it did not answer in time"),
    ("SSL", "it does not speak with us over TLS as the address asks"),
)
_UNDONE = frozenset({"40001", "40P01"})
"""Serialisation failure and deadlock: the server has taken everything back, and asks to be asked again."""


def fault_of(exc: psycopg.Error, name: str) -> StoreUnavailableError:
    """``exc`` as the port's error. Messages of the server are left out: they can quote values."""
    if exc.sqlstate == DISK_FULL:
        return StoreFullError(f"the memory database {name} has no room left on its disk")
    return StoreUnavailableError(f"the memory database {name} cannot be used: {reason_of(exc)}")


def reason_of(exc: psycopg.Error) -> str:
    if isinstance(exc, PoolTimeout):
        return "it cannot be reached, or all connections to it are busy"
    if exc.sqlstate is None:
        return _unreached(exc)
    return _REASONS.get(exc.sqlstate, f"it answers with error {exc.sqlstate} ({type(exc).__name__})")


def is_farewell(exc: psycopg.Error) -> bool:
    """Whether the server closes the connection after saying this."""
    return (exc.sqlstate or "").startswith(("08", "57P"))


def is_undone(exc: psycopg.Error) -> bool:
    return exc.sqlstate in _UNDONE


def _unreached(exc: psycopg.Error) -> str:
    """Why a connection could not be made or was lost; the driver tells the login's outcome in words only."""
    told = str(exc)
    for words, state in (
        ("authentication failed", "28P01"),
        ("no password supplied", "28P01"),
        ("no pg_hba.conf entry", "28000"),
        ("does not exist", "3D000"),
        ("too many clients", "53300"),
        ("remaining connection slots", "53300"),
        ("starting up", "57P03"),
        ("shutting down", "57P03"),
    ):
        if words in told:
            return _REASONS[state]
    return next((reason for words, reason in _UNREACHED if words in told), "the connection was lost")
