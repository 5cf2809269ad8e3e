"""The store of a database that was not there when the bot began: memory is missing until it is, and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

import structlog

from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import EraseReceipt, MemoryStore, Query, Retrieved, StoreUnavailableError, VectorKeeper

MEMORY_AWAITED = "memory_awaited"
MEMORY_ARRIVED = "memory_arrived"

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0

_log = structlog.stdlib.get_logger(__name__)


class KeepingStore(MemoryStore, VectorKeeper, Protocol):
    """A store that can hold embeddings."""


class LateStore:
    """Implements ``MemoryStore`` and ``VectorKeeper`` over a store that ``awaited`` opens, as soon as it can be."""

    def __init__(self, opening: Callable[[], Awaitable[KeepingStore]], reason: str) -> None:
        """``reason``: why it cannot be opened; names no secret. ``opening`` raises ``StoreUnavailableError``."""
        self._opening = opening
        self._reason = reason
        self._store: KeepingStore | None = None
        self._is_closed = False

    async def awaited(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Try again, ever less often, until the store is open. Runs beside everything else."""
        pause_s = FIRST_PAUSE_S
        _log.warning(MEMORY_AWAITED, reason=self._reason)
        while self._store is None and not self._is_closed:
            await sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            try:
                self._store = await self._opening()
            except StoreUnavailableError as fault:
                self._reason = str(fault)
            else:
                _log.info(MEMORY_ARRIVED)

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        store = self._open()
        return Retrieved(is_degraded=True) if store is None else await store.retrieve(scope_key, query)

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        store = self._open()
        return Retrieved(is_degraded=True) if store is None else store.retrieve_at_once(scope_key, query)

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await self._required().get(scope_key, ids)

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        return await self._required().write(scope_key, candidates, idempotency_key=idempotency_key, cap=cap)

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        return await self._required().list(scope_key, limit, query=query, kind=kind, before=before)

    async def forget(self, scope_key: str, record_id: str) -> bool:
        return await self._required().forget(scope_key, record_id)

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        return await self._required().sweep(scope_key, dry_run=dry_run)

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        return await self._required().erase(scope_key, record_id)

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        return await self._required().erase_thread(thread_key)

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        return await self._required().unembedded(scope_key, model, limit)

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        return await self._required().keep_vectors(scope_key, model, vectors)

    async def aclose(self) -> None:
        """Whoever runs ``awaited`` has ended it by then."""
        self._is_closed = True
        if self._store is not None:
            await self._store.aclose()

    def _open(self) -> KeepingStore | None:
        if self._is_closed:
            raise StoreUnavailableError("the memory store is closed")
        return self._store

    def _required(self) -> KeepingStore:
        store = self._open()
        if store is None:
            raise StoreUnavailableError(self._reason)
        return store
