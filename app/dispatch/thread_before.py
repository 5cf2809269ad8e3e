"""What a conversation had said before a turn, for whoever learns from the turn."""

from collections.abc import Sequence

import structlog

from app.dispatch.unlearning import Erasures
from app.errors import StateError
from app.sessions.entry import SessionKey
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.store import SessionStore
from app.sessions.transcript import Kind
from memory.turn import FinishedTurn, Line

THREAD_NOT_READ = "thread_not_read"

_log = structlog.stdlib.get_logger(__name__)


class TranscriptThread:
    """Implements ``memory.reflector.Thread`` over the session store."""

    def __init__(self, store: SessionStore, erasures: Erasures) -> None:
        self._store = store
        self._erasures = erasures

    async def before(self, turn: FinishedTurn) -> Sequence[Line]:
        """The lines of the session that the turn's own lines follow.

        Summaries are no one's words, so they stay out, and so does what was said before something of it was erased.
        """
        first_at = min((line.at for line in turn.lines), default=turn.started_at)
        try:
            entry = await self._store.get(SessionKey(turn.session_key))
            transcript = () if entry is None else await self._store.load(entry.session_id)
            erased_at = await self._erasures.latest(turn)
        except (StateError, TranscriptUnreadableError) as fault:
            _log.warning(THREAD_NOT_READ, reference=turn.run_id, reason=type(fault).__name__)
            return ()
        return [
            Line(line.role, line.content, line.at, line.author, line.user_id)
            for line in transcript
            if line.at < first_at and (erased_at is None or line.at > erased_at) and line.kind is not Kind.SUMMARY
        ]
