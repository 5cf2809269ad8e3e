"""Everything in SQLite files, whatever its status: counted, taken out, and put back as it was."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memory.record import MemoryRecord, Status
from memory.store import RecordConflictError, Stats
from memory.stores.rows import LARGEST_INTEGER, row_limit
from memory.stores.sqlite_connections import connect, path_of
from memory.stores.sqlite_erasing import files_in, shards
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import INSERT_ENTRY, INSERT_RECORD, entry_of, record_of, status_of, values_of
from memory.stores.sqlite_schema import scope_key_at, transaction, version

_WHOLE = """SELECT seq, kind, text, keywords, terms, source_thread_key, source_run_id, source_user, author, created_at,
    last_used_at, use_count, confidence, supersedes, is_standing, status FROM records"""


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
        return scope_key_at(connection, path)
    finally:
        connection.close()


def records(file: ScopeFile, limit: int, after: int | None) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    rows = connection.execute(
        f"{_WHOLE} WHERE seq > ? ORDER BY seq LIMIT ?",
        (-1 if after is None else min(max(-1, after), LARGEST_INTEGER), row_limit(limit)),
    )
    return file.uses.shown_on([_whole(file.scope_key, row) for row in rows.fetchall()])


def restore(file: ScopeFile, given: Sequence[MemoryRecord]) -> int:
    """Raises ``RecordConflictError``; the transaction is undone then."""
    connection = file.opened_writer()
    try:
        with transaction(connection):
            latest = {record.id: record for record in given}
            changed = [record for record in latest.values() if _is_news(connection, record)]
            _take_out(connection, [(record.sequence,) for record in changed])
            connection.executemany(INSERT_RECORD, map(values_of, changed))
            active = (record for record in changed if record.status is Status.ACTIVE)
            connection.executemany(INSERT_ENTRY, map(entry_of, active))
            return len(changed)
    except sqlite3.IntegrityError as exc:
        raise RecordConflictError("the scope has the words of a record under another id") from exc


def stats(file: ScopeFile) -> Stats:
    connection = file.reader()
    return Stats() if connection is None else _counted(connection)


def stats_of(path: Path, timeout_s: float) -> Stats:
    connection = connect(path, timeout_s=timeout_s)
    try:
        found = _counted(connection) if version(connection) else Stats()
        if found.scopes:
            scope_key_at(connection, path)
        return found
    finally:
        connection.close()


def _whole(scope_key: str, row: tuple[object, ...]) -> MemoryRecord:
    return replace(record_of(scope_key, row[:-1]), status=status_of(row[-1]))


def _is_news(connection: sqlite3.Connection, record: MemoryRecord) -> bool:
    """Whether it is missing or different."""
    row = connection.execute(f"{_WHOLE} WHERE seq = ?", (record.sequence,)).fetchone()
    return row is None or _whole(record.scope_key, row) != record


def _take_out(connection: sqlite3.Connection, sequences: Sequence[tuple[int]]) -> None:
    """All at once, so that records may change places."""
    connection.executemany("DELETE FROM records_fts WHERE rowid = ?", sequences)
    connection.executemany("DELETE FROM vectors WHERE seq = ?", sequences)
    connection.executemany("DELETE FROM records WHERE seq = ?", sequences)


def _counted(connection: sqlite3.Connection) -> Stats:
    found = connection.execute("SELECT status, count(*) FROM records GROUP BY status ORDER BY status").fetchall()
    return Stats(int(bool(found)), {status_of(status): count for status, count in found})
