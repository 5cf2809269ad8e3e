"""What one scope's file held when it was last read, kept so that the next search need not read it again."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from memory.engine import used
from memory.record import MemoryRecord
from memory.scope import record_id
from memory.store import Hit, Vector
from memory.stores.sqlite_rows import record_of
from memory.stores.vectors import VectorTable


@dataclass(slots=True)
class Snapshot:
    """A scope's active records, oldest first, as of one ``PRAGMA data_version`` of the connection that read them."""

    version: int
    records: list[MemoryRecord]
    tables: dict[tuple[str, int], VectorTable] = field(default_factory=dict[tuple[str, int], VectorTable])
    """Vectors by model and dimension, as far as somebody asked for them."""

    def count_use(self, hits: Iterable[Hit], now: datetime) -> None:
        """Repeat what the same connection did to the rows, which leaves its data version as it is."""
        changed = {hit.record.id: used(hit.record, now) for hit in hits}
        for position, record in enumerate(self.records):
            if record.id in changed:
                self.records[position] = changed[record.id]


def data_version(connection: sqlite3.Connection) -> int:
    """A number that changes when another connection, of whatever process, has changed the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def load(connection: sqlite3.Connection, scope_key: str, version: int) -> Snapshot:
    rows = connection.execute("SELECT * FROM active_records ORDER BY seq").fetchall()
    return Snapshot(version, [record_of(scope_key, row) for row in rows])


def vector_table(connection: sqlite3.Connection, scope_key: str, vector: Vector) -> VectorTable:
    """The scope's vectors that can be compared with ``vector``."""
    found = connection.execute(
        "SELECT seq, data FROM vectors WHERE model = ? AND dim = ?", (vector.model, len(vector.values))
    )
    return VectorTable((record_id(scope_key, sequence), data) for sequence, data in found)
