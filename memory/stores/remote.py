"""The remote store: a client of the memory service that several bots can share (specification, sections 19 and 26)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import structlog

from memory.engine import checked
from memory.rankers import RANKERS
from memory.record import ID_CHARS, Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.service.wire import MOST_RECORDS, JsonObject, told_candidate
from memory.store import EraseReceipt, LeaveAside, Query, RankerName, Retrieved, Stats, StoreUnavailableError
from memory.stores import remote_answers as answers
from memory.stores import remote_archive, remote_vectors
from memory.stores.remote_calls import Call, Service
from memory.stores.remote_faults import ScopeFaultError, ServiceRestingError
from memory.stores.remote_questions import is_id, key_of, listing, search, text_of
from memory.stores.remote_trust import Credentials
from memory.text import forget_words

_log = structlog.stdlib.get_logger(__name__)

MEMORY_DEGRADED = "memory_degraded"

Read = TypeVar("Read")


class RemoteStore:
    """Implements ``MemoryStore``, ``VectorKeeper`` and ``MemoryArchive`` over a memory service.

    A search finds ``wire.MOST_RECORDS`` records at most, and as many standing ones; of a query longer than
    ``wire.QUERY_CHARS`` it is told the beginning and the end. A write takes ``wire.MOST_RECORDS`` candidates: it is
    all or nothing, so more raise ``ValueError``. Of records without a vector ``wire.MOST_EXPORTED`` are told at once.
    Times have whole milliseconds.

    When no answer came it is not known whether a change was made. A write is sent again with its key, by this store
    and by whoever passes the same ``idempotency_key`` later; forgetting and erasing may simply be asked again.
    """

    def __init__(
        self, service: Service, *, ranker: RankerName, now: Callable[[], datetime], cap: int | None = 500
    ) -> None:
        """``cap``: how many active records a scope may hold; ``None`` leaves it to the service."""
        self._service = service
        self._ranker: RankerName = ranker
        self._now = now
        self._cap = cap
        self._warned: set[tuple[str, str]] = set()
        self._is_closed = False

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        ranker = query.ranker or self._ranker
        call = Call("/retrieve", search(scope_key, query, ranker), is_read=True)
        found = await self._look(scope_key, call, partial(answers.found_in, scope_key=scope_key, query=query))
        if found is None:
            return Retrieved(is_degraded=True)
        hits = partial(answers.hits_of, found, query.text, RANKERS[ranker], self._now())
        return Retrieved(
            hits() if found.scores is not None else await asyncio.to_thread(hits), standing=tuple(found.standing)
        )

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:  # noqa: ARG002 - the port's
        self._require_open()
        return None

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        self._require_open()
        wanted = [each for each in dict.fromkeys(ids) if is_id(each)]
        found: dict[str, MemoryRecord] = {}
        for start in range(0, len(wanted), MOST_RECORDS):
            call = Call("/get", {"scopeKey": scope_key, "ids": wanted[start : start + MOST_RECORDS]}, is_read=True)
            values = answers.values_in(await self._ask(call), "/get")
            found.update((record.id, record) for record in answers.own_records(values, scope_key))
        return [found[each] for each in wanted if each in found]

    async def write(
        self,
        scope_key: str,
        candidates: Sequence[MemoryCandidate],
        *,
        idempotency_key: str | None = None,
        cap: int | None = None,
    ) -> WriteCounts:
        self._require_open()
        if len(candidates) > MOST_RECORDS:
            raise ValueError(f"a remote store takes at most {MOST_RECORDS} candidates at once")
        told = [told_candidate(checked(candidate)) for candidate in candidates]
        if not told:
            return WriteCounts()
        body: JsonObject = {"scopeKey": scope_key, "records": told}
        most = self._cap if cap is None else cap
        if most is not None:
            body["cap"] = most
        return answers.counts_in(await self._ask(Call("/write", body, key=key_of(idempotency_key))))

    async def list(
        self, scope_key: str, limit: int, *, query: str = "", kind: Kind | None = None, before: int | None = None
    ) -> Sequence[MemoryRecord]:
        self._require_open()
        found: list[MemoryRecord] = []
        while len(found) < limit and (before is None or before > 0):
            size = min(limit - len(found), MOST_RECORDS)
            answer = await self._ask(Call("/list", listing(scope_key, size, query, kind, before), is_read=True))
            values = answers.values_in(answer, "/list")
            # A service that cannot go on below a number would answer the same page for ever.
            page = [each for each in answers.own_records(values, scope_key) if before is None or each.sequence < before]
            found += page
            if len(values) < size or not page:
                break
            before = page[-1].sequence
        found = found[: max(0, limit)]
        return await asyncio.to_thread(answers.with_terms, found) if found else found

    async def forget(self, scope_key: str, record_id: str) -> bool:
        self._require_open()
        if not is_id(record_id):
            return False
        answer = await self._ask(Call("/forget", {"scopeKey": scope_key, "id": record_id}))
        return answers.done(answer, "/forget").get("forgotten") is True

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:
        """Asks for the ids first: the service names them only when nothing is swept."""
        answer = await self._ask(Call("/sweep", {"scopeKey": scope_key, "dryRun": True}, is_read=True))
        ids = answers.texts_in(answers.done(answer, "/sweep"), "ids") or []
        if ids and not dry_run:
            answers.done(await self._ask(Call("/sweep", {"scopeKey": scope_key})), "/sweep")
        return ids

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:
        forget_words()
        if record_id is None:
            return await self._erase({"scopeKey": scope_key})
        return await self._erase({"scopeKey": scope_key, "id": record_id} if is_id(record_id) else {})

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        forget_words()
        return await self._erase({"threadKey": text_of(thread_key)} if 0 < len(thread_key) <= ID_CHARS else {})

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        self._require_open()
        return await remote_vectors.unembedded(self._service, scope_key, model, limit)

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        """As the port says for those that fit into one request; more go in parts, of which the earlier ones stay."""
        self._require_open()
        return await remote_vectors.keep_vectors(self._service, scope_key, model, vectors)

    async def scope_keys(
        self, limit: int, *, after: str | None = None, leave_aside: LeaveAside | None = None
    ) -> Sequence[str]:
        self._require_open()
        return await remote_archive.scope_keys(self._service, limit, after, leave_aside)

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        self._require_open()
        return await remote_archive.records(self._service, scope_key, limit, after)

    async def restore(self, scope_key: str, records: Sequence[MemoryRecord]) -> int:
        """As the port says for up to ``wire.MOST_RECORDS`` of ordinary length.

        More go in parts, of which the earlier ones stay when a later one fails; doing it again ends it.
        """
        self._require_open()
        return await remote_archive.restore(self._service, scope_key, records)

    async def stats(self, scope_key: str | None = None, *, leave_aside: LeaveAside | None = None) -> Stats:
        self._require_open()
        return await remote_archive.stats(self._service, scope_key, leave_aside)

    async def aclose(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._service.aclose()

    async def _erase(self, body: JsonObject) -> EraseReceipt:
        """Nothing can have an id or a source that no body may name."""
        self._require_open()
        if not body:
            return EraseReceipt()
        answer = answers.done(await self._ask(Call("/erase", body, is_thorough=True)), "/erase")
        return EraseReceipt(answers.count_in(answer, "records"), answers.count_in(answer, "scopes"))

    async def _look(self, scope_key: str, call: Call, read: Callable[[Mapping[str, Any]], Read]) -> Read | None:
        """Read; ``None`` and one warning until it works again when that is not possible."""
        try:
            found = read(await self._ask(call))
        except (StoreUnavailableError, ValueError) as exc:
            self._require_open()
            self._warn(call.route, scope_key, exc)
            return None
        self._warned -= {(call.route, ""), (call.route, scope_key)}
        return found

    async def _ask(self, call: Call) -> Mapping[str, Any]:
        self._require_open()
        return await self._service.ask(call)

    def _warn(self, route: str, scope_key: str, fault: Exception) -> None:
        """Once for the service, and once for each scope that it alone cannot look into."""
        if self._warned and isinstance(fault, ServiceRestingError):
            return
        of = scope_key if isinstance(fault, ScopeFaultError) else ""
        if (route, of) not in self._warned:
            self._warned.add((route, of))
            _log.warning(MEMORY_DEGRADED, route=route, scope=of or None, reason=str(fault))

    def _require_open(self) -> None:
        if self._is_closed:
            raise StoreUnavailableError("the memory store is closed")


async def open_remote(
    base_url: str, credentials: Credentials, *, ranker: RankerName, now: Callable[[], datetime], cap: int | None
) -> RemoteStore:
    """Over the service at ``base_url``, which is first asked when there is something to ask.

    Raises ``TrustRefusedError``.
    """
    trust = await asyncio.to_thread(credentials.trust)
    return RemoteStore(Service(base_url, credentials.token, trust=trust), ranker=ranker, now=now, cap=cap)
