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
from memory.scope import ScopeKeyError, ScopeKind, Scopes, parse_record_id, scope_key
from memory.store import MemoryStore, Query, Retrieved, StoreUnavailableError, Vector

RECALL_TIMED_OUT = "recall_timed_out"
RECALL_INTERRUPTED = "recall_interrupted"

RECALL_S = 5.0
"""No answer waits longer for its memory."""
BLOCKS = 2_000
"""So many last blocks are remembered; a forgotten one costs a prompt cache, nothing else."""

_log = structlog.stdlib.get_logger(__name__)

_Reader = tuple[str, tuple[str, ...]]
"""A session and the scopes of who asks in it: people who take turns in a thread have a block each."""
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
        self._shown: OrderedDict[_Reader, tuple[str, ...]] = OrderedDict()
        """What was shown last, by ids only: what is erased must not live on here."""

    async def recall(
        self, session: str, scopes: Scopes, query: str, repo: Awaitable[str | None] | None = None
    ) -> Recalled:
        """The records that go before the answer to ``query``.

        ``repo`` is the repository once somebody knows it; a failure to find out means that there is none. It is only
        listened to: a task goes on when this call does not wait for it any more.
        """
        until = asyncio.get_running_loop().time() + self._recall_s
        found = await self._read(_Asking(session, query, until), scopes, repo)
        recalled = await self._continue(session, found, until)
        reader = session, recalled.scope_keys
        self._shown[reader] = tuple(record.id for record in recalled.records)
        self._shown.move_to_end(reader)
        while len(self._shown) > BLOCKS:
            self._shown.popitem(last=False)
        return recalled

    async def _read(self, asking: "_Asking", scopes: Scopes, repo: Awaitable[str | None] | None) -> Recalled:
        vector = await self._embed(asking.text) if self._embed is not None else None
        query = Query(asking.text, self._budget.limit, vector, standing=self._budget.limit)
        # The repository's scope stands last in the pool, so that equals keep the order of arrival.
        known = (scopes.org, scopes.channel, scopes.user, scopes.repo if repo is None else None)
        looks = self._look_into(asking, [key for key in known if key is not None], query)
        if repo is None:
            retrieved = await looks
        else:
            early, (repo_key, late) = await asyncio.gather(looks, self._look_late(asking, repo, query))
            scopes, retrieved = replace(scopes, repo=repo_key), [*early, late]
        hits = self._ranker.pooled([hit for each in retrieved for hit in each.hits], asking.text)
        standing = [record for each in retrieved for record in each.standing]
        wanted = compose(standing, [hit.record for hit in hits], self._budget)
        return Recalled(scopes.keys(), tuple(wanted), any(each.is_degraded for each in retrieved))

    async def _look_into(self, asking: "_Asking", keys: Sequence[str], query: Query) -> list[Retrieved]:
        """What each scope has, in the order of ``keys``: what is at hand without a task, the rest side by side."""
        found = {key: at_hand for key in keys if (at_hand := self._at_hand(asking, key, query)) is not None}
        rest = [key for key in keys if key not in found]
        if rest:
            found |= zip(rest, await asyncio.gather(*(self._look(asking, key, query) for key in rest)), strict=True)
        return [found[key] for key in keys]

    async def _look_late(
        self, asking: "_Asking", repo: Awaitable[str | None], query: Query
    ) -> tuple[str | None, Retrieved]:
        """The repository's scope, if there is one, and what it has."""
        try:
            async with asyncio.timeout_at(asking.until):
                (resolved,) = await asyncio.gather(asyncio.shield(repo), return_exceptions=True)
        except TimeoutError:
            _log.warning(RECALL_TIMED_OUT, session=asking.session, scope=ScopeKind.REPO)
            return None, Retrieved(is_degraded=True)
        key = _repo_key(resolved)
        return key, Retrieved() if key is None else await self._look(asking, key, query)

    async def _look(self, asking: "_Asking", key: str, query: Query) -> Retrieved:
        """What one scope has. When it cannot be looked into, or not in time, that costs nothing of the others."""
        try:
            async with asyncio.timeout_at(asking.until):
                return await self._store.retrieve(key, query)
        except TimeoutError:
            _log.warning(RECALL_TIMED_OUT, session=asking.session, scope=key)
        except StoreUnavailableError as exc:
            _log.warning(RECALL_INTERRUPTED, session=asking.session, scope=key, reason=str(exc))
        return Retrieved(is_degraded=True)

    def _at_hand(self, asking: "_Asking", key: str, query: Query) -> Retrieved | None:
        """As ``_look``, if the store need not be waited for."""
        try:
            return self._store.retrieve_at_once(key, query)
        except StoreUnavailableError as exc:
            _log.warning(RECALL_INTERRUPTED, session=asking.session, scope=key, reason=str(exc))
            return Retrieved(is_degraded=True)

    async def _continue(self, session: str, found: Recalled, until: float) -> Recalled:
        """``found``, shaped so that it repeats what the session's reader was shown last as far as possible."""
        last = self._shown.get((session, found.scope_keys), ())
        if not last:
            return found
        known = {record.id: record for record in found.records}
        try:
            async with asyncio.timeout_at(until):
                for key, ids in _by_scope(each for each in last if each not in known).items():
                    known |= {record.id: record for record in await self._store.get(key, ids)}
        except (StoreUnavailableError, TimeoutError) as exc:
            _log.warning(RECALL_INTERRUPTED, session=session, reason=str(exc))
            return replace(found, is_degraded=True)
        if any(each not in known for each in last):
            return found
        shown = [known[each] for each in last]
        return replace(found, records=tuple(continued(shown, found.records, self._budget)))


def _repo_key(resolved: object) -> str | None:
    """The scope of what a resolution ended in: a name, nothing, or a failure."""
    try:
        return scope_key(ScopeKind.REPO, resolved) if isinstance(resolved, str) else None
    except ScopeKeyError:
        return None


def _by_scope(ids: Iterable[str]) -> dict[str, list[str]]:
    """Record ids by the key of their scope."""
    grouped: dict[str, list[str]] = {}
    for each in ids:
        parsed = parse_record_id(each)
        if parsed is not None:
            grouped.setdefault(parsed[0], []).append(each)
    return grouped


@dataclass(frozen=True, slots=True)
class _Asking:
    session: str
    text: str
    until: float
    """The loop's time after which nobody waits any more."""
