"""SQLite's full-text index of the transcript: derived, so that it can be made anew from the table at any time."""

from sqlalchemy import Connection, Engine

from app.state.errors import StateIndexDamagedError, mapped

TABLE = """CREATE VIRTUAL TABLE transcript_fts USING fts5(
content, content='transcript', content_rowid='id', tokenize='unicode61 remove_diacritics 2')"""
_SHADOWS = ("data", "idx", "docsize", "config")
_TAKEN_OUT = "INSERT INTO transcript_fts(transcript_fts, rowid, content) VALUES ('delete', old.id, old.content);"
_PUT_IN = "INSERT INTO transcript_fts(rowid, content) VALUES (new.id, new.content);"
_TRIGGERS = {
    "transcript_fts_insert": f"AFTER INSERT ON transcript BEGIN {_PUT_IN} END",
    "transcript_fts_delete": f"AFTER DELETE ON transcript BEGIN {_TAKEN_OUT} END",
    "transcript_fts_update": f"AFTER UPDATE OF id, content ON transcript BEGIN {_TAKEN_OUT} {_PUT_IN} END",
}


def mend(writing: Engine) -> None:
    """Makes the index anew, by the gentler way that works; ``writing`` is an engine whose transactions write.

    Raises ``StateDamagedError`` when neither does: then it is not the index alone.
    """
    try:
        with mapped(), writing.begin() as connection:
            rebuild(connection)
            verify(connection)
    except (StateIndexDamagedError, MemoryError):  # noise may be taken for a wish for more memory than there is
        with mapped(), writing.begin() as connection:
            renew(connection)
            verify(connection)


def rebuild(connection: Connection) -> None:
    """Its content anew, from the table, and the triggers that keep it in step."""
    for name, rest in _TRIGGERS.items():
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
        connection.exec_driver_sql(f"CREATE TRIGGER {name} {rest}")
    connection.exec_driver_sql("INSERT INTO transcript_fts(transcript_fts) VALUES ('rebuild')")


def renew(connection: Connection) -> None:
    """The index itself anew. One that cannot be opened cannot be dropped either, so its entry is taken out by hand."""
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.exec_driver_sql("DELETE FROM sqlite_master WHERE name = 'transcript_fts'")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    for shadow in _SHADOWS:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS transcript_fts_{shadow}")
    connection.exec_driver_sql(TABLE)
    rebuild(connection)


def verify(connection: Connection) -> None:
    """Compares the index with the table. Raises SQLite's own error, which ``mapped`` lays at the index."""
    connection.exec_driver_sql("INSERT INTO transcript_fts(transcript_fts, rank) VALUES ('integrity-check', 1)")
