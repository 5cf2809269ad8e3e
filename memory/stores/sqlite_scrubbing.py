"""Real erasure inside a scope's SQLite file: no byte of what was deleted stays in database, log or index."""

import sqlite3
import time

from memory.stores.sqlite_connections import PAUSE_S
from memory.stores.sqlite_schema import meta, rebuild_index, set_meta, transaction

_OWED = "scrub_owed"


def delete_by_thread(connection: sqlite3.Connection, scope_key: str, thread_key: str) -> int:
    return _delete(connection, scope_key, "SELECT seq FROM records WHERE source_thread_key = ?", thread_key)


def delete_by_sequence(connection: sqlite3.Connection, scope_key: str, sequence: int) -> int:
    return _delete(connection, scope_key, "SELECT seq FROM records WHERE seq = ?", sequence)


def delete_all(connection: sqlite3.Connection, scope_key: str) -> int:
    return _delete(connection, scope_key, "SELECT seq FROM records WHERE seq >= ?", 0)


def scrub_if_owed(connection: sqlite3.Connection) -> None:
    """Rewrite file and log without what was deleted, if that has not been done since.

    The debt is noted in the same transaction as the deletion, so a process that dies in between leaves it to the
    next one that opens the file. Raises ``sqlite3.OperationalError`` while a reader elsewhere holds the old log.
    """
    if meta(connection, _OWED) is None:
        return
    connection.execute("VACUUM")
    _empty_log(connection)
    connection.execute("DELETE FROM meta WHERE key = ?", (_OWED,))
    _empty_log(connection)


def _delete(connection: sqlite3.Connection, scope_key: str, chosen: str, value: str | int) -> int:
    with transaction(connection):
        sequences = connection.execute(chosen, (value,)).fetchall()
        if sequences:
            connection.executemany("DELETE FROM vectors WHERE seq = ?", sequences)
            connection.executemany("DELETE FROM records WHERE seq = ?", sequences)
            connection.execute("DELETE FROM applied")  # A digest can tell that a text was guessed right.
            rebuild_index(connection, scope_key)
            set_meta(connection, _OWED, "1")
    return len(sequences)


def _empty_log(connection: sqlite3.Connection) -> None:
    """Carry the log over and cut it off.

    SQLite waits for readers, but not for a connection that is just carrying the log over itself or closing.
    """
    until = time.monotonic() + connection.execute("PRAGMA busy_timeout").fetchone()[0] / 1_000
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > until:
            error = sqlite3.OperationalError("a reader elsewhere still holds the log of the file")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        time.sleep(PAUSE_S)
