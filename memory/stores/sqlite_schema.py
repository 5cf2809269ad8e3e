"""The tables of a scope's SQLite file: how they came to be, version by version, and how they mend themselves."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from memory.stores.sqlite_connections import FAULTS, Fault, path_of
from memory.stores.sqlite_rows import INSERT_ENTRY, entry_of, packed_terms, record_of
from memory.text import TERMS_VERSION, record_terms

_INDEX = "CREATE VIRTUAL TABLE records_fts USING fts5 (words, terms, tokenize = 'unicode61')"
# A correction may say what an unrelated record says already, so only uncorrecting records are unique by their text.
_FIRST = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE records (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, text TEXT NOT NULL, norm BLOB NOT NULL,
        keywords TEXT NOT NULL, terms TEXT NOT NULL, source_thread_key TEXT NOT NULL, source_run_id TEXT,
        source_user TEXT, author TEXT, created_at INTEGER NOT NULL, last_used_at INTEGER, use_count INTEGER NOT NULL,
        confidence REAL, supersedes TEXT, is_standing INTEGER NOT NULL, status TEXT NOT NULL)""",
    "CREATE INDEX records_status_norm ON records (status, norm)",
    "CREATE UNIQUE INDEX records_said_once ON records (norm) WHERE status = 'active' AND supersedes IS NULL",
    "CREATE INDEX records_active_seq ON records (status, seq DESC)",
    "CREATE INDEX records_active_used ON records (status, last_used_at, created_at)",
    "CREATE INDEX records_thread ON records (source_thread_key)",
    """CREATE VIEW active_records AS SELECT
        seq, kind, text, keywords, terms, source_thread_key, source_run_id, source_user, author, created_at,
        last_used_at, use_count, confidence, supersedes, is_standing
        FROM records WHERE status = 'active'""",
    _INDEX,
)
_SECOND = (
    """CREATE TABLE vectors (
        seq INTEGER PRIMARY KEY, model TEXT NOT NULL, dim INTEGER NOT NULL, data BLOB NOT NULL)""",
    "CREATE INDEX records_standing ON records (seq DESC) WHERE status = 'active' AND is_standing = 1",
)
_THIRD = (
    """CREATE TABLE applied (
        key TEXT PRIMARY KEY, digest BLOB NOT NULL, counts TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID""",
)
MIGRATIONS = (_FIRST, _SECOND, _THIRD)
"""Statements that lead from each version to the next, the first from an empty file; ``user_version`` counts them."""

_ORPHAN = """SELECT EXISTS (SELECT 1 FROM records_fts_docsize AS entry WHERE NOT EXISTS (
    SELECT 1 FROM records WHERE seq = entry.id AND status = 'active'))"""
_COUNTS = "SELECT (SELECT count(*) FROM records WHERE status = 'active'), (SELECT count(*) FROM records_fts_docsize)"


@contextmanager
def transaction(connection: sqlite3.Connection, mode: str = "IMMEDIATE") -> Generator[None]:
    """All of the block or nothing of it."""
    connection.execute(f"BEGIN {mode}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def migrate(connection: sqlite3.Connection, scope_key: str) -> None:
    """Bring the file to the newest version. Raises ``sqlite3.DatabaseError`` for a newer one or another scope's."""
    found = version(connection)
    if found > len(MIGRATIONS):
        raise sqlite3.DatabaseError("the file was written by a newer version of the program")
    for number in range(found + 1, len(MIGRATIONS) + 1):
        with transaction(connection):
            if version(connection) < number:  # Another process may have been faster.
                for statement in MIGRATIONS[number - 1]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
                if number == 1:
                    set_meta(connection, "scope_key", json.dumps(scope_key))
                    set_meta(connection, "terms_version", str(TERMS_VERSION))
    if scope_key_of(connection) != scope_key:
        raise sqlite3.DatabaseError("the file belongs to another scope")


def mend(connection: sqlite3.Connection, scope_key: str) -> None:
    """Make the derived columns and the index fit the records again, where they do not."""
    if meta(connection, "terms_version") != str(TERMS_VERSION):
        with transaction(connection):
            _renew_terms(connection, scope_key)
            rebuild_index(connection, scope_key)
    elif not _index_fits(connection):
        with transaction(connection):
            rebuild_index(connection, scope_key)


def rebuild_index(connection: sqlite3.Connection, scope_key: str) -> None:
    """The full-text index anew: old segments keep what was deleted from them."""
    connection.execute("DROP TABLE IF EXISTS records_fts")
    connection.execute(_INDEX)
    rows = connection.execute("SELECT * FROM active_records").fetchall()
    connection.executemany(INSERT_ENTRY, (entry_of(record_of(scope_key, row)) for row in rows))


def version(connection: sqlite3.Connection) -> int:
    """How many of the migrations the file has behind it; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def scope_key_of(connection: sqlite3.Connection) -> str:
    """Raises ``sqlite3.DatabaseError`` for a file that does not tell."""
    try:
        return str(json.loads(meta(connection, "scope_key") or '""'))
    except ValueError as exc:
        raise sqlite3.DatabaseError("the file does not tell whose it is") from exc


def scope_key_at(connection: sqlite3.Connection, path: Path) -> str:
    """The same for a file that is found by its name.

    In another scope's place it would pass for that one, and its own would be there twice.
    """
    key = scope_key_of(connection)
    if path_of(path.parent.parent, key) != path:
        raise sqlite3.DatabaseError("the file belongs to another scope")
    return key


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if found is None else str(found[0])


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


def _index_fits(connection: sqlite3.Connection) -> bool:
    """Whether the index has exactly the active rows; its own list of entries is cheaper to read than its content."""
    try:
        active, entries = connection.execute(_COUNTS).fetchone()
        return active == entries and not connection.execute(_ORPHAN).fetchone()[0]
    except FAULTS as exc:
        if is_refused(exc):
            raise
        return False


def is_refused(exc: Fault) -> bool:
    """Whether the file is only not to be written or read at the moment, as opposed to broken."""
    code = getattr(exc, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR}


def _renew_terms(connection: sqlite3.Connection, scope_key: str) -> None:
    rows = connection.execute("SELECT * FROM active_records").fetchall()
    for record in (record_of(scope_key, row) for row in rows):
        terms = record_terms(record.text, record.keywords, record.author, record.created_at)
        connection.execute("UPDATE records SET terms = ? WHERE seq = ?", (packed_terms(terms), record.sequence))
    set_meta(connection, "terms_version", str(TERMS_VERSION))
