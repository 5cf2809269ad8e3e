"""What a batch does to a scope, decided over the records it touches: the engine's plans, one after the other. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.engine import Dedup, Restate, deduped, plan_write, restated
from memory.record import MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.scope import record_id
from memory.stores.rows import norm_of


@dataclass(frozen=True, slots=True)
class Wish:
    """A candidate, the record it becomes if it is new (its number still to be given), and its deduplication key."""

    candidate: MemoryCandidate
    minted: MemoryRecord
    norm: bytes


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows as they are afterwards, oldest first."""

    inserted: tuple[MemoryRecord, ...]
    updated: tuple[MemoryRecord, ...]
    counts: WriteCounts


def plan_batch(
    scope_key: str, wishes: Sequence[Wish], known: Sequence[MemoryRecord], next_sequence: int, now: datetime
) -> Changes:
    """``known``: the scope's active records that share a key with a wish or are named by one, oldest first."""
    draft = _Draft(scope_key, known, next_sequence)
    counts = sum((draft.apply(wish, now) for wish in wishes), WriteCounts())
    inserted = tuple(record for record in draft.records.values() if record.sequence >= next_sequence)
    updated = tuple(
        record for record in draft.records.values() if record.sequence < next_sequence and record.id in draft.touched
    )
    return Changes(inserted, updated, counts)


class _Draft:
    """The records a batch may touch, as they stand after the candidates so far."""

    def __init__(self, scope_key: str, known: Sequence[MemoryRecord], next_sequence: int) -> None:
        self.records = {record.id: record for record in known}
        self.touched: set[str] = set()
        self._scope_key = scope_key
        self._next_sequence = next_sequence
        self._by_norm: dict[bytes, list[str]] = {}
        for record in known:
            self._by_norm.setdefault(norm_of(record.text), []).append(record.id)

    def apply(self, wish: Wish, now: datetime) -> WriteCounts:
        pointers = (wish.candidate.restates, wish.candidate.supersedes)
        plan = plan_write(
            wish.candidate,
            same_text=self._active(self._by_norm.get(wish.norm, ())),
            named=self._active([each for each in pointers if each]),
        )
        if isinstance(plan, Restate):
            self._put(restated(plan.record, wish.candidate, now))
            return WriteCounts(restated=1)
        if isinstance(plan, Dedup):
            self._put(deduped(plan.record, wish.candidate))
            return WriteCounts(deduped=1)
        if plan.superseded is not None:
            self._put(replace(plan.superseded, status=Status.SUPERSEDED))
        self._insert(wish)
        return WriteCounts(inserted=1, superseded=int(plan.superseded is not None))

    def _active(self, ids: Sequence[str]) -> list[MemoryRecord]:
        found = (self.records[each] for each in ids if each in self.records)
        return [record for record in found if record.status is Status.ACTIVE]

    def _put(self, record: MemoryRecord) -> None:
        self.records[record.id] = record
        self.touched.add(record.id)

    def _insert(self, wish: Wish) -> None:
        record = replace(wish.minted, id=record_id(self._scope_key, self._next_sequence))
        self._next_sequence += 1
        self.records[record.id] = record
        self._by_norm.setdefault(wish.norm, []).append(record.id)
