"""What one scope's file held when it was last read, kept so that the next search need not read it again."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from memory.pool import Pool
from memory.scope import record_id
from memory.store import Hit, Vector
from memory.stores.sqlite_rows import record_of
from memory.stores.sqlite_uses import Uses
from memory.stores.vectors import KeptVector, VectorTable


@dataclass(slots=True)
class Snapshot:
    """A scope's active records, oldest first, as of one ``PRAGMA data_version`` of the connection that read them."""

    version: int
    pool: Pool
    tables: dict[tuple[str, int], VectorTable] = field(default_factory=dict[tuple[str, int], VectorTable])
    """Vectors by model and dimension, as far as somebody asked for them."""

    def count_use(self, hits: Iterable[Hit]) -> None:
        """Do what the same connection will do to the rows, which leaves its data version as it is."""
        for hit in hits:
            self.pool.count_use(hit.record)


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection, of whatever process, has changed the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def load(connection: sqlite3.Connection, scope_key: str, version: int, uses: Uses) -> Snapshot:
    rows = connection.execute("SELECT * FROM active_records ORDER BY seq").fetchall()
    return Snapshot(version, Pool(uses.shown_on([record_of(scope_key, row) for row in rows])))


def vector_table(connection: sqlite3.Connection, scope_key: str, vector: Vector) -> VectorTable:
    """The scope's vectors that can be compared with ``vector``."""
    found = connection.execute(
        "SELECT seq, author, data FROM vectors JOIN records USING (seq) WHERE model = ? AND dim = ?",
        (vector.model, len(vector.values)),
    )
    return VectorTable(KeptVector(record_id(scope_key, sequence), author, data) for sequence, author, data in found)
