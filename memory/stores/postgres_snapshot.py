"""What one scope held when it was last looked at, kept so that the next search need not fetch it again.

One statement tells both whether a scope has changed since and what has: each record carries the number of the change
it was last part of, and the scope the number of its last change. A record that is gone without a trace (erased, or
put back over another) gives the scope a new epoch, and then everything is fetched again. So changes of other
processes show at once. How often records were used is no change: each search counts in the database and shows what
it counted; that others used a record shows in its place in the order when the scope is next changed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import LiteralString

from memory.pool import Pool
from memory.record import MemoryRecord
from memory.scope import record_id
from memory.store import Vector
from memory.stores.postgres_rows import COLUMNS, RECORDS, Row, require_terms
from memory.stores.postgres_server import Connection
from memory.stores.postgres_shelf import RowShelf
from memory.stores.vectors import KeptVector, VectorTable, keep_table

_SCOPE: LiteralString = "scopes.id, scopes.epoch, scopes.version, scopes.is_indexed, scopes.terms_version"
CHANGED: LiteralString = f"""SELECT {_SCOPE}, found.* FROM scopes LEFT JOIN LATERAL (
    SELECT {COLUMNS} FROM {RECORDS} WHERE records.scope = scopes.id AND records.changed > %(version)s
    AND scopes.epoch = %(epoch)s) AS found ON true WHERE scopes.key = %(key)s"""
WHOLE: LiteralString = f"""SELECT {_SCOPE}, found.* FROM scopes LEFT JOIN LATERAL (
    SELECT {COLUMNS} FROM {RECORDS} WHERE records.scope = scopes.id AND status = 'active'
    AND NOT scopes.is_indexed) AS found ON true WHERE scopes.key = %(key)s"""


@dataclass(slots=True)
class Snapshot:
    """A scope's active records as of one of its versions; ``None`` for a scope too large to rank whole."""

    scope: int
    epoch: int
    version: int
    breaks: int
    """Connections the server had lost until then."""
    shelf: RowShelf | None
    pool: Pool | None = field(init=False)
    """What is on the shelf, to be ranked."""
    tables: dict[tuple[str, int], VectorTable] = field(default_factory=dict[tuple[str, int], VectorTable])
    """Vectors by model and dimension, as far as somebody asked for them."""
    vectors: int = 0

    def __post_init__(self) -> None:
        self.pool = None if self.shelf is None else Pool(shelf=self.shelf)

    @property
    def weight(self) -> int:
        """Records and vectors it keeps in memory."""
        return 1 + (0 if self.pool is None else len(self.pool)) + self.vectors

    def count_use(self, records: Iterable[MemoryRecord]) -> None:
        """Show what was counted, unless more is known already."""
        if self.pool is not None:
            for record in records:
                self.pool.count_use(record)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the database told of a scope: as much as changed since the version that was known, or all of it."""

    scope: int
    epoch: int
    version: int
    is_indexed: bool
    rows: Sequence[Row]


async def look(connection: Connection, scope_key: str, known: Snapshot | None) -> Seen | None:
    """``None`` when nothing was ever written to the scope. Raises ``StaleTermsError``."""
    if known is None:
        cursor = await connection.execute(WHOLE, {"key": scope_key}, binary=True)
    else:
        place = {"key": scope_key, "version": known.version, "epoch": 0 if known.pool is None else known.epoch}
        cursor = await connection.execute(CHANGED, place)
    rows = await cursor.fetchall()
    if not rows:
        return None
    scope, epoch, version, is_indexed, terms_version, *_ = rows[0]
    require_terms(terms_version)
    return Seen(scope, epoch, version, is_indexed, [row[5:] for row in rows if row[5] is not None])


def covers(known: Snapshot, seen: Seen) -> bool:
    return known.epoch == seen.epoch and known.version >= seen.version


def brought_up(known: Snapshot | None, seen: Seen, scope_key: str, breaks: int) -> Snapshot | None:
    """The snapshot that ``seen`` leads to; ``None`` when everything has to be fetched again.

    ``known`` is what ``seen`` tells the changes of, or a later one of the same epoch; ``None`` if it tells everything.
    """
    if seen.is_indexed:
        return Snapshot(seen.scope, seen.epoch, seen.version, breaks, None)
    if known is not None and (known.pool is None or known.epoch != seen.epoch):
        return None
    before = None if known is None else known.shelf
    shelf = RowShelf(scope_key, seen.rows) if before is None else before.changed_by(seen.rows)
    return Snapshot(seen.scope, seen.epoch, seen.version, breaks, shelf)


async def fetch_table(connection: Connection, scope_key: str, snapshot: Snapshot, vector: Vector) -> VectorTable:
    """The scope's vectors that can be compared with ``vector``."""
    cursor = await connection.execute(
        "SELECT seq, author, data FROM vectors JOIN records USING (scope, seq)"
        " WHERE scope = %s AND model = %s AND dim = %s ORDER BY seq",
        (snapshot.scope, vector.model, len(vector.values)),
    )
    rows = await cursor.fetchall()
    found = [KeptVector(record_id(scope_key, sequence), author, data) for sequence, author, data in rows]
    table = await asyncio.to_thread(VectorTable, found)
    keep_table(snapshot.tables, (vector.model, len(vector.values)), table)
    snapshot.vectors = sum(map(len, snapshot.tables.values()))
    return table
