"""Erasing from SQLite files: a record, a scope, or what one thread taught to any scope."""

import re
import sqlite3
from pathlib import Path

from memory.store import EraseReceipt
from memory.stores.rows import sequence_in
from memory.stores.sqlite_connections import COMPANIONS, FAULTS, SUFFIX, companion, connect, is_damaged, sync_directory
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_schema import scope_key_at, version
from memory.stores.sqlite_scrubbing import delete_all, delete_by_sequence, delete_by_thread, scrub_if_owed

_SHARD = re.compile(r"[0-9a-f]{2}")


def erase_record(file: ScopeFile, record_id: str) -> EraseReceipt:
    sequence = sequence_in(file.scope_key, record_id)
    connection = None if sequence is None else file.writer()
    if connection is None or sequence is None:
        return EraseReceipt()
    erased = delete_by_sequence(connection, file.scope_key, sequence)
    scrub_if_owed(connection)
    return _receipt(erased)


def erase_scope(file: ScopeFile) -> EraseReceipt:
    """Remove the file; when another process has it open, what is in it. In the write lane; closes the read lane.

    Of a damaged file nobody can tell what it held, but it goes, too.
    """
    with file.reads.thread:
        file.forget_reads()
        file.uses.clear()  # A new file begins with the same numbers.
    try:
        return _receipt(_erase_content(file))
    except FAULTS as fault:
        if not is_damaged(fault):
            raise
        file.distrust(file.writes)
        _unlink(file.path)
        return EraseReceipt(scopes=1)


def _erase_content(file: ScopeFile) -> int:
    connection = file.writer()
    if connection is None:
        return 0
    if not _is_alone(connection):
        erased = delete_all(connection, file.scope_key)
        scrub_if_owed(connection)
        return erased
    connection.execute("BEGIN EXCLUSIVE")
    erased = int(connection.execute("SELECT count(*) FROM records").fetchone()[0])
    _unlink(file.path)
    file.distrust(file.writes)
    return erased


def erase_from_thread(file: ScopeFile, thread_key: str) -> EraseReceipt:
    connection = file.writer()
    if connection is None:
        return EraseReceipt()
    erased = delete_by_thread(connection, file.scope_key, thread_key)
    scrub_if_owed(connection)
    return _receipt(erased)


def scope_taught_by(path: Path, thread_key: str, timeout_s: float) -> str | None:
    """The scope of the file if it has anything from that thread."""
    connection = connect(path, timeout_s=timeout_s)
    try:
        if not version(connection):
            return None
        found = connection.execute("SELECT 1 FROM records WHERE source_thread_key = ? LIMIT 1", (thread_key,))
        return scope_key_at(connection, path) if found.fetchone() else None
    finally:
        connection.close()


def shards(directory: Path) -> list[Path]:
    """Raises ``OSError`` for a folder that may not be read, as ``files_in`` does: it is no empty one."""
    names = sorted(directory.iterdir()) if directory.is_dir() else []
    return [each for each in names if _SHARD.fullmatch(each.name) and each.is_dir()]


def files_in(shard: Path) -> list[Path]:
    return sorted(each for each in shard.iterdir() if each.suffix == SUFFIX)


def _receipt(erased: int) -> EraseReceipt:
    return EraseReceipt(erased, int(erased > 0))


def _is_alone(connection: sqlite3.Connection) -> bool:
    """Whether no other connection has the file open: only then can it leave its log behind."""
    try:
        return connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"
    except sqlite3.OperationalError:
        return False


def _unlink(path: Path) -> None:
    for each in (path, *(companion(path, ending) for ending in COMPANIONS)):
        each.unlink(missing_ok=True)
    sync_directory(path.parent)
