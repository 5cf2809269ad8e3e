"""Dense scores around a store: a query's vector in time or not at all, and a worker told of new records."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Protocol

import structlog

from memory.backfill import Backfill
from memory.embedder import Embedder, EmbedderUnavailableError
from memory.record import TEXT_CHARS, Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import EraseReceipt, MemoryStore, Query, Retrieved, Vector, VectorKeeper

QUERY_UNEMBEDDED = "query_unembedded"
QUERIES_EMBEDDED_AGAIN = "queries_embedded_again"

DEADLINE_S = 0.3
WARM_S = 60.0
CACHED_QUERIES = 128
FIRST_REST_S = 1.0
LONGEST_REST_S = 60.0

_log = structlog.stdlib.get_logger(__name__)


class QueryVectors:
    """Vectors of queries. A query is embedded once; after a failure, reads go by words alone for a while."""

    def __init__(
        self, embedder: Embedder, *, deadline_s: float = DEADLINE_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._deadline_s = deadline_s
        self._monotonic = monotonic
        self._known: OrderedDict[bytes, Vector] = OrderedDict()
        self._failures = 0
        self._rests_until = 0.0
        self._is_retired = False

    async def vector(self, text: str) -> Vector | None:
        """The embedding of ``text``, or ``None`` when there is none within the deadline. Never raises."""
        if self._is_retired or not text.strip():
            return None
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._known.get(digest)
        if known is not None:
            self._known.move_to_end(digest)
            return known
        if self._is_resting():
            return None
        made = await self._made(text, self._deadline_s)
        if made is not None:
            self._known[digest] = made
            if len(self._known) > CACHED_QUERIES:
                self._known.popitem(last=False)
        return made

    async def warm(self) -> None:
        """Load what the first query would else wait for in vain; meant for the background. Never raises."""
        await self._made("warm", WARM_S)

    def clear(self) -> None:
        """Forget every query."""
        self._known.clear()

    def retire(self) -> None:
        """There is nothing to compare a query with: from now on none is embedded."""
        self._is_retired = True
        self.clear()

    async def _made(self, text: str, deadline_s: float) -> Vector | None:
        try:
            async with asyncio.timeout(deadline_s):
                (values,) = await self._embedder.embed([text[:TEXT_CHARS]])
        except (TimeoutError, EmbedderUnavailableError) as exc:
            self._rest(f"no vector within {deadline_s:g} s" if isinstance(exc, TimeoutError) else str(exc))
            return None
        if self._failures:
            _log.info(QUERIES_EMBEDDED_AGAIN, model=self._embedder.model, failures=self._failures)
        self._failures = 0
        return Vector(self._embedder.model, values)

    def _is_resting(self) -> bool:
        return self._failures > 0 and self._monotonic() < self._rests_until

    def _rest(self, reason: str) -> None:
        """Leave the embedder alone for a while, ever longer. Only the first failure in a row is logged."""
        if self._is_resting():
            return
        if self._failures == 0:
            _log.warning(QUERY_UNEMBEDDED, model=self._embedder.model, error=reason)
        rest_s = min(FIRST_REST_S * 2.0 ** min(self._failures, 16), LONGEST_REST_S)
        self._failures += 1
        self._rests_until = self._monotonic() + rest_s


class VectorStore(MemoryStore, VectorKeeper, Protocol):
    """A store that can hold embeddings."""


class SemanticStore:
    """Implements ``MemoryStore`` over another one: tells the backfill which scopes are read and written.

    Erasing forgets the vectors of queries too: they may repeat what is erased.
    """

    def __init__(self, store: VectorStore, backfill: Backfill, queries: QueryVectors) -> None:
        self._store = store
        self._backfill = backfill
        self._queries = queries

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        self._backfill.used(scope_key)
        return await self._store.retrieve(scope_key, query)

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        self._backfill.used(scope_key)
        return self._store.retrieve_at_once(scope_key, query)

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await self._store.get(scope_key, ids)

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        counts = await self._store.write(scope_key, candidates, idempotency_key=idempotency_key, cap=cap)
        if counts.inserted:
            self._backfill.wrote(scope_key)
        return counts

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        return await self._store.list(scope_key, limit, query=query, kind=kind, before=before)

    async def forget(self, scope_key: str, record_id: str) -> bool:
        return await self._store.forget(scope_key, record_id)

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        return await self._store.sweep(scope_key, dry_run=dry_run)

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        self._queries.clear()
        return await self._store.erase(scope_key, record_id)

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        self._queries.clear()
        return await self._store.erase_thread(thread_key)

    async def aclose(self) -> None:
        await self._store.aclose()
