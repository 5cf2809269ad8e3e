"""Changing a scope's SQLite file: what the engine plans, applied in one transaction."""

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory.engine import (
    FIRST_SEQUENCE,
    Dedup,
    Insert,
    Restate,
    deduped,
    mint_record,
    plan_eviction,
    plan_write,
    restated,
)
from memory.gate import tells_status
from memory.idempotency import KEPT, Applied, digest_of, earlier_counts
from memory.record import MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.stores.rows import norm_of, sequence_in
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import (
    INSERT_ENTRY,
    INSERT_RECORD,
    entry_of,
    microseconds,
    moment,
    record_of,
    values_of,
)
from memory.stores.sqlite_schema import transaction
from memory.text import storable


@dataclass(frozen=True, slots=True)
class Batch:
    candidates: tuple[MemoryCandidate, ...]
    now: datetime
    cap: int | None
    idempotency_key: str | None = None


def write(file: ScopeFile, batch: Batch) -> WriteCounts:
    connection = file.opened_writer()
    with transaction(connection):
        earlier = _earlier(connection, batch)
        if earlier is not None:
            return earlier
        counts = WriteCounts()
        for candidate in batch.candidates:
            counts += _apply(connection, file.scope_key, candidate, batch.now)
        counts += WriteCounts(evicted=_evict(connection, file.scope_key, batch.cap))
        _note_applied(connection, batch, counts)
        return counts


def forget(file: ScopeFile, record_id: str) -> bool:
    sequence = sequence_in(file.scope_key, record_id)
    connection = file.writer()
    if connection is None or sequence is None:
        return False
    with transaction(connection):
        return _retire(connection, sequence, Status.FORGOTTEN)


def sweep(file: ScopeFile, *, dry_run: bool) -> list[str]:
    connection = file.writer()
    if connection is None:
        return []
    with transaction(connection):
        rows = connection.execute("SELECT * FROM active_records WHERE kind = 'fact' ORDER BY seq").fetchall()
        records = [record_of(file.scope_key, row) for row in rows]
        swept = [record for record in records if tells_status(record.kind, record.text)]
        for record in () if dry_run else swept:
            _retire(connection, record.sequence, Status.SWEPT)
    return [record.id for record in swept]


def _earlier(connection: sqlite3.Connection, batch: Batch) -> WriteCounts | None:
    """What the batch was answered before, if it was."""
    if batch.idempotency_key is None:
        return None
    row = connection.execute(
        "SELECT digest, counts, at FROM applied WHERE key = ?", (storable(batch.idempotency_key),)
    ).fetchone()
    applied = None if row is None else _applied(row)
    return earlier_counts(applied, digest_of(batch.candidates), batch.now)


def _applied(row: tuple[Any, ...]) -> Applied:
    digest, counts, at = row
    try:
        return Applied(digest, WriteCounts(**json.loads(counts)), moment(at))
    except (TypeError, ValueError, OverflowError) as exc:
        raise sqlite3.DatabaseError("what was applied does not read") from exc


def _note_applied(connection: sqlite3.Connection, batch: Batch, counts: WriteCounts) -> None:
    if batch.idempotency_key is None:
        return
    connection.execute("DELETE FROM applied WHERE at < ?", (microseconds(batch.now - KEPT),))
    connection.execute(
        "INSERT OR REPLACE INTO applied (key, digest, counts, at) VALUES (?, ?, ?, ?)",
        (
            storable(batch.idempotency_key),
            digest_of(batch.candidates),
            json.dumps(asdict(counts)),
            microseconds(batch.now),
        ),
    )


def _apply(connection: sqlite3.Connection, scope_key: str, candidate: MemoryCandidate, now: datetime) -> WriteCounts:
    plan = plan_write(
        candidate,
        same_text=_same_text(connection, scope_key, candidate),
        named=_named(connection, scope_key, candidate),
    )
    match plan:
        case Restate(record):
            _update(connection, restated(record, candidate, now))
            return WriteCounts(restated=1)
        case Dedup(record):
            _update(connection, deduped(record, candidate))
            return WriteCounts(deduped=1)
        case Insert(superseded):
            if superseded is not None:
                _retire(connection, superseded.sequence, Status.SUPERSEDED)
            record = mint_record(scope_key, _next_sequence(connection), candidate, now)
            connection.execute(INSERT_RECORD, values_of(record))
            connection.execute(INSERT_ENTRY, entry_of(record))
            return WriteCounts(inserted=1, superseded=int(superseded is not None))


def _same_text(connection: sqlite3.Connection, scope_key: str, candidate: MemoryCandidate) -> list[MemoryRecord]:
    rows = connection.execute(
        "SELECT * FROM active_records WHERE seq = (SELECT min(seq) FROM records WHERE status = 'active' AND norm = ?)",
        (norm_of(candidate.text),),
    )
    return [record_of(scope_key, row) for row in rows.fetchall()]


def _named(connection: sqlite3.Connection, scope_key: str, candidate: MemoryCandidate) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    for pointer in (candidate.restates, candidate.supersedes):
        sequence = sequence_in(scope_key, pointer) if pointer else None
        rows = connection.execute("SELECT * FROM active_records WHERE seq = ?", (sequence,)).fetchall()
        found.extend(record_of(scope_key, row) for row in rows)
    return found


def _next_sequence(connection: sqlite3.Connection) -> int:
    """One more than any there ever was in this file: the id of an erased record never comes back."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
    return FIRST_SEQUENCE if found is None else int(found[0]) + 1


def _update(connection: sqlite3.Connection, record: MemoryRecord) -> None:
    """Bring up to date what being said once more changes of a row."""
    used_at = None if record.last_used_at is None else microseconds(record.last_used_at)
    connection.execute(
        "UPDATE records SET use_count = ?, last_used_at = ?, confidence = ?, is_standing = ? WHERE seq = ?",
        (record.use_count, used_at, record.confidence, record.is_standing, record.sequence),
    )


def _retire(connection: sqlite3.Connection, sequence: int, status: Status) -> bool:
    """Give an active row another status and take what is derived from it away; whether it was active."""
    changed = connection.execute(
        "UPDATE records SET status = ? WHERE seq = ? AND status = 'active'", (status, sequence)
    ).rowcount
    if changed:
        connection.execute("DELETE FROM records_fts WHERE rowid = ?", (sequence,))
        connection.execute("DELETE FROM vectors WHERE seq = ?", (sequence,))
    return changed > 0


def _evict(connection: sqlite3.Connection, scope_key: str, cap: int | None) -> int:
    if cap is None:
        return 0
    active = connection.execute("SELECT count(*) FROM records WHERE status = 'active'").fetchone()[0]
    if active <= cap:
        return 0
    rows = connection.execute("SELECT * FROM active_records ORDER BY seq").fetchall()
    by_id = {record.id: record for record in (record_of(scope_key, row) for row in rows)}
    evicted = plan_eviction(list(by_id.values()), cap)
    for record_id in evicted:
        _retire(connection, by_id[record_id].sequence, Status.EVICTED)
    return len(evicted)
