"""Changing a scope in PostgreSQL: what the engine plans, applied in one transaction."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import LiteralString

from psycopg.types.json import Jsonb

from memory.engine import mint_record, plan_eviction
from memory.gate import tells_status
from memory.idempotency import KEPT, Applied, digest_of, earlier_counts
from memory.record import MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.scope import record_id
from memory.stores.postgres_planning import Changes, Wish, plan_batch
from memory.stores.postgres_rows import (
    COLUMNS,
    INSERT_RECORD,
    RECORDS,
    UPSERT_USE,
    Row,
    record_of,
    renewed_terms,
    use_of,
    values_of,
)
from memory.stores.postgres_server import Connection
from memory.stores.postgres_turns import (
    Turn,
    active_count,
    drop_derived,
    first_turn_at,
    go_on,
    index,
    retire,
    turn_at,
)
from memory.stores.rows import norm_of, sequence_in
from memory.text import TERMS_VERSION, storable

TOUCHED: LiteralString = f"""SELECT {COLUMNS} FROM {RECORDS} WHERE records.scope = %(scope)s AND status = 'active'
    AND (norm = ANY(%(norms)s) OR records.seq = ANY(%(sequences)s)) ORDER BY records.seq"""
_USED: LiteralString = f"""SELECT records.seq, created_at, uses.last_used_at, is_standing FROM {RECORDS}
    WHERE records.scope = %s AND status = 'active'"""
_UPDATE: LiteralString = """UPDATE records SET status = %s, confidence = %s, is_standing = %s, changed = %s
    WHERE scope = %s AND seq = %s"""
_REMEMBER: LiteralString = """INSERT INTO applied (scope, key, digest, counts, at) VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (scope, key) DO UPDATE SET digest = excluded.digest, counts = excluded.counts, at = excluded.at"""


@dataclass(frozen=True, slots=True)
class Batch:
    """All of a batch that can be worked out before anybody waits for it."""

    scope_key: str
    wishes: tuple[Wish, ...]
    now: datetime
    cap: int | None
    key: str | None
    digest: bytes


def batch_of(
    scope_key: str, candidates: Sequence[MemoryCandidate], now: datetime, *, cap: int | None, key: str | None
) -> Batch:
    """Takes a moment for many candidates: their terms are computed here."""
    wishes = tuple(Wish(each, mint_record(scope_key, 0, each, now), norm_of(each.text)) for each in candidates)
    return Batch(scope_key, wishes, now, cap, None if key is None else storable(key), digest_of(candidates))


async def write(connection: Connection, batch: Batch) -> WriteCounts:
    turn = await first_turn_at(connection, batch.scope_key)
    earlier = await _earlier(connection, turn, batch)
    if earlier is not None:
        return earlier
    known = await _touched(connection, turn, batch)
    changes = plan_batch(batch.scope_key, batch.wishes, known, turn.next_sequence, batch.now)
    await _apply(connection, turn, changes)
    active = await active_count(connection, turn)
    evicted = [] if batch.cap is None or active <= batch.cap else await _surplus(connection, turn, batch, batch.cap)
    if evicted:
        await retire(connection, turn, evicted, Status.EVICTED)
    await index(connection, turn, active - len(evicted), [record.sequence for record in changes.inserted])
    counts = changes.counts + WriteCounts(evicted=len(evicted))
    await _note_applied(connection, turn, batch, counts)
    return counts


async def forget(connection: Connection, scope_key: str, sequence: int) -> bool:
    turn = await turn_at(connection, scope_key)
    return turn is not None and bool(await retire(connection, turn, [sequence], Status.FORGOTTEN))


async def sweep(connection: Connection, scope_key: str, *, dry_run: bool) -> list[str]:
    turn = await turn_at(connection, scope_key)
    if turn is None:
        return []
    cursor = await connection.execute(
        "SELECT seq, text FROM records WHERE scope = %s AND status = 'active' AND kind = 'fact' ORDER BY seq",
        (turn.scope,),
    )
    facts = await cursor.fetchall()
    swept = await asyncio.to_thread(lambda: [sequence for sequence, text in facts if tells_status("fact", text)])
    if swept and not dry_run:
        await retire(connection, turn, swept, Status.SWEPT)
    return [record_id(scope_key, sequence) for sequence in swept]


async def renew_terms(connection: Connection, scope_key: str) -> None:
    """Compute the terms of a scope anew, as this version does, whatever the status of the records."""
    turn = await turn_at(connection, scope_key)
    if turn is None or turn.terms_version >= TERMS_VERSION:
        return
    cursor = await connection.execute(
        f"SELECT {COLUMNS} FROM {RECORDS} WHERE records.scope = %s ORDER BY records.seq", (turn.scope,)
    )
    records = [record_of(scope_key, row) for row in await cursor.fetchall()]
    terms = await asyncio.to_thread(lambda: [renewed_terms(record) for record in records])
    await connection.cursor().executemany(
        "UPDATE records SET terms = %s, changed = %s WHERE scope = %s AND seq = %s",
        [(each, turn.version, turn.scope, record.sequence) for each, record in zip(terms, records, strict=True)],
    )
    if turn.is_indexed:
        await connection.execute("DELETE FROM record_terms WHERE scope = %s", (turn.scope,))
        active = [record.sequence for record in records if record.status is Status.ACTIVE]
        await index(connection, turn, len(active), active)
    await connection.execute("UPDATE scopes SET terms_version = %s WHERE id = %s", (TERMS_VERSION, turn.scope))


async def _earlier(connection: Connection, turn: Turn, batch: Batch) -> WriteCounts | None:
    """What the batch was answered before, if it was."""
    if batch.key is None:
        return None
    cursor = await connection.execute(
        "SELECT digest, counts, at FROM applied WHERE scope = %s AND key = %s", (turn.scope, batch.key)
    )
    row = await cursor.fetchone()
    applied = None if row is None else Applied(row[0], WriteCounts(**row[1]), row[2])
    return earlier_counts(applied, batch.digest, batch.now)


async def _touched(connection: Connection, turn: Turn, batch: Batch) -> list[MemoryRecord]:
    """The active records that a candidate says again or names, oldest first."""
    pointers = [pointer for wish in batch.wishes for pointer in (wish.candidate.restates, wish.candidate.supersedes)]
    named = [sequence_in(batch.scope_key, pointer) for pointer in pointers if pointer]
    values = {
        "scope": turn.scope,
        "norms": [wish.norm for wish in batch.wishes],
        "sequences": [each for each in named if each is not None],
    }
    cursor = await connection.execute(TOUCHED, values)
    return [record_of(batch.scope_key, row) for row in await cursor.fetchall()]


async def _apply(connection: Connection, turn: Turn, changes: Changes) -> None:
    """What is retired goes first: what is new may say the same."""
    cursor = connection.cursor()
    if changes.updated:
        rows = [
            (record.status.value, record.confidence, record.is_standing, turn.version, turn.scope, record.sequence)
            for record in changes.updated
        ]
        await cursor.executemany(_UPDATE, rows)
        retired = [record.sequence for record in changes.updated if record.status is not Status.ACTIVE]
        await drop_derived(connection, turn, retired)
    if changes.inserted:
        rows = [values_of(turn.scope, turn.version, record) for record in changes.inserted]
        await cursor.executemany(INSERT_RECORD, rows)
        await go_on(connection, turn, changes.inserted[-1].sequence + 1)
    used = [record for record in (*changes.updated, *changes.inserted) if record.use_count]
    if used:
        await cursor.executemany(UPSERT_USE, [use_of(turn.scope, record) for record in used])


async def _surplus(connection: Connection, turn: Turn, batch: Batch, cap: int) -> list[int]:
    """The records a full scope gives up."""
    rows = await (await connection.execute(_USED, (turn.scope,))).fetchall()
    active = [_as_used(batch.scope_key, row) for row in rows]
    evicted = set(plan_eviction(active, cap))
    return [record.sequence for record in active if record.id in evicted]


def _as_used(scope_key: str, row: Row) -> MemoryRecord:
    """As much of a record as eviction looks at."""
    sequence, created_at, used_at, is_standing = row
    record = MemoryRecord(record_id(scope_key, sequence), scope_key, "fact", "", (), "", created_at)
    return replace(record, last_used_at=used_at, is_standing=is_standing)


async def _note_applied(connection: Connection, turn: Turn, batch: Batch, counts: WriteCounts) -> None:
    if batch.key is None:
        return
    await connection.execute("DELETE FROM applied WHERE scope = %s AND at < %s", (turn.scope, batch.now - KEPT))
    values = (turn.scope, batch.key, batch.digest, Jsonb(asdict(counts)), batch.now)
    await connection.execute(_REMEMBER, values)
