"""Conversations that outgrow their model's window: summarised before a turn, or when a provider says it is too long."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from app.agents.windows import Windows
from app.dispatch.ports import Transcripts
from app.dispatch.provision import Opened
from app.dispatch.work import Progress, Work
from app.sessions.compression import Cause, should_compress
from app.sessions.compressor import Compressor
from app.sessions.summariser import Conversation
from app.sessions.ticket import Ticket


@dataclass(frozen=True, slots=True)
class Fitting:
    compressor: Compressor
    transcripts: Transcripts
    windows: Windows
    threshold: float
    """The share of the window that a prompt may fill."""

    def is_needed(self, progress: Progress, opened: Opened) -> bool:
        """Whether the next prompt is likely to come too near the window, by what the provider counted last."""
        window = self.windows.of(progress.model)
        return should_compress(opened.entry.last_prompt_tokens, window, self.threshold, len(opened.transcript))

    async def fitted(self, progress: Progress, opened: Opened, cause: Cause) -> Opened | None:
        """The session with its middle summarised; ``None`` when nothing could be done.

        What is said meanwhile waits: a summary that is cut off is asked for again by the very next turn. Raises
        ``ConfigurationError``, ``TranscriptUnreadableError`` and ``StateError``'s tree.
        """
        message, entry = progress.work.message, opened.entry
        where = Conversation(
            session_key=entry.session_key,
            session_id=entry.session_id,
            user_id=message.user_id,
            channel_id=message.channel_id,
            reference=message.reference,
            model=progress.model,
            window=self.windows.of(progress.model),
        )
        with _uninterrupted(progress.tickets[0]):
            outcome = await self.compressor.compress(where, cause=cause)
        if not outcome.has_changed:
            return None
        self.transcripts.forget(entry.session_id)
        shorter = replace(entry, last_prompt_tokens=outcome.tokens_after)
        return replace(opened, entry=shorter, transcript=await self.transcripts.load(entry))


@contextmanager
def _uninterrupted(ticket: Ticket[Work]) -> Generator[None]:
    ticket.is_interruptible = False
    try:
        yield
    finally:
        ticket.is_interruptible = True
