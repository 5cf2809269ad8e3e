"""Reading a scope in PostgreSQL: what people and turns ask for by name, and what still has no vector."""

import asyncio
from collections.abc import Sequence
from typing import LiteralString

from memory.ranker import matches_any
from memory.record import MemoryRecord
from memory.stores.postgres_rows import COLUMNS, RECORDS, Row, record_of, require_terms
from memory.stores.postgres_server import Connection
from memory.stores.rows import LARGEST_INTEGER, row_limit, sequence_in
from memory.stores.searches import Listing

_PAGE = 500
_ACTIVE: LiteralString = f"""SELECT scopes.terms_version, {COLUMNS}
    FROM scopes JOIN {RECORDS} ON records.scope = scopes.id WHERE scopes.key = %(key)s AND status = 'active'"""
GET: LiteralString = f"{_ACTIVE} AND records.seq = ANY(%(sequences)s)"
LIST: LiteralString = f"""{_ACTIVE} AND records.seq < %(before)s AND (%(kind)s::text IS NULL OR kind = %(kind)s)
    ORDER BY records.seq DESC LIMIT %(limit)s"""
_UNEMBEDDED: LiteralString = f"""{_ACTIVE} AND NOT EXISTS (
    SELECT 1 FROM vectors WHERE vectors.scope = records.scope AND vectors.seq = records.seq AND model = %(model)s)
    ORDER BY records.seq DESC LIMIT %(limit)s"""
_ANY: LiteralString = f"""SELECT {COLUMNS} FROM {RECORDS} JOIN scopes ON scopes.id = records.scope
    WHERE scopes.key = %(key)s AND records.seq > %(after)s ORDER BY records.seq LIMIT %(limit)s"""


async def get(connection: Connection, scope_key: str, ids: Sequence[str]) -> list[MemoryRecord]:
    """Raises ``StaleTermsError``, like all that follows but ``any_records``."""
    numbers = (sequence_in(scope_key, each) for each in dict.fromkeys(ids))
    sequences = [sequence for sequence in numbers if sequence is not None]
    cursor = await connection.execute(GET, {"key": scope_key, "sequences": sequences})
    found = {record.sequence: record for record in _records(scope_key, await cursor.fetchall())}
    return [found[sequence] for sequence in sequences if sequence in found]


async def listed(connection: Connection, scope_key: str, listing: Listing) -> list[MemoryRecord]:
    """With a query page after page, until enough of them match."""
    before = LARGEST_INTEGER if listing.before is None else row_limit(listing.before)
    shown: list[MemoryRecord] = []
    while len(shown) < listing.limit:
        page = _PAGE if listing.query else row_limit(listing.limit)
        values = {"key": scope_key, "before": before, "kind": listing.kind, "limit": page}
        rows = await (await connection.execute(LIST, values)).fetchall()
        records = await asyncio.to_thread(_matching, scope_key, rows, listing.query)
        shown.extend(records)
        if not listing.query or len(rows) < page:
            break
        before = int(rows[-1][1])
    return shown[: max(0, listing.limit)]


async def unembedded(connection: Connection, scope_key: str, model: str, limit: int) -> list[MemoryRecord]:
    cursor = await connection.execute(_UNEMBEDDED, {"key": scope_key, "model": model, "limit": row_limit(limit)})
    return _records(scope_key, await cursor.fetchall())


async def any_records(connection: Connection, scope_key: str, limit: int, after: int | None) -> list[MemoryRecord]:
    """Of every status, oldest first."""
    behind = -1 if after is None else min(max(-1, after), LARGEST_INTEGER)
    cursor = await connection.execute(_ANY, {"key": scope_key, "after": behind, "limit": row_limit(limit)})
    rows = await cursor.fetchall()
    return await asyncio.to_thread(lambda: [record_of(scope_key, row) for row in rows])


def _matching(scope_key: str, rows: Sequence[Row], query: str) -> list[MemoryRecord]:
    return [record for record in _records(scope_key, rows) if not query or matches_any(query, record)]


def _records(scope_key: str, rows: Sequence[Row]) -> list[MemoryRecord]:
    if rows:
        require_terms(rows[0][0])
    return [record_of(scope_key, row[1:]) for row in rows]
