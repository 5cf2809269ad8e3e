"""The session store over the state database."""

import secrets
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial

from app.channel import ThreadKey
from app.clock import Clock
from app.sessions import lifecycle
from app.sessions.entry import ResumeReason, SessionEntry, SessionId, SessionKey
from app.sessions.key import KeyRules
from app.sessions.source import SessionSource
from app.sessions.store import Renewed
from app.sessions.transcript import Found, PastSession, Rewound, TranscriptMessage
from app.state import entry_rows, searching, session_rows, session_steps, transcript_rows
from app.state.engine import Database
from app.state.session_steps import Arrival, Moment
from commands.preferences import NOTHING, Clearing


def eight_hex_digits() -> str:
    return secrets.token_hex(4)


class StateSessions:
    """``app.sessions.store.SessionStore``: each write is one transaction, and writes follow one another."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        rules: KeyRules | None = None,
        *,
        suffix: Callable[[], str] = eight_hex_digits,
    ) -> None:
        self._database = database
        self._clock = clock
        self._rules = rules or KeyRules()
        self._suffix = suffix

    async def get_or_create(
        self, source: SessionSource, thread_key: ThreadKey, *, force_new: bool = False, touch: bool = True
    ) -> SessionEntry:
        arrival = Arrival(self._rules.key(source), source, thread_key, force_new=force_new, touch=touch)
        moment = self._moment()
        return await self._database.write(lambda connection: session_steps.open_session(connection, arrival, moment))

    async def get(self, key: SessionKey) -> SessionEntry | None:
        return await self._database.read(lambda connection: entry_rows.get(connection, key))

    async def in_thread(self, thread_key: ThreadKey) -> Sequence[SessionEntry]:
        return await self._database.read(lambda connection: entry_rows.in_thread(connection, thread_key))

    async def update(self, key: SessionKey, *, last_prompt_tokens: int | None = None) -> None:
        now = self._clock.now()
        await self._change(key, partial(lifecycle.touched, now=now, last_prompt_tokens=last_prompt_tokens))

    async def reset(
        self,
        key: SessionKey,
        *,
        watermark: str | None = None,
        title: str | None = None,
        clearing: Clearing = NOTHING,
    ) -> Renewed | None:
        moment = self._moment()
        return await self._database.write(
            lambda connection: session_steps.reset(
                connection, key, moment, watermark=watermark, title=title, clearing=clearing
            )
        )

    async def switch(
        self, key: SessionKey, target: SessionId, *, expected: SessionId | None = None, watermark: str | None = None
    ) -> SessionEntry | None:
        now = self._clock.now()
        return await self._database.write(
            lambda connection: session_steps.switch(
                connection, key, target, now, expected=expected, watermark=watermark
            )
        )

    async def fork(
        self, key: SessionKey, origin: SessionId, *, expected: SessionId | None = None, watermark: str | None = None
    ) -> SessionEntry | None:
        moment = self._moment()
        return await self._database.write(
            lambda connection: session_steps.fork(
                connection, key, origin, moment, expected=expected, watermark=watermark
            )
        )

    async def suspend(self, key: SessionKey) -> None:
        await self._change(key, lifecycle.suspended)

    async def mark_resume_pending(self, key: SessionKey, reason: ResumeReason) -> None:
        await self._change(key, partial(lifecycle.marked, reason=reason, now=self._clock.now()))

    async def clear_resume_pending(self, key: SessionKey) -> None:
        await self._change(key, lifecycle.cleared)

    async def suspend_recently_active(self, *, max_age_s: float = 120.0) -> int:
        now = self._clock.now()
        return await self._database.write(
            lambda connection: session_steps.mark_recently_active(connection, now, max_age_s)
        )

    async def begin_turn(self, key: SessionKey, token: str) -> None:
        await self._change(key, partial(lifecycle.begun, token=token, now=self._clock.now()))

    async def end_turn(self, key: SessionKey, token: str) -> bool:
        return await self._change(key, partial(lifecycle.ended, token=token)) is not None

    async def prune(self, max_age_days: int, *, keep: Collection[SessionKey] = ()) -> int:
        now = self._clock.now()
        return await self._database.write(lambda connection: session_steps.prune(connection, now, max_age_days, keep))

    async def list_sessions(self, *, active_since: datetime | None = None, limit: int = 100) -> Sequence[SessionEntry]:
        return await self._database.read(
            lambda connection: entry_rows.latest(connection, limit, active_since=active_since)
        )

    async def lookup(self, session_id: SessionId) -> SessionEntry | None:
        return await self._database.read(lambda connection: entry_rows.at_session(connection, session_id))

    async def has_any(self) -> bool:
        return await self._database.read(session_rows.exists_any)

    async def append(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        await self._database.write(lambda connection: transcript_rows.append(connection, session_id, messages))

    async def rewrite(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None:
        await self._database.write(lambda connection: transcript_rows.rewrite(connection, session_id, messages))

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]:
        return await self._database.read(lambda connection: transcript_rows.load(connection, session_id))

    async def rewind(self, session_id: SessionId, turns: int = 1) -> Rewound:
        return await self._database.write(lambda connection: transcript_rows.rewind(connection, session_id, turns))

    async def heard(self, session_id: SessionId, positions: Collection[str]) -> frozenset[str]:
        return await self._database.read(lambda connection: transcript_rows.heard(connection, session_id, positions))

    async def search(self, query: str, keys: Collection[SessionKey], *, limit: int = 20) -> Sequence[Found]:
        return await self._database.read(lambda connection: searching.find(connection, query, keys, limit))

    async def sessions_of(self, keys: Collection[SessionKey], *, limit: int = 10) -> Sequence[PastSession]:
        return await self._database.read(lambda connection: session_rows.past(connection, keys, limit))

    async def speakers(self, keys: Collection[SessionKey]) -> frozenset[str]:
        return await self._database.read(lambda connection: transcript_rows.speakers(connection, keys))

    async def keys_within(self, stem: str, *, speaker: str | None = None) -> Sequence[SessionKey]:
        return await self._database.read(lambda connection: session_rows.keys_within(connection, stem, speaker))

    async def set_title(self, session_id: SessionId, title: str) -> None:
        await self._database.write(lambda connection: session_rows.set_title(connection, session_id, title))

    def _moment(self) -> Moment:
        return Moment(self._clock.now(), self._suffix)

    async def _change(
        self, key: SessionKey, step: Callable[[SessionEntry], SessionEntry | None]
    ) -> SessionEntry | None:
        return await self._database.write(lambda connection: session_steps.change(connection, key, step))
