"""Finds the conversation that a caller is in, and the sessions it has had."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from app.channel import ThreadKey
from app.dispatch.conversation_keys import keys_of, only_speaker, sources_of, stem_for_admins, stem_of
from app.dispatch.keying import Keying
from app.dispatch.work import Work
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.lines import Lines
from app.sessions.source import SessionSource
from app.sessions.store import SessionStore
from app.sessions.transcript import PastSession, TranscriptMessage
from commands.errors import BusyError, NotFoundError
from commands.spec import Caller

EVERY = 2**31 - 1
"""A limit that is none."""
AT_ONCE = 500
"""Keys asked about in one statement, which takes a limited number of values."""
HITS = 1_000
"""Lines of one search; more of them are in no more sessions than anybody reads about."""
BUSY = "an answer is under way in this conversation; wait for it or say `!stop`, then say it again"
NOWHERE = "this is about one conversation, and none belongs to this call"

T = TypeVar("T")


class AtHand(Protocol):
    """What was said in sessions as the process has it at hand; ``app.sessions.cached_transcripts`` has one."""

    async def load(self, entry: SessionEntry) -> Sequence[TranscriptMessage]:
        """With everything written down that could not be before."""
        ...

    def forget(self, session_id: SessionId) -> None:
        """It was changed in the store: the next ``load`` reads it anew."""
        ...


@dataclass(frozen=True, slots=True)
class Lane:
    """A conversation as a caller finds it."""

    key: SessionKey
    source: SessionSource
    thread_key: ThreadKey
    entry: SessionEntry | None
    has_past: bool
    """Whether it has had a session; its entry may have been dropped since."""
    is_live: bool
    """Whether somebody stands in its line."""

    @property
    def has_begun(self) -> bool:
        return self.has_past or self.is_live


@dataclass(frozen=True, slots=True)
class Lanes:
    """Raises ``StateError``'s tree, and ``CommandError`` where it says so."""

    lines: Lines[Work]
    store: SessionStore
    transcripts: AtHand
    keying: Keying

    async def of(self, caller: Caller) -> Lane:
        """The first of the caller's that has begun, or the one that would.

        Raises ``NotFoundError`` without a thread.
        """
        lanes = [await self._lane(source, caller) for source in sources_of(self.keying, caller)]
        if not lanes:
            raise NotFoundError(NOWHERE)
        return next((lane for lane in lanes if lane.has_begun), lanes[0])

    async def current(self, caller: Caller) -> SessionEntry | None:
        """``None`` for a conversation that has had no session yet."""
        lane = await self.of(caller)
        return await self.opened(lane) if lane.has_past else None

    async def opened(self, lane: Lane) -> SessionEntry:
        """The lane's entry, found again or made where there is none."""
        return lane.entry or await self.store.get_or_create(lane.source, lane.thread_key, touch=False)

    async def write_down(self, entry: SessionEntry) -> None:
        """What could not be written before goes where it is going to be changed. An unreadable session stays so."""
        with suppress(TranscriptUnreadableError):
            await self.transcripts.load(entry)

    def require_quiet(self, key: SessionKey) -> None:
        """Raises ``BusyError``. Asked right before the write, which any later turn then finds done."""
        if self.lines.is_taken(key):
            raise BusyError(BUSY)

    async def people(self, caller: Caller) -> frozenset[str]:
        """All who spoke in the caller's conversation, and others who stand in its line.

        Not the caller for that alone: what stands there may be the very command that asks, or one of theirs beside it.
        """
        keys = keys_of(self.keying, caller)
        standing = {ticket.arrival.sender for key in keys for ticket in self.lines.tickets(key)}
        return await self.store.speakers(keys) | (standing - {caller.id})

    async def keys_in_channel(self, caller: Caller) -> Sequence[SessionKey]:
        """Of conversations in the caller's channel that they have spoken in."""
        stem = stem_of(self.keying, caller)
        return () if stem is None else await self.store.keys_within(stem, speaker=caller.id)

    async def earlier(self, lane: Lane, caller: Caller, *, in_channel: bool) -> list[PastSession]:
        """Sessions to go back to, latest activity first: those in which something was said, or that have a name."""
        keys = {lane.key, *(await self._keys_for_admins(caller) if in_channel else ())}
        # The next message leaves a suspended session, so going on with it takes a wish already.
        is_leaving = lane.entry is not None and lane.entry.suspended
        return [
            each
            for each in await self.sessions(keys)
            if (each.opening or each.title)
            and (is_leaving or each.session_key != lane.key or each.ended_at is not None)
        ]

    async def sessions(self, keys: Collection[SessionKey], limit: int = EVERY) -> list[PastSession]:
        """Latest activity first."""
        found = [each for some in _parts(keys) for each in await self.store.sessions_of(some, limit=limit)]
        found.sort(key=lambda each: (each.last_active_at, each.session_id), reverse=True)
        return found[:limit]

    async def with_words(self, keys: Collection[SessionKey], query: str, limit: int) -> list[PastSession]:
        """Those whose title, or one of whose lines, has every word."""
        words = query.casefold().split()
        if not words:
            return await self.sessions(keys, limit)
        hits = {hit.session_id for some in _parts(keys) for hit in await self.store.search(query, some, limit=HITS)}
        found = await self.sessions(keys)
        return [each for each in found if each.session_id in hits or _has_all(each.title, words)][:limit]

    async def _keys_for_admins(self, caller: Caller) -> Sequence[SessionKey]:
        stem = stem_for_admins(self.keying, caller)
        return () if stem is None else await self.store.keys_within(stem, speaker=only_speaker(caller))

    async def _lane(self, source: SessionSource, caller: Caller) -> Lane:
        key = self.keying.rules.key(source)
        entry = await self.store.get(key)
        has_past = entry is not None or bool(await self.store.sessions_of([key], limit=1))
        thread_key = ThreadKey(caller.origin.thread_key or "")
        return Lane(key, source, thread_key, entry, has_past, key in self.lines.keys)


def _has_all(title: str | None, words: Sequence[str]) -> bool:
    folded = (title or "").casefold()
    return all(word in folded for word in words)


def _parts(keys: Collection[SessionKey]) -> Iterator[Sequence[SessionKey]]:
    rest = iter(keys)
    while some := tuple(islice(rest, AT_ONCE)):
        yield some
