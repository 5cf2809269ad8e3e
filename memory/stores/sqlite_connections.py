"""Opening a scope's SQLite file: where it lies, what lies beside it, and how a connection to it is set up."""

import errno
import os
import sqlite3
import time
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

SUFFIX = ".db"
COMPANIONS = ("-wal", "-shm", "-journal")
_SETTINGS = (
    "secure_delete = ON",
    "synchronous = FULL",
    "temp_store = MEMORY",
    "cache_size = -512",  # KiB
    "journal_size_limit = 4194304",
    "wal_autocheckpoint = 0",  # The log is carried over into the file beside the calls, not during one.
)
PAUSE_S = 0.005

Fault = sqlite3.Error | OSError | UnicodeDecodeError
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What comes of a file that cannot be used. The driver fails over its own words, too, where damage is part of them."""


def path_of(directory: Path, scope_key: str) -> Path:
    """The scope's file; its name tells nothing and may be any key's."""
    digest = sha256(scope_key.encode("utf-8", "surrogatepass")).hexdigest()
    return directory / digest[:2] / f"{digest}{SUFFIX}"


def is_there(path: Path) -> bool:
    """Whether anything has that name. A link to what is not there has: nobody can tell what that holds."""
    return os.path.lexists(path)


def connect(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """A connection to a file that exists; without a right to write, or room, one that only reads. Raises ``FAULTS``."""
    try:
        return _open(path, "mode=rw", timeout_s)
    except sqlite3.OperationalError as exc:
        if not path.exists() or not _is_still(path, exc):
            raise
    return _open(path, "mode=ro&immutable=1", timeout_s, FrozenConnection)


def _is_still(path: Path, fault: sqlite3.OperationalError) -> bool:
    """Whether nobody is writing to the file: nobody may make a log beside it, or nobody has the room for one."""
    log = companion(path, "-wal")
    if is_full(fault):
        return not log.exists() or not log.stat().st_size  # The failed try leaves an empty one.
    is_forbidden = fault.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
    return is_forbidden and not log.exists()


def create(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """Like ``connect``, for a file that may not exist yet."""
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_directory(path.parent.parent)
    with ExitStack() as unless_it_works:
        connection = _open(path, "mode=rwc", timeout_s)
        unless_it_works.callback(connection.close)
        _keep_log(connection, timeout_s)
        unless_it_works.pop_all()
    return connection


def _keep_log(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Have the file write ahead to a log; SQLite itself does not wait for its lock when the file is new."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(PAUSE_S)
        else:
            return


def companion(path: Path, ending: str) -> Path:
    """What SQLite keeps beside a database file: its log, the log's index or its journal."""
    return path.with_name(f"{path.name}{ending}")


def is_full(fault: Fault) -> bool:
    """Whether there was no room to write in, or for the index of a log."""
    if isinstance(fault, OSError):
        return fault.errno in {errno.ENOSPC, errno.EDQUOT}
    code = getattr(fault, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE


def is_damaged(fault: Fault) -> bool:
    """Whether no further try can read the file; faults without SQLite's number are of what is written in it."""
    if isinstance(fault, UnicodeDecodeError) or _quotes_a_row(fault):
        return True
    code = getattr(fault, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return type(fault) is sqlite3.DatabaseError and code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def words_of(fault: Fault) -> str:
    """What is wrong, without a word of a record."""
    return "a text does not read" if _quotes_a_row(fault) else str(fault)


def _quotes_a_row(fault: Fault) -> bool:
    """The driver's one message that has content of the file in it."""
    return isinstance(fault, sqlite3.OperationalError) and str(fault).startswith("Could not decode")


def sync_directory(directory: Path) -> None:
    """Make what was created or removed in ``directory`` outlive a loss of power."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class FrozenConnection(sqlite3.Connection):
    """One that never notices a change of the file, so it serves one read only."""


def _open(
    path: Path, mode: str, timeout_s: float, kind: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    with ExitStack() as unless_it_works:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True,
            timeout=timeout_s,
            isolation_level=None,
            check_same_thread=False,
            factory=kind,
        )
        unless_it_works.callback(connection.close)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        connection.execute("PRAGMA user_version").fetchone()
        unless_it_works.pop_all()
    return connection
