"""Everything in SQLite files, whatever its status: counted, taken out, and put back as it was."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memory.record import MemoryRecord, Status
from memory.store import RecordConflictError, Stats
from memory.stores.sqlite_connections import connect, path_of
from memory.stores.sqlite_erasing import files_in, shards
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import INSERT_ENTRY, INSERT_RECORD, LARGEST_INTEGER, entry_of, record_of, values_of
from memory.stores.sqlite_schema import scope_key_of, transaction, version

_WHOLE = """SELECT seq, kind, text, keywords, terms, source_thread_key, source_run_id, source_user, author, created_at,
    last_used_at, use_count, confidence, supersedes, is_standing, status FROM records"""
_REPLACE = f"""{INSERT_RECORD} ON CONFLICT (seq) DO UPDATE SET norm = excluded.norm, kind = excluded.kind,
    text = excluded.text, keywords = excluded.keywords, terms = excluded.terms,
    source_thread_key = excluded.source_thread_key, source_run_id = excluded.source_run_id,
    source_user = excluded.source_user, author = excluded.author, created_at = excluded.created_at,
    last_used_at = excluded.last_used_at, use_count = excluded.use_count, confidence = excluded.confidence,
    supersedes = excluded.supersedes, is_standing = excluded.is_standing, status = excluded.status"""


def paths(directory: Path, after: str | None = None) -> Iterator[Path]:
    """The scopes' files in the order of their names, behind the one of ``after``."""
    last = None if after is None else path_of(directory, after)
    for shard in shards(directory):
        if last is None or shard >= last.parent:
            yield from (path for path in files_in(shard) if last is None or path > last)


def scope_in(path: Path, timeout_s: float) -> str | None:
    """The scope of the file if it has any record."""
    connection = connect(path, timeout_s=timeout_s)
    try:
        if not version(connection) or not connection.execute("SELECT EXISTS (SELECT 1 FROM records)").fetchone()[0]:
            return None
        return scope_key_of(connection)
    finally:
        connection.close()


def records(file: ScopeFile, limit: int, after: int | None) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    rows = connection.execute(
        f"{_WHOLE} WHERE seq > ? ORDER BY seq LIMIT ?",
        (-1 if after is None else min(after, LARGEST_INTEGER), min(max(0, limit), LARGEST_INTEGER)),
    )
    return file.uses.shown_on([_whole(file.scope_key, row) for row in rows.fetchall()])


def restore(file: ScopeFile, given: Sequence[MemoryRecord]) -> int:
    """Raises ``RecordConflictError``; the transaction is undone then."""
    connection = file.opened_writer()
    try:
        with transaction(connection):
            return sum(_put_back(connection, record) for record in given)
    except sqlite3.IntegrityError as exc:
        raise RecordConflictError("the scope has the words of a record under another id") from exc


def stats(file: ScopeFile) -> Stats:
    connection = file.reader()
    return Stats() if connection is None else _counted(connection)


def stats_of(path: Path, timeout_s: float) -> Stats:
    connection = connect(path, timeout_s=timeout_s)
    try:
        return _counted(connection) if version(connection) else Stats()
    finally:
        connection.close()


def _whole(scope_key: str, row: tuple[object, ...]) -> MemoryRecord:
    try:
        return replace(record_of(scope_key, row[:-1]), status=Status(row[-1]))
    except ValueError as exc:
        raise sqlite3.DatabaseError("a row does not read as a record") from exc


def _put_back(connection: sqlite3.Connection, record: MemoryRecord) -> bool:
    """Whether it was missing or different."""
    row = connection.execute(f"{_WHOLE} WHERE seq = ?", (record.sequence,)).fetchone()
    if row is not None and _whole(record.scope_key, row) == record:
        return False
    connection.execute("DELETE FROM records_fts WHERE rowid = ?", (record.sequence,))
    connection.execute("DELETE FROM vectors WHERE seq = ?", (record.sequence,))
    connection.execute(_REPLACE, values_of(record))
    if record.status is Status.ACTIVE:
        connection.execute(INSERT_ENTRY, entry_of(record))
    return True


def _counted(connection: sqlite3.Connection) -> Stats:
    found = connection.execute("SELECT status, count(*) FROM records GROUP BY status ORDER BY status").fetchall()
    return Stats(int(bool(found)), {Status(status): count for status, count in found})
