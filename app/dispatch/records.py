"""What is kept of a turn, whole or broken off."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.agents.pricing import NO_CALL, Price, cost, tokens_of
from app.agents.windows import prompt_tokens
from app.dispatch.journal import TurnRecord
from app.dispatch.work import Progress
from app.sessions.entry import Tokens
from app.sessions.transcript import Kind, TranscriptMessage
from app.sessions.usage import Run, Task
from memory.occasion import unfit
from memory.turn import FinishedTurn, Line

Prices = Mapping[str, Price]
"""By ``<provider>/<model>``."""


def kept_lines(progress: Progress, ended_at: datetime) -> tuple[TranscriptMessage, ...]:
    """What the transcript did not have: what was said, and the answer as far as it came."""
    if not progress.lines or progress.work.message.brings_history:
        return ()
    answer = progress.answer.strip("\n")
    said = (TranscriptMessage("assistant", answer, ended_at, Kind.SAID),) if answer else ()
    return (*progress.lines, *said)


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the deployment keeps of turns."""

    organization: str
    prices: Prices
    reflects: bool = False
    """Whether memory learns from them."""


def record_of(progress: Progress, ended_at: datetime, keeping: Keeping, outcome: str) -> TurnRecord | None:
    """``None`` for a turn that came to no session."""
    message, run = progress.work.message, run_of(progress, ended_at, keeping, outcome)
    if run is None:
        return None
    return TurnRecord(
        run=run,
        lines=kept_lines(progress, ended_at),
        watermark=message.position if progress.lines else None,
        prompt_tokens=None if progress.result is None else prompt_tokens(progress.result.usage),
        is_success=outcome == "ran",
        reflection=finished_turn(progress, ended_at, keeping) if keeping.reflects and outcome == "ran" else None,
    )


def run_of(
    progress: Progress, ended_at: datetime, keeping: Keeping, outcome: str, task: Task = Task.TURN
) -> Run | None:
    """What the turn's calls have taken, as far as that was counted, whatever has ended them."""
    entry, message, taken, recalled = progress.entry, progress.work.message, progress.meter.taken, progress.recalled
    if entry is None:
        return None
    tokens = Tokens() if taken is None else tokens_of(taken)
    return Run(
        reference=message.reference,
        session_key=entry.session_key,
        session_id=entry.session_id,
        user_id=message.user_id,
        channel_id=message.channel_id,
        outcome=outcome,
        tokens=tokens,
        cost=NO_CALL if taken is None else cost(tokens, keeping.prices.get(progress.model)),
        started_at=progress.started_at,
        ended_at=ended_at,
        calls=0 if taken is None else taken.calls,
        task=task,
        agent=progress.agent or None,
        model=progress.model or None,
        memory_records=() if recalled is None else tuple(record.id for record in recalled.records),
    )


def finished_turn(progress: Progress, ended_at: datetime, keeping: Keeping) -> FinishedTurn | None:
    """The turn as memory looks at it; ``None`` when there is nothing to look at."""
    entry, message, recalled = progress.entry, progress.work.message, progress.recalled
    lines = (*progress.lines, TranscriptMessage("assistant", progress.answer.strip("\n"), ended_at))
    if entry is None or not progress.lines:
        return None
    asker = next((line.author for line in progress.lines if line.user_id == message.user_id), None)
    turn = FinishedTurn(
        session_key=entry.session_key,
        thread_key=message.thread_key,
        run_id=message.reference,
        started_at=progress.started_at,
        ended_at=ended_at,
        lines=tuple(Line(line.role, line.content, line.at, line.author, line.user_id) for line in lines),
        organization=keeping.organization if progress.teaches.org else None,
        user_id=message.user_id,
        user_name=asker,
        channel_id=message.channel_id,
        visibility=message.visibility.value,
        repo=progress.teaches.repo,
        agent=progress.agent or None,
        recalled_ids=() if recalled is None else tuple(record.id for record in recalled.records),
        prior_turns=progress.prior_turns,
        model=progress.model or None,
    )
    # What nobody will look at is not kept a second time.
    return turn if unfit(turn) is None else None
