"""Embeddings in PostgreSQL: one for each active record, beside it and rebuildable."""

from collections.abc import Mapping

from memory.stores.postgres_server import Connection
from memory.stores.postgres_turns import turn_at
from memory.stores.rows import sequence_in
from memory.stores.vectors import packed_alike


async def keep_vectors(
    connection: Connection, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]
) -> int:
    """Raises ``ValueError`` when dimensions differ."""
    turn = await turn_at(connection, scope_key)
    if turn is None:
        packed_alike(vectors, None)
        return 0
    cursor = await connection.execute(
        "SELECT dim FROM vectors WHERE scope = %s AND model = %s LIMIT 1", (turn.scope, model)
    )
    known = await cursor.fetchone()
    kept = 0
    for record_id, blob in packed_alike(vectors, known[0] if known else None).items():
        cursor = await connection.execute(
            "INSERT INTO vectors (scope, seq, model, dim, data) SELECT scope, seq, %s, %s, %s FROM records"
            " WHERE scope = %s AND seq = %s AND status = 'active' ON CONFLICT (scope, seq)"
            " DO UPDATE SET model = excluded.model, dim = excluded.dim, data = excluded.data",
            (model, len(blob) // 4, blob, turn.scope, sequence_in(scope_key, record_id)),
        )
        kept += cursor.rowcount
    return kept
