"""The read path: every scope of a request at once, one pool, one budget, one block that stays stable in a session."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import structlog

from memory.composition import Budget, compose, continued
from memory.ranker import Ranker
from memory.record import MemoryRecord
from memory.render import block
from memory.scope import ScopeKind, Scopes, parse_record_id, scope_key
from memory.store import Hit, MemoryStore, Query, StoreUnavailableError, Vector

RECALL_TIMED_OUT = "recall_timed_out"
RECALL_INTERRUPTED = "recall_interrupted"

RECALL_S = 5.0
"""No answer waits longer for its memory."""
SESSIONS = 2_000
"""Conversations whose last block is remembered; a forgotten one costs a prompt cache, nothing else."""

_log = structlog.stdlib.get_logger(__name__)

Embed = Callable[[str], Awaitable[Vector | None]]
"""The embedding of a query, or ``None`` when there is none in time. Never raises."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What one request was given: reproducible from the scopes and the records' ids."""

    scope_keys: tuple[str, ...] = ()
    records: tuple[MemoryRecord, ...] = ()
    is_degraded: bool = False
    """A scope could not be looked into, so something may be missing."""

    @property
    def block(self) -> str | None:
        return block(self.scope_keys, self.records)


NOTHING = Recalled()


class Recall:
    """Reads ``store`` for requests. Never raises and never takes longer than ``recall_s``."""

    def __init__(
        self,
        store: MemoryStore,
        ranker: Ranker,
        budget: Budget,
        embed: Embed | None = None,
        *,
        recall_s: float = RECALL_S,
    ) -> None:
        self._store = store
        self._ranker = ranker
        self._budget = budget
        self._embed = embed
        self._recall_s = recall_s
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    async def recall(
        self, session: str, scopes: Scopes, query: str, repo: Awaitable[str | None] | None = None
    ) -> Recalled:
        """The records that go before the answer to ``query``.

        ``repo`` is the repository once somebody knows it; a failure to find out means that there is none.
        """
        try:
            async with asyncio.timeout(self._recall_s):
                recalled = await self._read(session, scopes, query, repo)
        except TimeoutError:
            _log.warning(RECALL_TIMED_OUT, session=session)
            return replace(NOTHING, is_degraded=True)
        self._shown[session] = _Shown(recalled.scope_keys, tuple(record.id for record in recalled.records))
        self._shown.move_to_end(session)
        while len(self._shown) > SESSIONS:
            self._shown.popitem(last=False)
        return recalled

    async def _read(self, session: str, scopes: Scopes, query: str, repo: Awaitable[str | None] | None) -> Recalled:
        vector = await self._embed(query) if self._embed is not None else None
        asked = Query(query, self._budget.limit, vector, standing=self._budget.limit)
        # The repository's scope is read last and stands last in the pool, so that equals keep the order of arrival.
        first = [key for key in (scopes.org, scopes.channel, scopes.user) if key is not None]
        if repo is None and scopes.repo is None:
            early, late = await self._look(first, asked), _Found()
        else:
            early, late = await asyncio.gather(self._look(first, asked), self._look_late(scopes, repo, asked))
        keys = replace(scopes, repo=late.scope_key).keys()
        hits = self._ranker.pooled([*early.hits, *late.hits], query)
        wanted = compose([*early.standing, *late.standing], [hit.record for hit in hits], self._budget)
        found = Recalled(keys, tuple(wanted), early.is_degraded or late.is_degraded)
        return await self._continue(session, found)

    async def _look_late(self, scopes: Scopes, repo: Awaitable[str | None] | None, query: Query) -> "_Found":
        key = scopes.repo
        if repo is not None:
            (resolved,) = await asyncio.gather(repo, return_exceptions=True)
            key = scope_key(ScopeKind.REPO, resolved) if isinstance(resolved, str) and resolved else None
        return replace(await self._look([key], query), scope_key=key) if key is not None else _Found()

    async def _look(self, keys: Sequence[str], query: Query) -> "_Found":
        retrieved = await asyncio.gather(*(self._store.retrieve(key, query) for key in keys))
        return _Found(
            hits=tuple(hit for found in retrieved for hit in found.hits),
            standing=tuple(record for found in retrieved for record in found.standing),
            is_degraded=any(found.is_degraded for found in retrieved),
        )

    async def _continue(self, session: str, found: Recalled) -> Recalled:
        """``found``, shaped so that it repeats what the session was shown last as far as possible."""
        last = self._shown.get(session)
        if last is None or last.scope_keys != found.scope_keys or not last.ids:
            return found
        known = {record.id: record for record in found.records}
        try:
            for key, ids in _by_scope(each for each in last.ids if each not in known).items():
                known |= {record.id: record for record in await self._store.get(key, ids)}
        except StoreUnavailableError as exc:
            _log.warning(RECALL_INTERRUPTED, session=session, reason=str(exc))
            return replace(found, is_degraded=True)
        if any(each not in known for each in last.ids):
            return found
        shown = [known[each] for each in last.ids]
        return replace(found, records=tuple(continued(shown, found.records, self._budget)))


def _by_scope(ids: Iterable[str]) -> dict[str, list[str]]:
    """Record ids by the key of their scope."""
    grouped: dict[str, list[str]] = {}
    for each in ids:
        parsed = parse_record_id(each)
        if parsed is not None:
            grouped.setdefault(parsed[0], []).append(each)
    return grouped


@dataclass(frozen=True, slots=True)
class _Shown:
    """A session's last block by name only: what is erased must not live on here."""

    scope_keys: tuple[str, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    hits: tuple[Hit, ...] = ()
    standing: tuple[MemoryRecord, ...] = ()
    is_degraded: bool = False
    scope_key: str | None = None
