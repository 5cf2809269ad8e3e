"""The session store port: which conversations there are, where each stands, and what was said in it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.channel import ThreadKey
from app.sessions.entry import ResumeReason, SessionEntry, SessionId, SessionKey
from app.sessions.source import SessionSource
from app.sessions.transcript import Found, PastSession, Rewound, TranscriptMessage
from commands.preferences import NOTHING, Clearing, Name


@dataclass(frozen=True, slots=True)
class Renewed:
    """An entry that stands at a new session."""

    entry: SessionEntry
    cleared: tuple[Name, ...] = ()
    """The settings that were taken back with that, of those that were to be: the ones that were set."""


class SessionStore(Protocol):
    """The operations of the session lifecycle, section 3. Adapters: over the state database.

    Every write is durable when it returns. Every call raises ``StateError``'s tree when the database cannot be
    used: a transcript that could not be read is never an empty one. A key that has no entry is no error: what
    changes an entry then returns ``None``, or does nothing.
    """

    async def get_or_create(
        self, source: SessionSource, thread_key: ThreadKey, *, force_new: bool = False, touch: bool = True
    ) -> SessionEntry:
        """The entry of the source's key, made if there is none; a suspended one gets a new session id.

        Two callers at once get the same entry. ``touch`` moves ``updated_at``.
        """
        ...

    async def get(self, key: SessionKey) -> SessionEntry | None: ...

    async def in_thread(self, thread_key: ThreadKey) -> Sequence[SessionEntry]:
        """The entries of one thread: one, or one for each person."""
        ...

    async def update(self, key: SessionKey, *, last_prompt_tokens: int | None = None) -> None: ...

    async def reset(
        self,
        key: SessionKey,
        *,
        watermark: str | None = None,
        title: str | None = None,
        clearing: Clearing = NOTHING,
    ) -> Renewed | None:
        """A new session id under the same key, ``is_fresh_reset``; the old session has ended and is kept.

        What stands in the thread up to ``watermark`` is not read again. Settings are taken back in the same step, of
        which whoever keeps them at hand has to be told. ``None`` for a key without an entry. Raises
        ``TitleTakenError``.
        """
        ...

    async def switch(
        self, key: SessionKey, target: SessionId, *, expected: SessionId | None = None, watermark: str | None = None
    ) -> SessionEntry | None:
        """Back to an earlier session of the key; ``None`` when it has no such session or is not at ``expected``."""
        ...

    async def fork(
        self, key: SessionKey, origin: SessionId, *, expected: SessionId | None = None, watermark: str | None = None
    ) -> SessionEntry | None:
        """A new session under the key that goes on from where ``origin``, of any key, stands; that one stays as it is.

        ``None`` when there is no such session, or the key is not at ``expected``. Raises
        ``TranscriptUnreadableError``; then nothing has changed.
        """
        ...

    async def suspend(self, key: SessionKey) -> None: ...

    async def mark_resume_pending(self, key: SessionKey, reason: ResumeReason) -> None:
        """Keeps the session id on the next access. Never overrides ``suspended``."""
        ...

    async def clear_resume_pending(self, key: SessionKey) -> None: ...

    async def suspend_recently_active(self, *, max_age_s: float = 120.0) -> int:
        """After a crash: mark what was active within ``max_age_s`` as resume pending; how many."""
        ...

    async def begin_turn(self, key: SessionKey, token: str) -> None:
        """Mark a turn as under way, which is activity; it stays marked until ``end_turn`` with the same token."""
        ...

    async def end_turn(self, key: SessionKey, token: str) -> bool: ...

    async def prune(self, max_age_days: int, *, keep: Collection[SessionKey] = ()) -> int:
        """Drop entries (never transcripts) older than that; how many. Suspended ones stay, those at work, and ``keep``.

        A conversation that is taken up again afterwards goes on in the session it was left at; its counts are lost.
        """
        ...

    async def list_sessions(self, *, active_since: datetime | None = None, limit: int = 100) -> Sequence[SessionEntry]:
        """Latest activity first."""
        ...

    async def lookup(self, session_id: SessionId) -> SessionEntry | None:
        """The entry that stands at this session."""
        ...

    async def has_any(self) -> bool:
        """Whether there ever was a session."""
        ...

    async def append(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        """A message whose position an active line of the session has already is not kept twice."""
        ...

    async def rewrite(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        """Replace what is active, in one step; the old lines stay for the record, marked compacted."""
        ...

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]:
        """Every active line, oldest first. Raises ``TranscriptUnreadableError`` for a line that makes no sense."""
        ...

    async def rewind(self, session_id: SessionId, turns: int = 1) -> Rewound:
        """Take the last turns out of sight; they are kept, inactive."""
        ...

    async def heard(self, session_id: SessionId, positions: Collection[str]) -> frozenset[str]:
        """Those of ``positions`` that a line of the session has, also one that was taken back or summarised away."""
        ...

    async def search(self, query: str, keys: Collection[SessionKey], *, limit: int = 20) -> Sequence[Found]:
        """Lines with every word of ``query`` in sessions of ``keys``, best first. Any text is a legal query."""
        ...

    async def sessions_of(self, keys: Collection[SessionKey], *, limit: int = 10) -> Sequence[PastSession]:
        """Incarnations under these keys, latest activity first, the current one included."""
        ...

    async def speakers(self, keys: Collection[SessionKey]) -> frozenset[str]:
        """Ids of all who ever said something to the bot in sessions of ``keys``, taken back or not."""
        ...

    async def keys_within(self, stem: str, *, speaker: str | None = None) -> Sequence[SessionKey]:
        """Keys that are ``stem`` or go on from it with another part; those in which ``speaker`` is one, if given."""
        ...

    async def set_title(self, session_id: SessionId, title: str) -> None:
        """Raises ``TitleTakenError``."""
        ...
