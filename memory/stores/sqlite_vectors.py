"""Embeddings in a scope's SQLite file: one for each active record, beside it and rebuildable."""

from collections.abc import Mapping

from memory.record import MemoryRecord
from memory.stores.rows import row_limit, sequence_in
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import record_of
from memory.stores.sqlite_schema import transaction
from memory.stores.vectors import packed_alike


def unembedded(file: ScopeFile, model: str, limit: int) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    rows = connection.execute(
        "SELECT * FROM active_records AS record"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE seq = record.seq AND model = ?)"
        " ORDER BY seq DESC LIMIT ?",
        (model, row_limit(limit)),
    )
    return file.uses.shown_on([record_of(file.scope_key, row) for row in rows.fetchall()])


def keep_vectors(file: ScopeFile, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
    connection = file.writer()
    if connection is None:
        packed_alike(vectors, None)
        return 0
    with transaction(connection):
        known = connection.execute("SELECT dim FROM vectors WHERE model = ? LIMIT 1", (model,)).fetchone()
        kept = 0
        for record_id, blob in packed_alike(vectors, known[0] if known else None).items():
            kept += connection.execute(
                "INSERT OR REPLACE INTO vectors (seq, model, dim, data)"
                " SELECT seq, ?, ?, ? FROM records WHERE seq = ? AND status = 'active'",
                (model, len(blob) // 4, blob, sequence_in(file.scope_key, record_id)),
            ).rowcount
        return kept
