"""Conversations at hand between their turns, so that a turn need not read its whole transcript again."""

import sys
from collections import Counter, OrderedDict
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from app.clock import Clock
from app.sessions.entry import SessionId, SessionKey
from app.sessions.pressure import Evictable
from app.sessions.transcript import TranscriptMessage

MAX_SIZE = 128
IDLE_TTL_S = 3_600.0
LINE_BYTES = 400
"""What a transcript's line takes beside its text: the object, its time, its short strings."""


@dataclass(slots=True)
class _Live:
    session_id: SessionId
    messages: tuple[TranscriptMessage, ...]
    flushed: int
    """How many of the messages, from the first, are known to be kept by the store."""
    used_at_s: float
    estimated_bytes: int

    @property
    def is_flushed(self) -> bool:
        return self.flushed >= len(self.messages)


class ConversationCache:
    """The least recently used goes first (session lifecycle, section 11). Times are the clock's monotonic seconds.

    Letting go loses nothing but time, so it never touches a conversation with a turn under way (pinned) or with
    lines that the store does not have yet; with enough of those there are more than ``max_size``.
    """

    def __init__(self, clock: Clock, *, max_size: int = MAX_SIZE, idle_ttl_s: float = IDLE_TTL_S) -> None:
        self._clock = clock
        self._max_size = max_size
        self._idle_ttl_s = idle_ttl_s
        self._live: OrderedDict[SessionKey, _Live] = OrderedDict()
        self._pins: Counter[SessionKey] = Counter()

    def __len__(self) -> int:
        return len(self._live)

    @property
    def estimated_bytes(self) -> int:
        return sum(live.estimated_bytes for live in self._live.values())

    def get(self, key: SessionKey, session_id: SessionId) -> Sequence[TranscriptMessage] | None:
        """The session's transcript, oldest first; ``None``: it has to be loaded.

        A conversation that stands at another session by now is forgotten.
        """
        live = self._live.get(key)
        if live is None:
            return None
        if live.session_id != session_id:
            del self._live[key]
            return None
        self._touch(key, live)
        return live.messages

    def put(self, key: SessionKey, session_id: SessionId, messages: Iterable[TranscriptMessage]) -> None:
        """Keep what the store has, as it was just loaded or rewritten."""
        kept = tuple(messages)
        self._live[key] = live = _Live(session_id, kept, len(kept), 0.0, size_of(kept))
        self._touch(key, live)
        self._make_room()

    def extend(self, key: SessionKey, session_id: SessionId, messages: Iterable[TranscriptMessage]) -> None:
        """Add what the store does not have yet; until it is ``flushed`` the conversation is not let go.

        Nothing when the conversation is not at hand: the next turn loads it.
        """
        if (live := self._at(key, session_id)) is not None:
            added = tuple(messages)
            live.messages += added
            live.estimated_bytes += size_of(added)
            self._touch(key, live)

    def flushed(self, key: SessionKey, session_id: SessionId, count: int) -> None:
        """The store has ``count`` more of its messages now."""
        if (live := self._at(key, session_id)) is not None:
            live.flushed = min(live.flushed + count, len(live.messages))
            self._make_room()

    def invalidate(self, session_id: SessionId) -> None:
        """Forget the session because it is not true any more: its transcript was rewritten or rewound."""
        for key in [key for key, live in self._live.items() if live.session_id == session_id]:
            del self._live[key]

    @contextmanager
    def pinned(self, key: SessionKey) -> Generator[None]:
        """While a turn runs."""
        self._pins[key] += 1
        try:
            yield
        finally:
            self._pins[key] -= 1
            if not self._pins[key]:
                del self._pins[key]
            self._make_room()

    def sweep(self) -> int:
        """Let go what nobody used for ``idle_ttl_s``; how many."""
        oldest_kept_s = self._clock.monotonic() - self._idle_ttl_s
        idle = [key for key, live in self._live.items() if live.used_at_s < oldest_kept_s and self._may_go(key, live)]
        return self.let_go(idle)

    def evictables(self) -> Sequence[Evictable]:
        """What there is, least recently used first."""
        return [
            Evictable(key, is_pinned=key in self._pins, is_flushed=live.is_flushed) for key, live in self._live.items()
        ]

    def let_go(self, keys: Collection[SessionKey]) -> int:
        """Those of ``keys`` that may go; how many."""
        going = [key for key in keys if (live := self._live.get(key)) is not None and self._may_go(key, live)]
        for key in going:
            del self._live[key]
        return len(going)

    def _at(self, key: SessionKey, session_id: SessionId) -> _Live | None:
        live = self._live.get(key)
        return live if live is not None and live.session_id == session_id else None

    def _touch(self, key: SessionKey, live: _Live) -> None:
        live.used_at_s = self._clock.monotonic()
        self._live.move_to_end(key)

    def _may_go(self, key: SessionKey, live: _Live) -> bool:
        return live.is_flushed and key not in self._pins

    def _make_room(self) -> None:
        """Never at the cost of the newest, which is about to be used."""
        excess = len(self._live) - self._max_size
        if excess > 0:
            newest = next(reversed(self._live))
            may_go = (key for key, live in self._live.items() if key != newest and self._may_go(key, live))
            self.let_go(list(islice(may_go, excess)))


def size_of(messages: Iterable[TranscriptMessage]) -> int:
    """About how many bytes the messages take in memory."""
    return sum(sys.getsizeof(message.content) + LINE_BYTES for message in messages)
