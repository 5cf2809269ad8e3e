"""The durable store: one SQLite file for each scope, so that no question can reach another scope's records."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from memory.engine import checked, put_back
from memory.ranker import Ranker
from memory.rankers import ranker_for
from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import (
    EraseReceipt,
    LeaveAside,
    Query,
    Retrieved,
    Stats,
    StoreDamagedError,
    StoreFullError,
    StoreUnavailableError,
)
from memory.stores import sqlite_archive, sqlite_erasing, sqlite_finding, sqlite_vectors, sqlite_writing
from memory.stores.searches import Listing, Search
from memory.stores.sqlite_connections import FAULTS, Fault, is_damaged, is_full, is_there, words_of
from memory.stores.sqlite_files import Lane, ScopeFile, in_lane
from memory.stores.sqlite_handles import DEFAULT_BOUNDS, Bounds, Handles
from memory.stores.sqlite_writing import Batch
from memory.text import forget_words, storable

_log = structlog.stdlib.get_logger(__name__)

MEMORY_DEGRADED = "memory_degraded"

Found = TypeVar("Found")
_Work = Callable[[ScopeFile], Found]


def _nothing(_file: ScopeFile) -> None:
    """What most of what is done in a lane has found before a thread begins."""


def _fault_of(fault: Fault, path: Path) -> StoreUnavailableError:
    kind = StoreDamagedError if is_damaged(fault) else StoreUnavailableError
    return (StoreFullError if is_full(fault) else kind)(f"the memory file {path} cannot be used: {words_of(fault)}")


class SqliteStore:
    """Over ``directory``, which other processes may use too.

    Every statement runs in a thread, but for the one that tells that what is in memory is what the file holds: a search
    of that is done before a thread would have begun.
    """

    def __init__(
        self,
        directory: Path,
        *,
        ranker: Ranker,
        now: Callable[[], datetime],
        cap: int | None = 500,
        bounds: Bounds = DEFAULT_BOUNDS,
    ) -> None:
        """``cap``: how many active records a scope may hold; ``None`` for any number."""
        self._directory = directory
        self._ranker = ranker
        self._now = now
        self._cap = cap
        self._bounds = bounds
        self._executor = ThreadPoolExecutor(bounds.threads, thread_name_prefix="memory")
        self.handles = Handles(directory, self._executor, bounds)
        self._warned: set[tuple[str, str]] = set()
        self._is_closed = False

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        found = self.retrieve_at_once(scope_key, query)
        if found is None:
            search = self._search(query)
            at_once = partial(sqlite_finding.retrieve_at_once, search=search)
            found = await self._look(scope_key, partial(sqlite_finding.retrieve, search=search), at_once)
        return found or Retrieved(is_degraded=True)

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        self._require_open()
        return self.handles.glance(scope_key, partial(sqlite_finding.retrieve_at_once, search=self._search(query)))

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await self._ask(scope_key, partial(sqlite_finding.get, ids=ids))

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        self._require_open()
        for candidate in candidates:
            checked(candidate)
        if not candidates:
            return WriteCounts()
        batch = Batch(tuple(candidates), self._now(), self._cap if cap is None else cap, idempotency_key)
        return await self._change(scope_key, partial(sqlite_writing.write, batch=batch))

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        listing = Listing(limit, query, kind, before)
        return await self._ask(scope_key, partial(sqlite_finding.listed, listing=listing))

    async def forget(self, scope_key: str, record_id: str) -> bool:
        return await self._change(scope_key, partial(sqlite_writing.forget, record_id=record_id))

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        return await self._change(scope_key, partial(sqlite_writing.sweep, dry_run=dry_run))

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        forget_words()
        if record_id is None:
            return await self._erase(scope_key, sqlite_erasing.erase_scope)
        return await self._erase(scope_key, partial(sqlite_erasing.erase_record, record_id=record_id))

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        """As the port says, scope by scope: when a file cannot be looked at, the others are erased before it raises."""
        self._require_open()
        forget_words()
        source = storable(thread_key)
        receipt = EraseReceipt()
        failures: dict[str, type[StoreUnavailableError]] = {}
        for path in await self._files():
            try:
                receipt += await self._erase_from(path, source)
            except FAULTS as exc:
                failures[str(_fault_of(exc, path))] = StoreUnavailableError
            except StoreUnavailableError as exc:
                failures[str(exc)] = type(exc)
        if failures:
            told = f"{receipt.records} records of {receipt.scopes} scopes were erased"
            kind = StoreFullError if StoreFullError in failures.values() else StoreUnavailableError
            raise kind(f"{told}, but {len(failures)} files could not be looked at: {next(iter(failures))}")
        return receipt

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        return await self._ask(scope_key, partial(sqlite_vectors.unembedded, model=model, limit=limit))

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        return await self._change(scope_key, partial(sqlite_vectors.keep_vectors, model=model, vectors=vectors))

    async def scope_keys(
        self, limit: int, *, after: str | None = None, leave_aside: LeaveAside | None = None
    ) -> Sequence[str]:
        self._require_open()
        found: list[str] = []
        for path in await self._files(after):
            if len(found) >= limit:
                break
            key = await self._peek(partial(sqlite_archive.scope_in, path, self._bounds.timeout_s), path, leave_aside)
            found.extend([] if key is None else [key])
        return found

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        return await self._ask(scope_key, partial(sqlite_archive.records, limit=limit, after=after))

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        self._require_open()
        whole = await asyncio.to_thread(lambda: [put_back(scope_key, record) for record in records])
        return await self._change(scope_key, partial(sqlite_archive.restore, given=whole)) if whole else 0

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:
        if scope_key is not None:
            return await self._ask(scope_key, sqlite_archive.stats)
        self._require_open()
        total = Stats()
        for path in await self._files():
            counted = await self._peek(
                partial(sqlite_archive.stats_of, path, self._bounds.timeout_s), path, leave_aside
            )
            total += counted or Stats()
        return total

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self.handles.close()
            await asyncio.to_thread(self._executor.shutdown)

    def _search(self, query: Query) -> Search:
        return Search(query, ranker_for(query.ranker, self._ranker), self._now())

    async def _look(self, scope_key: str, work: _Work[Found], at_once: _Work[Found | None] = _nothing) -> Found | None:
        """Read; ``None`` and one warning until it works again when that is not possible."""
        self._require_open()
        try:
            found = await self._ask(scope_key, work, at_once)
        except StoreUnavailableError as exc:
            self._note(MEMORY_DEGRADED, scope_key, str(exc))
            return None
        self._note(MEMORY_DEGRADED, scope_key, None)
        return found

    async def _ask(self, scope_key: str, work: _Work[Found], at_once: _Work[Found | None] = _nothing) -> Found:
        """Read. Raises ``StoreUnavailableError`` when that is not possible."""
        async with self.handles.lease(scope_key) as file:
            return await self._in_lane(file, file.reads, work, at_once)

    async def _change(self, scope_key: str, work: _Work[Found]) -> Found:
        """Write. Raises ``StoreUnavailableError`` when that is not possible; nothing has changed then."""
        async with self.handles.lease(scope_key) as file:
            return await self._in_lane(file, file.writes, work)

    async def _in_lane(
        self, file: ScopeFile, lane: Lane, work: _Work[Found], at_once: _Work[Found | None] = _nothing
    ) -> Found:
        try:
            return await in_lane(self._executor, file, lane, partial(work, file), at_once=partial(at_once, file))
        except FAULTS as exc:
            raise _fault_of(exc, file.path) from exc

    async def _erase_from(self, path: Path, thread_key: str) -> EraseReceipt:
        """Erase what the thread taught to the scope of that file."""
        peek = partial(sqlite_erasing.scope_taught_by, path, thread_key, self._bounds.timeout_s)
        scope_key = await self._in_place(peek)
        if scope_key is None:
            return EraseReceipt()
        return await self._erase(scope_key, partial(sqlite_erasing.erase_from_thread, thread_key=thread_key))

    async def _erase(self, scope_key: str, work: _Work[EraseReceipt]) -> EraseReceipt:
        try:
            return await self._change(scope_key, work)
        finally:
            # The rows may be gone although the file could not be rewritten yet.
            await self.handles.forget_reads(scope_key)

    async def _files(self, after: str | None = None) -> Sequence[Path]:
        """Of all scopes, or of those behind one. Raises ``StoreUnavailableError``."""
        try:
            return await self._in_place(lambda: list(sqlite_archive.paths(self._directory, after)))
        except OSError as exc:
            raise StoreUnavailableError(f"the memory folder {self._directory} cannot be read: {exc}") from exc

    async def _peek(self, work: Callable[[], Found], path: Path, leave_aside: LeaveAside | None) -> Found | None:
        """Look into a file beside the pool; ``None`` when it is gone, or left aside. Raises like ``scope_keys``."""
        try:
            return await self._in_place(work)
        except FAULTS as exc:
            if not await asyncio.to_thread(is_there, path):
                return None
            fault = _fault_of(exc, path)
            if leave_aside is None:
                raise fault from exc
            leave_aside(str(fault))
            return None

    async def _in_place(self, work: Callable[[], Found]) -> Found:
        async with self.handles.place():
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _note(self, event: str, scope_key: str, reason: str | None) -> None:
        """Warn of what is wrong with a scope, once until it has been right again (no reason)."""
        if reason is None:
            self._warned.discard((event, scope_key))
        elif (event, scope_key) not in self._warned:
            self._warned.add((event, scope_key))
            _log.warning(event, scope=scope_key, reason=reason)

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailableError("the memory store is closed")
