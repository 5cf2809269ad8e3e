"""What memory holds already about a turn: the records that its extraction is shown. Counts no use."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.cues import sentences
from memory.grounding import telling
from memory.ranker import Ranker
from memory.record import MemoryRecord
from memory.scope import ScopeKeyError, parse_record_id, request_scopes
from memory.store import MemoryStore, Query, StoreUnavailableError
from memory.turn import FinishedTurn, Line

RELEVANT = 8
"""Per scope (specification, section 12)."""
STANDING = 8
NEAR_SENTENCES = 12
"""The last so many sentences of people are each compared with what is known."""
NEAR_SHARE = 2 / 3
POOL = 500
QUERY_CHARS = 2_000
SUMMARIES = 50
"""A thread's last summary is looked for among the newest so many of a scope."""


@dataclass(frozen=True, slots=True)
class Existing:
    records: tuple[MemoryRecord, ...] = ()
    """Each once, scope by scope, widest first."""
    summaries: Mapping[str, MemoryRecord] = field(default_factory=dict[str, MemoryRecord])
    """The thread's last summary, by scope."""
    scopes: int = 0
    """How many scopes the turn has."""
    unread: int = 0
    """How many of them could not be looked into."""


class Existence:
    """Reads ``store`` for reflections, through what counts no use."""

    def __init__(self, store: MemoryStore, ranker: Ranker) -> None:
        self._store = store
        self._ranker = ranker

    async def of(self, turn: FinishedTurn, lines: Sequence[Line]) -> Existing:
        """What is known about ``lines`` in every scope of ``turn``. Never raises."""
        said = [line.text for line in lines if line.role == "user" and not line.is_quoted]
        keys = scope_keys(turn)
        found = await asyncio.gather(*(self._look(key, turn, said) for key in keys))
        records = {record.id: record for each in found if each is not None for record in each.records}
        summaries = {
            record.scope_key: record for each in found if each is not None and (record := each.summary) is not None
        }
        return Existing(tuple(records.values()), summaries, len(keys), sum(each is None for each in found))

    async def _look(self, key: str, turn: FinishedTurn, said: Sequence[str]) -> "_Found | None":
        query = "\n".join(said)[-QUERY_CHARS:]
        ids = [each for each in turn.recalled_ids if (parsed := parse_record_id(each)) and parsed[0] == key]
        try:
            pool = await self._store.list(key, POOL, query=query)
            summaries = await self._store.list(key, SUMMARIES, kind="summary")
            standing = (await self._store.retrieve(key, Query("", 0, standing=STANDING))).standing
            recalled = await self._store.get(key, ids) if ids else ()
        except StoreUnavailableError:
            return None
        hits = await asyncio.to_thread(self._near, pool, query, said, turn.ended_at)
        last = next((each for each in summaries if each.source_thread_key == turn.thread_key), None)
        return _Found([*recalled, *standing, *hits], last)

    def _near(self, pool: Sequence[MemoryRecord], query: str, said: Sequence[str], now: datetime) -> list[MemoryRecord]:
        """The best matches of all that was said, and for each sentence the record that comes nearest."""
        ranked = [hit.record for hit in self._ranker.rank(pool, query, now)[:RELEVANT]]
        recent = [sentence for text in said for sentence in sentences(text)][-NEAR_SENTENCES:]
        return [*ranked, *_nearest(recent, pool)]


def scope_keys(turn: FinishedTurn) -> tuple[str, ...]:
    """The scopes of the turn, widest first; none when one of its ids makes no scope."""
    try:
        scopes = request_scopes(turn.organization, user_id=turn.user_id, channel_id=turn.channel_id, repo=turn.repo)
    except ScopeKeyError:
        return ()
    return scopes.keys()


def _nearest(said: Iterable[str], pool: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    nearest: list[MemoryRecord] = []
    for terms in map(telling, said):
        shared = [(sum(term in record.terms for term in terms), record) for record in pool]
        most, record = max(shared, key=lambda each: each[0], default=(0, None))
        if record is not None and most >= NEAR_SHARE * len(terms) > 0:
            nearest.append(record)
    return nearest


@dataclass(frozen=True, slots=True)
class _Found:
    records: Sequence[MemoryRecord]
    summary: MemoryRecord | None
