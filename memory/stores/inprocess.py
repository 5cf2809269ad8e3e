"""The store that is a dictionary: for trying the bot out, and for tests. A restart forgets everything."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from memory.engine import (
    FIRST_SEQUENCE,
    Dedup,
    Insert,
    Restate,
    checked,
    deduped,
    mint_record,
    normalized,
    plan_eviction,
    plan_write,
    put_back,
    restated,
    used,
)
from memory.gate import tells_status
from memory.idempotency import KEPT, Applied, digest_of, earlier_counts
from memory.ranker import Ranker, matches_any
from memory.rankers import ranker_for
from memory.record import Kind, MemoryCandidate, MemoryRecord, Status, WriteCounts
from memory.store import (
    EraseReceipt,
    Hit,
    LeaveAside,
    Query,
    RecordConflictError,
    Retrieved,
    Stats,
    StoreUnavailableError,
)
from memory.stores.vectors import KeptVector, VectorTable, packed_alike
from memory.text import forget_words, query_terms, storable

_SEQUENCE = attrgetter("sequence")


@dataclass(slots=True)
class _Scope:
    """Records of every status by id, oldest first, and their deduplication keys; vectors: model and packed numbers."""

    records: dict[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    norms: dict[str, str] = field(default_factory=dict[str, str])
    vectors: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    next_sequence: int = FIRST_SEQUENCE
    applied: dict[str, Applied] = field(default_factory=dict[str, Applied])
    """Batches by their idempotency key, the latest last."""

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
        return self.retrieve_at_once(scope_key, query)

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved:
        scope, now = self._scope(scope_key), self._now()
        active = scope.active()
        ranker = ranker_for(query.ranker, self._ranker)
        found = ranker.rank(active, query.text, now, _similarity(scope, query), query.limit)
        hits = [Hit(used(hit.record, now), hit.score) for hit in found]
        scope.records.update((hit.record.id, hit.record) for hit in hits)
        standing = [record for record in reversed(active) if record.is_standing][: max(0, query.standing)]
        return Retrieved(tuple(hits), standing=tuple(standing))

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        records = self._scope(scope_key).records
        found = [records[each] for each in dict.fromkeys(ids) if each in records]
        return [record for record in found if record.status is Status.ACTIVE]

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        before = self._scope(scope_key)
        for candidate in candidates:
            checked(candidate)
        if not candidates:
            return WriteCounts()
        now = self._now()
        earlier = _earlier(before, idempotency_key, candidates, now)
        if earlier is not None:
            return earlier
        scope = _copy(before)
        counts = WriteCounts()
        for candidate in candidates:
            counts += _apply(scope, scope_key, candidate, now)
        most = self._cap if cap is None else cap
        evicted = plan_eviction(scope.active(), most) if most is not None else []
        for record_id in evicted:
            scope.retire(record_id, Status.EVICTED)
        counts += WriteCounts(evicted=len(evicted))
        if idempotency_key is not None:
            scope.applied[idempotency_key] = Applied(digest_of(candidates), counts, now)
        self._scopes[scope_key] = scope
        return counts

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

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        scope = self._scope(scope_key)
        swept = [record.id for record in scope.active() if tells_status(record.kind, record.text)]
        for record_id in () if dry_run else swept:
            scope.retire(record_id, Status.SWEPT)
        return swept

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

    async def scope_keys(
        self,
        limit: int,
        *,
        after: str | None = None,
        leave_aside: LeaveAside | None = None,  # noqa: ARG002 - the port's
    ) -> Sequence[str]:
        self._require_open()
        keys = sorted(key for key, scope in self._scopes.items() if scope.records and (after is None or key > after))
        return keys[: max(0, limit)]

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        found = self._scope(scope_key).records.values()
        behind = (record for record in found if after is None or record.sequence > after)
        return sorted(behind, key=_SEQUENCE)[: max(0, limit)]

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        scope = _copy(self._scope(scope_key))
        whole = {record.id: put_back(scope_key, record) for record in records}
        changed = [record for record in whole.values() if scope.records.get(record.id) != record]
        for record in changed:
            scope.records[record.id] = record
            scope.norms[record.id] = normalized(record.text)
            scope.vectors.pop(record.id, None)
            scope.next_sequence = max(scope.next_sequence, record.sequence + 1)
        scope.records = {record.id: record for record in sorted(scope.records.values(), key=_SEQUENCE)}
        said = [scope.norms[record.id] for record in scope.active() if not record.supersedes]
        if len(set(said)) < len(said):
            raise RecordConflictError("the scope has the words of a record under another id")
        if whole:
            self._scopes[scope_key] = scope
        return len(changed)

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:  # noqa: ARG002 - the port's
        self._require_open()
        scopes = [self._scope(scope_key)] if scope_key is not None else list(self._scopes.values())
        return sum((_counted(scope) for scope in scopes), Stats())

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
    return _Scope(dict(scope.records), dict(scope.norms), dict(scope.vectors), scope.next_sequence, dict(scope.applied))


def _earlier(
    scope: _Scope, key: str | None, candidates: Sequence[MemoryCandidate], now: datetime
) -> WriteCounts | None:
    """What the batch was answered before, if it was."""
    if key is None:
        return None
    scope.applied = {each: applied for each, applied in scope.applied.items() if now - applied.at <= KEPT}
    return earlier_counts(scope.applied.get(key), digest_of(candidates), now)


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
            scope.records[record.id] = deduped(record, candidate)
            return WriteCounts(deduped=1)
        case Insert(superseded):
            record = mint_record(scope_key, scope.next_sequence, candidate, now)
            scope.next_sequence += 1
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
        KeptVector(record_id, scope.records[record_id].author, blob)
        for record_id, (model, blob) in scope.vectors.items()
        if model == query.vector.model and len(blob) == size
    ]
    return VectorTable(fitting).similarity(query.vector.values, query_terms(query.text))


def _counted(scope: _Scope) -> Stats:
    return Stats(int(bool(scope.records)), Counter(record.status for record in scope.records.values()))


def _erase_records(scope: _Scope, ids: Sequence[str]) -> EraseReceipt:
    for record_id in ids:
        del scope.records[record_id], scope.norms[record_id]
        scope.vectors.pop(record_id, None)
    if ids:
        scope.applied.clear()
    return EraseReceipt(len(ids), int(bool(ids)))
