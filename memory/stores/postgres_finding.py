"""Searching a scope in PostgreSQL.

A scope of ordinary size is ranked whole, in memory, over a snapshot that one statement keeps current
(``postgres_snapshot``): two short statements for each search that finds something, this one and the one that counts
the use. Of a larger scope an index of its words chooses candidates in the database; only scopes that have outgrown
the snapshot have such an index, because it is several times the size of the records themselves.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import LiteralString

from psycopg.errors import ForeignKeyViolation

from memory.engine import used
from memory.pool import longest
from memory.record import MemoryRecord
from memory.scope import record_id
from memory.store import Hit, Retrieved, StoreUnavailableError
from memory.stores.postgres_rows import COLUMNS, LONGEST_TERM, RECORDS, record_of
from memory.stores.postgres_scopes import Scope, current
from memory.stores.postgres_server import Connection, Server
from memory.stores.postgres_snapshot import Snapshot, fetch_table
from memory.stores.rows import row_limit, sequence_in
from memory.stores.searches import Search, candidates_for, ranked
from memory.text import query_terms, storable, tokenize

USE_UNCOUNTED = "memory_use_uncounted"

# Words weigh as much as they are rare among the scope's records, as in BM25; of equals the newest come first.
INDEXED: LiteralString = f"""WITH active AS (
        SELECT count(*)::double precision AS size FROM records WHERE scope = %(scope)s AND status = 'active'),
    said AS (
        SELECT is_word, term, seq FROM record_terms WHERE scope = %(scope)s AND is_word AND term = ANY(%(words)s)
        UNION ALL
        SELECT is_word, term, seq FROM record_terms WHERE scope = %(scope)s AND NOT is_word AND term = ANY(%(terms)s)),
    rarity AS (
        SELECT is_word, term, ln(1 + (size - count(*) + 0.5) / (count(*) + 0.5)) AS weight
        FROM said, active GROUP BY is_word, term, size),
    liked AS (
        SELECT seq, row_number() OVER (PARTITION BY is_word ORDER BY sum(weight) DESC, seq DESC) AS place
        FROM said JOIN rarity USING (is_word, term) GROUP BY is_word, seq),
    chosen AS (
        SELECT seq, true AS is_candidate FROM liked WHERE place <= %(size)s
        UNION SELECT seq, true FROM unnest(%(closest)s::bigint[]) AS seq
        UNION SELECT seq, false FROM (
            SELECT seq FROM records WHERE scope = %(scope)s AND status = 'active' AND is_standing
            ORDER BY seq DESC LIMIT %(standing)s) AS newest)
    SELECT {COLUMNS}, is_candidate FROM chosen JOIN {RECORDS} ON records.seq = chosen.seq
    WHERE records.scope = %(scope)s AND status = 'active' ORDER BY records.seq"""
COUNT_USE: LiteralString = """WITH turn AS MATERIALIZED (
        SELECT id, set_config('synchronous_commit', 'off', true) FROM scopes WHERE id = %(scope)s FOR NO KEY UPDATE)
    INSERT INTO uses AS known (scope, seq, use_count, last_used_at)
    SELECT turn.id, seq, 1, %(now)s FROM turn, unnest(%(sequences)s::bigint[]) AS seq
    ON CONFLICT (scope, seq) DO UPDATE SET use_count = known.use_count + 1, last_used_at = excluded.last_used_at
    RETURNING seq, use_count, last_used_at"""


async def retrieve(server: Server, scope: Scope, search: Search) -> Retrieved:
    """Asks once more when something it found was erased before it could be counted. Raises ``StaleTermsError``."""
    while True:
        snapshot = await current(server, scope)
        if snapshot is None:
            return Retrieved()
        hits, standing = await _find(server, scope, snapshot, search)
        counted = await _count_use(server, scope, snapshot, hits, search.now) if hits else hits
        if counted is not None:
            return Retrieved(tuple(counted), standing=tuple(standing))
        scope.snapshot = None


async def _find(
    server: Server, scope: Scope, snapshot: Snapshot, search: Search
) -> tuple[list[Hit], list[MemoryRecord]]:
    similarity = await _similarity(server, scope, snapshot, search)
    query, pool = search.query, snapshot.pool
    if pool is not None and not similarity:
        # Arithmetic over what is in memory, shorter than the way to a thread and back.
        return ranked(pool, search, similarity), pool.standing(query.standing)
    if pool is None:
        records, standing = await _through_index(server, scope, snapshot, search, similarity)
    else:
        records, standing = pool, pool.standing(query.standing)
    return await asyncio.to_thread(ranked, records, search, similarity), standing


async def _similarity(server: Server, scope: Scope, snapshot: Snapshot, search: Search) -> Mapping[str, float]:
    vector = search.query.vector
    if vector is None or storable(vector.model) != vector.model:
        return {}
    table = snapshot.tables.get((vector.model, len(vector.values)))
    if table is None:
        table = await server.read(lambda connection: fetch_table(connection, scope.key, snapshot, vector))
    return await asyncio.to_thread(table.similarity, vector.values, query_terms(search.query.text))


async def _through_index(
    server: Server, scope: Scope, snapshot: Snapshot, search: Search, similarity: Mapping[str, float]
) -> tuple[Sequence[MemoryRecord], list[MemoryRecord]]:
    """What the index likes best for either ranker's idea of a word, and what lies closest; and what stands."""
    query = search.query
    size = row_limit(candidates_for(query.limit))
    closest = sorted(similarity, key=lambda each: -similarity[each])[:size]
    values = {
        "scope": snapshot.scope,
        "words": _chosen(tokenize(query.text)),
        "terms": _chosen(query_terms(query.text)),
        "size": size,
        "closest": [sequence for each in closest if (sequence := sequence_in(scope.key, each)) is not None],
        "standing": row_limit(query.standing),
    }

    async def ask(connection: Connection) -> list[tuple[MemoryRecord, bool]]:
        cursor = await connection.execute(INDEXED, values)
        return [(record_of(scope.key, row[:-1]), row[-1]) for row in await cursor.fetchall()]

    found = await server.read(ask)
    candidates = [record for record, is_candidate in found if is_candidate]
    return candidates, [record for record, is_candidate in reversed(found) if not is_candidate]


