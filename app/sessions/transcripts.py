"""What was said in sessions, at hand for the next turn and written down for every later one."""

from collections.abc import Sequence

from app.sessions.entry import SessionEntry, SessionId
from app.sessions.store import SessionStore
from app.sessions.transcript import TranscriptMessage


class KeptTranscripts:
    """Implements ``app.dispatch.ports.Transcripts`` over a session store."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._unwritten: dict[SessionId, list[TranscriptMessage]] = {}

    async def load(self, entry: SessionEntry) -> Sequence[TranscriptMessage]:
        unwritten = self._unwritten.get(entry.session_id)
        if unwritten:
            await self._store.append(entry.session_id, tuple(unwritten))
            del self._unwritten[entry.session_id]
        return await self._store.load(entry.session_id)

    def forget(self, session_id: SessionId) -> None:
        """Nothing is kept at hand but what could not be written down."""

    def extend(self, entry: SessionEntry, lines: Sequence[TranscriptMessage], *, is_kept: bool) -> None:
        if not is_kept and lines:
            self._unwritten.setdefault(entry.session_id, []).extend(lines)
