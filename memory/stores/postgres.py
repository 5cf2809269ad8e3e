"""The store over a PostgreSQL server, which several processes may use at once.

Whoever changes a scope holds the lock of its row, so writers of all processes take turns; whoever searches holds no
lock and reads a snapshot that the database says is current (``postgres_snapshot``, ``postgres_finding``). What erasing
leaves behind, and where, is told in ``postgres_erasing``.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import TypeVar

from psycopg.errors import UniqueViolation

from memory.engine import checked, put_back
from memory.ranker import Ranker
from memory.rankers import ranker_for
from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import EraseReceipt, LeaveAside, Query, RecordConflictError, Retrieved, Stats, StoreUnavailableError
from memory.stores import (
    postgres_archive,
    postgres_erasing,
    postgres_finding,
    postgres_listing,
    postgres_vectors,
    postgres_writing,
)
from memory.stores.postgres_rows import StaleTermsError
from memory.stores.postgres_schema import migrate
from memory.stores.postgres_scopes import Scope, Scopes
from memory.stores.postgres_server import DEFAULT_BOUNDS, Bounds, Server, Work
from memory.stores.rows import sequence_in
from memory.stores.searches import Listing, Search
from memory.text import forget_words, storable

MEMORY_DEGRADED = "memory_degraded"
SPACE_KEPT = "memory_space_kept"

Found = TypeVar("Found")


async def open_postgres(
    url: str,
    *,
    ranker: Ranker,
    now: Callable[[], datetime],
    cap: int | None = 500,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> "PostgresStore":
    """The store in the database at ``url``, whose tables are brought to the newest version; the caller closes it.

    ``cap``: how many active records a scope may hold; ``None`` for any number. Raises ``StoreUnavailableError``, which
    names host and database and never the password, when the server cannot be reached or refuses.
    """
    server = Server(url, bounds)
    seconds = bounds.migrate_s
    await server.alone(partial(migrate, name=server.name), deadline_s=seconds, statement_s=seconds)
    await server.open()
    return PostgresStore(server, ranker=ranker, now=now, cap=cap)


class PostgresStore:
    """Over a database that is migrated; ``open_postgres`` makes one."""

    def __init__(self, server: Server, *, ranker: Ranker, now: Callable[[], datetime], cap: int | None) -> None:
        self.server = server
        self._ranker = ranker
        self._now = now
        self._cap = cap
        self.scopes = Scopes(server.bounds.records)
        self._is_closed = False
        self._scrubbing = asyncio.Lock()
        self._erasures = self._scrubbed = 0

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        search = Search(query, ranker_for(query.ranker, self._ranker), self._now())
        found = await self._look(scope_key, lambda scope: postgres_finding.retrieve(self.server, scope, search))
        return found or Retrieved(is_degraded=True)

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:  # noqa: ARG002 - the port's
        self._require_open()
        return None

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await self._ask(scope_key, partial(postgres_listing.get, scope_key=scope_key, ids=ids))

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
        most, now = self._cap if cap is None else cap, self._now()
        prepare = partial(postgres_writing.batch_of, scope_key, candidates, now, cap=most, key=idempotency_key)
        work = partial(postgres_writing.write, batch=await asyncio.to_thread(prepare))
        async with self._at(scope_key) as scope, scope.writing:
            is_recognised = idempotency_key is not None
            return await self.server.change(work, is_recognised=is_recognised, is_pipelined=True)

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        listing = Listing(limit, query, kind, before)
        return await self._ask(scope_key, partial(postgres_listing.listed, scope_key=scope_key, listing=listing))

    async def forget(self, scope_key: str, record_id: str) -> bool:
        self._require_open()
        sequence = sequence_in(scope_key, record_id)
        if sequence is None:
            return False
        work = partial(postgres_writing.forget, scope_key=scope_key, sequence=sequence)
        return await self._change(scope_key, work)

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        return await self._change(scope_key, partial(postgres_writing.sweep, scope_key=scope_key, dry_run=dry_run))

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        """As the port says, as far as a server lets go of anything: see ``postgres_erasing``."""
        self._require_open()
        forget_words()
        if record_id is None:
            receipt = await self._change(scope_key, partial(postgres_erasing.erase_scope, scope_key=scope_key))
        else:
            sequence = sequence_in(scope_key, record_id)
            if sequence is None:
                return EraseReceipt()
            work = partial(postgres_erasing.erase_record, scope_key=scope_key, sequence=sequence)
            receipt = await self._change(scope_key, work)
        await self.scopes.forget(scope_key)
        await self._scrub(receipt)
        return receipt

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        """In one transaction over all scopes."""
        self._require_open()
        forget_words()
        async with self.server.within(self.server.bounds.deadline_s):
            work = partial(postgres_erasing.erase_thread, thread_key=storable(thread_key))
            receipt = await self.server.change(work)
        await self.scopes.forget_all()
        await self._scrub(receipt)
        return receipt

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        work = partial(postgres_listing.unembedded, scope_key=scope_key, model=model, limit=limit)
        return await self._ask(scope_key, work)

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        work = partial(postgres_vectors.keep_vectors, scope_key=scope_key, model=model, vectors=vectors)
        return await self._change(scope_key, work)

    async def scope_keys(
        self,
        limit: int,
        *,
        after: str | None = None,
        leave_aside: LeaveAside | None = None,  # noqa: ARG002 - the port's
    ) -> Sequence[str]:
        return await self._survey(partial(postgres_archive.scope_keys, limit=limit, after=after))

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        work = partial(postgres_listing.any_records, scope_key=scope_key, limit=limit, after=after)
        return await self._ask(scope_key, work)

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        self._require_open()
        whole = await asyncio.to_thread(lambda: [put_back(scope_key, record) for record in records])
        if not whole:
            return 0
        try:
            work = partial(postgres_archive.restore, scope_key=scope_key, records=whole)
            return await self._change(scope_key, work)
        except UniqueViolation as exc:
            raise RecordConflictError("the scope has the words of a record under another id") from exc

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:  # noqa: ARG002 - the port's
        return await self._survey(partial(postgres_archive.stats, scope_key=scope_key))

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self.server.close()

    async def _look(self, scope_key: str, work: Callable[[Scope], Awaitable[Found]]) -> Found | None:
        """Read; ``None`` and one warning until it works again when that is not possible."""
        self._require_open()
        try:
            found = await self._in_scope(scope_key, work)
        except StoreUnavailableError as exc:
            self.server.warnings.note(MEMORY_DEGRADED, str(exc))
            return None
        self.server.warnings.note(MEMORY_DEGRADED, None)
        return found

    async def _ask(self, scope_key: str, work: Work[Found]) -> Found:
        """Read. Raises ``StoreUnavailableError`` when that is not possible."""
        return await self._in_scope(scope_key, lambda _: self.server.read(work))

    async def _survey(self, work: Work[Found]) -> Found:
        """Read across scopes. Raises ``StoreUnavailableError`` when that is not possible."""
        self._require_open()
        async with self.server.within(self.server.bounds.deadline_s):
            return await self.server.read(work)

    async def _in_scope(self, scope_key: str, work: Callable[[Scope], Awaitable[Found]]) -> Found:
        """``work``, done again when it comes upon terms of an earlier version, once they are renewed."""
        async with self._at(scope_key) as scope:
            while True:
                try:
                    return await work(scope)
                except StaleTermsError:
                    async with scope.writing:
                        await self.server.change(partial(postgres_writing.renew_terms, scope_key=scope_key))

    async def _change(self, scope_key: str, work: Work[Found]) -> Found:
        """Write. Raises ``StoreUnavailableError`` when that is not possible; nothing has changed then."""
        async with self._at(scope_key) as scope, scope.writing:
            return await self.server.change(work)

    @asynccontextmanager
    async def _at(self, scope_key: str) -> AsyncGenerator[Scope]:
        self._require_open()
        if storable(scope_key) != scope_key:
            raise ValueError("a scope key is text without NUL and lone surrogates")
        async with self.server.within(self.server.bounds.deadline_s):
            with self.scopes.at(scope_key) as scope:
                yield scope

    async def _scrub(self, receipt: EraseReceipt) -> None:
        """Have the server give up the space of all that was erased so far, unless somebody else has just done it."""
        if not receipt.records:
            return
        self._erasures += 1
        own = self._erasures
        async with self._scrubbing:
            if self._scrubbed >= own:
                return
            until, seconds = self._erasures, self.server.bounds.scrub_s
            try:
                await self.server.alone(postgres_erasing.scrub, deadline_s=seconds, statement_s=seconds)
            except StoreUnavailableError as exc:
                self.server.warnings.note(SPACE_KEPT, str(exc))
            else:
                self.server.warnings.note(SPACE_KEPT, None)
                self._scrubbed = until

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailableError("the memory store is closed")