def _chosen(tokens: Sequence[str]) -> list[str]:
    return [storable(token)[:LONGEST_TERM] for token in longest(tokens)]


async def _count_use(
    server: Server, scope: Scope, snapshot: Snapshot, hits: Sequence[Hit], now: datetime
) -> list[Hit] | None:
    """The hits as they are with this use; ``None`` when one of them is not there any more."""
    sequences = sorted(hit.record.sequence for hit in hits)
    values = {"scope": snapshot.scope, "sequences": sequences, "now": now}

    async def count(connection: Connection) -> dict[str, tuple[int, datetime]]:
        cursor = await connection.execute(COUNT_USE, values)
        return {record_id(scope.key, sequence): (uses, at) for sequence, uses, at in await cursor.fetchall()}

    try:
        counted = await server.change_once(count)
    except ForeignKeyViolation:
        return None
    except StoreUnavailableError as exc:  # A full disk or a server that only reads is no reason not to answer.
        server.warnings.note(USE_UNCOUNTED, str(exc))
        return list(hits)
    server.warnings.note(USE_UNCOUNTED, None)
    if len(counted) < len(hits):
        return None
    shown = [Hit(_as_counted(hit.record, *counted[hit.record.id]), hit.score) for hit in hits]
    async with scope.loading:
        if scope.snapshot is not None and scope.snapshot.epoch == snapshot.epoch:
            scope.snapshot.count_use(hit.record for hit in shown)
    return shown


def _as_counted(record: MemoryRecord, uses: int, at: datetime) -> MemoryRecord:
    return used(record, at, uses - record.use_count)
