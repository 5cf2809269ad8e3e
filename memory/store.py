"""The memory store port. Its docstrings are the contract every adapter keeps; one suite holds them to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts


class StoreUnavailableError(Exception):
    """The store could not do what it was asked; nothing of it was done. Its text names no record's words."""


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
    """Scopes that lost at least one record."""

    def __add__(self, other: "EraseReceipt") -> "EraseReceipt":
        return EraseReceipt(self.records + other.records, self.scopes + other.scopes)


class MemoryStore(Protocol):
    """Records, partitioned by scope key: every method but ``erase_thread`` sees exactly one scope.

    Adapters: null, in-process, SQLite. Any text is a legal query. Reads degrade, commands of people and writes raise
    ``StoreUnavailableError``. A closed store raises on everything.
    """

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        """At most ``query.limit`` active records that match, as the store's ranker orders them.

        A record that matches nothing is never among them. Counts as use: ``use_count`` grows by one and
        ``last_used_at`` becomes now on exactly these records, whose copies show the state before. Whatever this store
        is asked next sees the count, and ``aclose`` keeps it; a process that dies may lose those of its last second.

        At most ``query.standing`` standing records come along, of the same moment.
        """
        ...

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        """Those of ``ids`` that are active records of this scope, in the order of ``ids``. No use is counted.

        Degrades to nothing.
        """
        ...

    async def write(self, scope_key: str, candidates: Sequence[MemoryCandidate]) -> WriteCounts:
        """Carry out ``engine.plan_write`` for each candidate in turn and then ``engine.plan_eviction``, all or nothing.

        A batch sees its own earlier inserts. Writers of one scope take turns. Raises ``ValueError`` for a candidate
        beyond the caps of ``memory.record``, before anything is written.
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
    """What a store that can hold embeddings offers beside ``MemoryStore``. Vectors are derived and rebuildable."""

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        """Active records without a vector of ``model``, newest first."""
        ...

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        """Keep vectors by record id, for records that are still active; how many were kept.

        A vector of another model for the same record is replaced. Raises ``ValueError`` when dimensions differ.
        """
        ...
