"""Transcripts through the cache: read once, followed turn by turn, and read again only after they were let go."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from app.sessions.cache import ConversationCache
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.transcript import TranscriptMessage

Keep = Callable[[], Awaitable[object]]
"""Writes the lines of a turn down. Raises ``StateError``'s tree; doing it again adds nothing to what is there."""


class Loads(Protocol):
    """What is needed of ``app.sessions.store.SessionStore``."""

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]: ...


@dataclass(frozen=True, slots=True)
class _Unwritten:
    lines: int
    keep: Keep


class CachedTranscripts:
    """Implements ``app.dispatch.ports.Transcripts`` over a session store."""

    def __init__(self, store: Loads, cache: ConversationCache) -> None:
        self._store = store
        self._cache = cache
        self._unwritten: dict[SessionId, list[_Unwritten]] = {}
        self._forgotten = 0

    async def load(self, entry: SessionEntry) -> Sequence[TranscriptMessage]:
        """What an earlier turn could not write down is written first; raises when that fails again."""
        await self._catch_up(entry)
        at_hand = self._cache.get(entry.session_key, entry.session_id)
        if at_hand is not None:
            return at_hand
        before = self._forgotten
        loaded = await self._store.load(entry.session_id)
        if self._forgotten == before:
            # Otherwise a transcript was rewritten while this one was read, and it may be the old text.
            self._cache.put(entry.session_key, entry.session_id, loaded)
        return loaded

    def extend(self, entry: SessionEntry, lines: Sequence[TranscriptMessage], keep: Keep | None = None) -> None:
        key, session_id = entry.session_key, entry.session_id
        self._cache.extend(key, session_id, self._new(entry, lines))
        if keep is None:
            self._cache.flushed(key, session_id, len(lines))
        elif lines:
            self._unwritten.setdefault(session_id, []).append(_Unwritten(len(lines), keep))

    def forget(self, session_id: SessionId) -> None:
        """Of the lines at hand; what could not be written down stays to be written."""
        self._forgotten += 1
        self._cache.invalidate(session_id)

    def pinned(self, key: SessionKey) -> AbstractContextManager[None]:
        """While a turn of the conversation runs, it stays at hand."""
        return self._cache.pinned(key)

    async def _catch_up(self, entry: SessionEntry) -> None:
        while unwritten := self._unwritten.get(entry.session_id):
            first = unwritten[0]
            await first.keep()
            # Whoever loads at the same time may have been faster.
            if unwritten and unwritten[0] is first:
                del unwritten[0]
                self._cache.flushed(entry.session_key, entry.session_id, first.lines)

    def _new(self, entry: SessionEntry, lines: Sequence[TranscriptMessage]) -> Sequence[TranscriptMessage]:
        """As the store does it: a message whose position the transcript has already is not there twice."""
        at_hand = self._cache.get(entry.session_key, entry.session_id) or ()
        known = {message.position for message in at_hand if message.position is not None}
        return [line for line in lines if line.position not in known]
