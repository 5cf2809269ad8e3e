"""The store that is a dictionary: for trying the bot out, and for tests. A restart forgets everything."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.engine import (
    Dedup,
    Insert,
    Restate,
    checked,
    deduped,
    mint_record,
    normalized,
    plan_eviction,
    plan_write,
    restated,
    used,
)
from memory.ranker import Ranker, matches_any
from memory.record import Kind, MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.store import EraseReceipt, Query, Retrieved, StoreUnavailableError
from memory.stores.vectors import VectorTable, packed_alike
from memory.text import forget_words, storable


@dataclass(slots=True)
class _Scope:
    """Records of every status by id, oldest first, and their deduplication keys; vectors: model and packed numbers."""

    records: dict[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    norms: dict[str, str] = field(default_factory=dict[str, str])
    vectors: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    last_sequence: int = 0

    def active(self) -> list[MemoryRecord]:
        return [record for record in self.records.values() if record.status is Status.ACTIVE]

    def retire(self, record_id: str, status: Status) -> None:
        self.records[record_id] = replace(self.records[record_id], status=status)
        self.vectors.pop(record_id, None)


class InProcessStore:
    """Over a dictionary. No method awaits anything between its first and its last line, so each is atomic."""

    def __init__(self, *, ranker: Ranker, now: Callable[[], datetime], cap: int | None = 500) -> None:
        """``cap``: how many active records a scope may hold; ``None`` for any number."""
        self._ranker = ranker
        self._now = now
        self._cap = cap
        self._scopes: dict[str, _Scope] = {}
        self._is_closed = False

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        scope = self._scope(scope_key)
        now = self._now()
        active = scope.active()
        hits = self._ranker.rank(active, query.text, now, _similarity(scope, query))[: max(0, query.limit)]
        for hit in hits:
            scope.records[hit.record.id] = used(hit.record, now)
        standing = [record for record in reversed(active) if record.is_standing][: max(0, query.standing)]
        return Retrieved(tuple(hits), standing=tuple(standing))

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        records = self._scope(scope_key).records
        found = [records[each] for each in dict.fromkeys(ids) if each in records]
        return [record for record in found if record.status is Status.ACTIVE]

    async def write(self, scope_key: str, candidates: Sequence[MemoryCandidate]) -> WriteCounts:
        before = self._scope(scope_key)
        for candidate in candidates:
            checked(candidate)
        scope = _copy(before)
        now = self._now()
        counts = WriteCounts()
        for candidate in candidates:
            counts += _apply(scope, scope_key, candidate, now)
        evicted = plan_eviction(scope.active(), self._cap) if self._cap is not None else []
        for record_id in evicted:
            scope.retire(record_id, Status.EVICTED)
        if candidates:
            self._scopes[scope_key] = scope
        return counts + WriteCounts(evicted=len(evicted))

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        shown = [
            record
            for record in reversed(self._scope(scope_key).active())
            if (kind is None or record.kind == kind)
            and (before is None or record.sequence < before)
            and (not query or matches_any(query, record))
        ]
        return shown[: max(0, limit)]

    async def forget(self, scope_key: str, record_id: str) -> bool:
        scope = self._scope(scope_key)
        record = scope.records.get(record_id)
        if record is None or record.status is not Status.ACTIVE:
            return False
        scope.retire(record_id, Status.FORGOTTEN)
        return True

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        scope = self._scope(scope_key)
        forget_words()
        if record_id is None:
            self._scopes.pop(scope_key, None)
            return EraseReceipt(len(scope.records), int(bool(scope.records)))
        return _erase_records(scope, [record_id] if record_id in scope.records else [])

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        self._require_open()
        forget_words()
        source = storable(thread_key)
        receipt = EraseReceipt()
        for scope in self._scopes.values():
            found = [each.id for each in scope.records.values() if each.source_thread_key == source]
            receipt += _erase_records(scope, found)
        return receipt

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        scope = self._scope(scope_key)
        have = {record_id for record_id, (made_by, _) in scope.vectors.items() if made_by == model}
        return [record for record in reversed(scope.active()) if record.id not in have][: max(0, limit)]

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        scope = self._scope(scope_key)
        known = next((len(blob) // 4 for made_by, blob in scope.vectors.values() if made_by == model), None)
        kept = {
            record_id: (model, blob)
            for record_id, blob in packed_alike(vectors, known).items()
            if record_id in scope.records and scope.records[record_id].status is Status.ACTIVE
        }
        scope.vectors.update(kept)
        return len(kept)

    async def aclose(self) -> None:
        self._scopes.clear()
        self._is_closed = True

    def _scope(self, scope_key: str) -> _Scope:
        """The scope as it is, or an empty one that nobody keeps unless it is written to."""
        self._require_open()
        return self._scopes.get(scope_key) or _Scope()

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailableError("the memory store is closed")


def _copy(scope: _Scope) -> _Scope:
    return _Scope(dict(scope.records), dict(scope.norms), dict(scope.vectors), scope.last_sequence)


def _apply(scope: _Scope, scope_key: str, candidate: MemoryCandidate, now: datetime) -> WriteCounts:
    active = scope.active()
    key = normalized(candidate.text)
    pointers = (candidate.restates, candidate.supersedes)
    plan = plan_write(
        candidate,
        same_text=[record for record in active if scope.norms[record.id] == key],
        named=[scope.records[each] for each in pointers if each in scope.records],
    )
    match plan:
        case Restate(record):
            scope.records[record.id] = restated(record, candidate, now)
            return WriteCounts(restated=1)
        case Dedup(record):
            scope.records[record.id] = deduped(record)
            return WriteCounts(deduped=1)
        case Insert(superseded):
            scope.last_sequence += 1
            record = mint_record(scope_key, scope.last_sequence, candidate, now)
            scope.records[record.id] = record
            scope.norms[record.id] = key
            if superseded is not None:
                scope.retire(superseded.id, Status.SUPERSEDED)
            return WriteCounts(inserted=1, superseded=int(superseded is not None))


def _similarity(scope: _Scope, query: Query) -> dict[str, float]:
    if query.vector is None:
        return {}
    size = len(query.vector.values) * 4
    fitting = [
        (record_id, blob)
        for record_id, (model, blob) in scope.vectors.items()
        if model == query.vector.model and len(blob) == size
    ]
    return VectorTable(fitting).similarity(query.vector.values)


def _erase_records(scope: _Scope, ids: Sequence[str]) -> EraseReceipt:
    for record_id in ids:
        del scope.records[record_id], scope.norms[record_id]
        scope.vectors.pop(record_id, None)
    return EraseReceipt(len(ids), int(bool(ids)))
