"""Copies of a state database's file, made before anything is tried on it; the latest few are kept."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from app.errors import ConfigurationError
from app.state.errors import StateFullError
from app.state.opening import file_of

KEPT = 3
RESERVE_BYTES = 256 * 1024 * 1024
"""What stays free on the disk for everybody else."""
SIDECARS = ("-wal", "-shm")
_MARK = ".backup-"


def database_file(url: str, *, instead: str) -> Path:
    """Raises ``ConfigurationError`` when there is none: for a server, it names what does the job there."""
    file = file_of(url)
    if file is None:
        raise ConfigurationError(f"the state database is on a PostgreSQL server: {instead}")
    if not file.is_file():
        raise ConfigurationError(f"there is no state database at {file}")
    return file


def back_up(file: Path, now: datetime) -> Path:
    """A copy of the database as it is, damage included; it may be in use. Raises ``StateFullError``."""
    require_room(file, copies=1)
    target = _new_name(file, now)
    copy(file, target)
    for old in backups_of(file)[:-KEPT]:
        remove(old)
    return target


def backups_of(file: Path) -> list[Path]:
    """Oldest first."""
    found = file.parent.glob(f"{file.name}{_MARK}*")
    return sorted(path for path in found if not path.name.endswith(SIDECARS))


def require_room(file: Path, *, copies: int) -> None:
    size = sum(path.stat().st_size for path in (file, beside(file, "-wal")) if path.exists())
    needed = size * copies + RESERVE_BYTES
    free = shutil.disk_usage(file.parent).free
    if free < needed:
        raise StateFullError(f"{file.parent} has {_mib(free)} free, and this takes {_mib(needed)}; make room first")


def copy(file: Path, target: Path) -> None:
    """Through SQLite, which takes along what is in the log; file by file when it cannot read it any more."""
    try:
        _copy_pages(file, target)
    except sqlite3.DatabaseError:
        remove(target)
        shutil.copyfile(file, target)
        log = beside(file, "-wal")
        if log.exists() and log.stat().st_size:
            shutil.copyfile(log, beside(target, "-wal"))
    target.chmod(0o600)
    flush(target)


def _copy_pages(file: Path, target: Path) -> None:
    """For reading only: closing a connection that may write would play the log into a damaged file."""
    address = f"{file.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as source, closing(sqlite3.connect(target)) as copied:
        if not source.execute("PRAGMA page_count").fetchone()[0]:
            raise sqlite3.DatabaseError("nothing in it")
        source.backup(copied)


def remove(file: Path) -> None:
    for path in (file, *(beside(file, suffix) for suffix in SIDECARS)):
        path.unlink(missing_ok=True)


def beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def flush(path: Path) -> None:
    """To the disk: a file's content, or a folder's names."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _new_name(file: Path, now: datetime) -> Path:
    name = f"{_MARK}{now:%Y%m%dT%H%M%S}Z"
    taken = len(list(file.parent.glob(f"{file.name}{name}*")))
    return beside(file, f"{name}.{taken}" if taken else name)


def _mib(size: int) -> str:
    return f"{size / 1024 / 1024:.0f} MiB"
