"""The memory store port. Its docstrings are the contract every adapter keeps; one suite holds them to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from memory.record import Kind, MemoryCandidate, MemoryRecord, Status, WriteCounts

RankerName = Literal["relevance", "keyword"]
LeaveAside = Callable[[str], None]
"""Told why a scope cannot be looked into, in words that are no record's."""


class StoreUnavailableError(Exception):
    """The store could not do what it was asked; nothing of it was done. Its text names no record's words."""


class StoreFullError(StoreUnavailableError):
    """There is no room to write in; reading goes on."""


class StoreDamagedError(StoreUnavailableError):
    """What is kept of one scope does not read, however often it is tried; the other scopes are not concerned."""


class NoVectorsError(StoreUnavailableError):
    """Where the records are, no vectors are kept, however often it is tried."""


class KeyReusedError(ValueError):
    """An idempotency key came again with another batch; nothing was written."""


class RecordConflictError(ValueError):
    """A record cannot be put back: the scope has its words under another id. Nothing of the call was done."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A text's embedding and the model that made it; vectors of different models are never compared."""

    model: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. ``text`` may be any text; ``vector`` is its embedding when there is one."""

    text: str
    limit: int
    vector: Vector | None = None
    standing: int = 0
    """How many standing records come along, whatever is looked for."""
    ranker: RankerName | None = None
    """Who orders what matches; ``None``: the store's own ranker."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that matches, and how well: above 0, at most about 1, comparable between scopes."""

    record: MemoryRecord
    score: float


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Hits, best first; ``is_degraded`` when the store could not look (properly) and said so in one warning."""

    hits: tuple[Hit, ...] = ()
    is_degraded: bool = False
    standing: tuple[MemoryRecord, ...] = ()
    """Active standing records, newest first. Coming along counts as no use."""


@dataclass(frozen=True, slots=True)
class EraseReceipt:
    """How much was removed for good, whatever its status was."""

    records: int = 0
    scopes: int = 0
    """Scopes that lost at least one record, or went although nobody could read any more what they had."""

    def __add__(self, other: "EraseReceipt") -> "EraseReceipt":
        return EraseReceipt(self.records + other.records, self.scopes + other.scopes)


class MemoryStore(Protocol):
    """Records, partitioned by scope key: every method but ``erase_thread`` sees exactly one scope.

    Adapters: null, in-process, SQLite, PostgreSQL, remote. Any text is a legal query. A search degrades, and
    says so; everything else that cannot be done raises ``StoreUnavailableError``. A closed store raises on everything.
    """

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        """At most ``query.limit`` active records that match, as the ranker orders them.

        A record that matches nothing is never among them. Counts as use: ``use_count`` grows by one and
        ``last_used_at`` becomes now on exactly these records, whose copies show that already. Whatever this store
        is asked next sees the count, and ``aclose`` keeps it; a process that dies may lose those of its last second.

        A durable store may choose its candidates by the 24 longest words of the query (section 17). At most
        ``query.standing`` standing records come along, as they were before the search.
        """
        ...

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        """As ``retrieve``, uses included, where the answer is at hand; called on the event loop, it waits for nothing.

        ``None``: it has to be waited for, so ``retrieve`` is to be asked; nothing was counted.
        """
        ...

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        """Those of ``ids`` that are active records of this scope, in the order of ``ids``. No use is counted."""
        ...

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        """Carry out ``engine.plan_write`` for each candidate in turn and then ``engine.plan_eviction``, all or nothing.

        A batch sees its own earlier inserts. Writers of one scope take turns. Raises ``ValueError`` for a candidate
        beyond the caps of ``memory.record``, before anything is written.

        ``cap`` takes the place of the store's own for this call: how many active records the scope keeps.

        A batch that comes again with its ``idempotency_key`` within a day is applied once and answered as it was;
        another batch with the key raises ``KeyReusedError``. Erasing from the scope forgets its keys.
        """
        ...

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        """Active records, newest first by sequence number; with ``query`` only those that match it at all.

        A query without a single token matches nothing. ``before`` goes on below that sequence number. No use counted.
        """
        ...

    async def forget(self, scope_key: str, record_id: str) -> bool:
        """Retire one active record for good (its row stays); whether there was one to retire."""
        ...

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        """Retire the active facts that ``gate.tells_status`` holds to be of a moment; their ids, oldest first.

        ``dry_run`` only tells. A second call finds nothing more.
        """
        ...

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        """Remove one record, or the whole scope, of any status, and leave no byte of it in files or caches."""
        ...

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        """Remove everything learned from one conversation, in every scope, like ``erase``."""
        ...

    async def aclose(self) -> None:
        """Release what is open; calling it again does nothing."""
        ...


@runtime_checkable
class VectorKeeper(Protocol):
    """What a store that can hold embeddings offers beside ``MemoryStore``. Vectors are derived and rebuildable.

    Both raise ``NoVectorsError`` where that turns out to be so only when it is asked.
    """

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        """Active records without a vector of ``model``, newest first. Their ``terms`` may be missing."""
        ...

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        """Keep vectors by record id, for records that are still active; how many were kept.

        The record's former vector, whoever made it, is replaced. Raises ``ValueError`` when dimensions differ.
        """
        ...


@dataclass(frozen=True, slots=True)
class Stats:
    """How much there is."""

    scopes: int = 0
    """Scopes that have a record of any status."""
    records: Mapping[Status, int] = field(default_factory=dict[Status, int])
    """Of each status that occurs."""

    def __add__(self, other: "Stats") -> "Stats":
        statuses = {*self.records, *other.records}
        both = {each: self.records.get(each, 0) + other.records.get(each, 0) for each in statuses}
        return Stats(self.scopes + other.scopes, both)


@runtime_checkable
class MemoryArchive(Protocol):
    """What a store offers beside ``MemoryStore`` so that everything in it can be counted, taken out and put back.

    Derived data (vectors, indexes) stays behind. Everything raises ``StoreUnavailableError`` when it cannot be done.
    """

    async def scope_keys(
        self, limit: int, *, after: str | None = None, leave_aside: LeaveAside | None = None
    ) -> Sequence[str]:
        """The scopes that have a record, at most ``limit``, in an order of the store's own that stays the same.

        ``after`` goes on behind that scope key, which need not exist any more. A scope that cannot be looked into is
        left out once ``leave_aside`` was told; without it that raises.
        """
        ...

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        """Records of every status, oldest first by sequence number, behind the number ``after``. No use is counted.

        Fewer than ``limit`` are all there are. Their ``terms`` are derived data and may be missing.
        """
        ...

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        """Put records back exactly as they are, all or nothing; how many of them were missing or different before.

        One whose id the scope has already takes its place. Ids that are given later lie above all of them; no cap is
        applied. Raises ``RecordConflictError``, and ``ValueError`` for a record of another scope or beyond the caps.
        """
        ...

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:
        """Of one scope, or of everything, for which every scope may have to be looked into.

        Of everything, ``leave_aside`` is what it is for ``scope_keys``.
        """
        ...
