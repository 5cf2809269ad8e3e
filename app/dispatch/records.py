"""What is kept of a turn, whole or broken off."""

from collections.abc import Mapping
from datetime import datetime

from app.agents.pricing import NO_CALL, Price, cost, tokens_of
from app.dispatch.journal import TurnRecord
from app.dispatch.work import Progress
from app.sessions.entry import Tokens
from app.sessions.transcript import Kind, TranscriptMessage
from app.sessions.usage import Run

Prices = Mapping[str, Price]
"""By ``<provider>/<model>``."""


def kept_lines(progress: Progress, ended_at: datetime) -> tuple[TranscriptMessage, ...]:
    """What the transcript did not have: what was said, and the answer as far as it came."""
    if not progress.lines or progress.work.message.brings_history:
        return ()
    answer = progress.answer.strip("\n")
    said = (TranscriptMessage("assistant", answer, ended_at, Kind.SAID),) if answer else ()
    return (*progress.lines, *said)


def record_of(progress: Progress, ended_at: datetime, prices: Prices, outcome: str) -> TurnRecord | None:
    """``None`` for a turn that came to no session."""
    entry, message, result = progress.entry, progress.work.message, progress.result
    if entry is None:
        return None
    tokens = Tokens() if result is None else tokens_of(result.usage)
    recalled = progress.recalled
    return TurnRecord(
        run=Run(
            reference=message.reference,
            session_key=entry.session_key,
            session_id=entry.session_id,
            user_id=message.user_id,
            channel_id=message.channel_id,
            outcome=outcome,
            tokens=tokens,
            cost=NO_CALL if result is None else cost(tokens, prices.get(progress.model)),
            started_at=progress.started_at,
            ended_at=ended_at,
            agent=progress.agent or None,
            model=progress.model or None,
            memory_records=() if recalled is None else tuple(record.id for record in recalled.records),
        ),
        lines=kept_lines(progress, ended_at),
        watermark=message.position if progress.lines else None,
        prompt_tokens=None if result is None else tokens.input + tokens.cache_read + tokens.cache_write,
        is_success=outcome == "ran",
    )
