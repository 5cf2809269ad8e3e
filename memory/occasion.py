"""Which finished turns are looked at at all (specification, sections 9 and 10)."""

from enum import StrEnum

from memory.cues import is_greeting, teaches
from memory.turn import FinishedTurn

MANY_TURNS = 4
"""A thread of so many earlier turns did real work, whatever the last one was."""
UNREFLECTED_AGENTS = frozenset({"review"})
"""What these find describes one change at one moment and stands where it belongs already."""
PASSIVE = "passive"


class Unfit(StrEnum):
    """Why nobody looks at a turn."""

    MEMORY_OFF = "memory_off"
    MODE = "mode"
    """The model itself is to decide what it writes down."""
    UNANSWERED = "unanswered"
    COMMAND = "command"
    AGENT = "agent"
    NOTHING_SAID = "nothing_said"
    GREETING = "greeting"
    NO_WORK = "no_work"
    """Neither a tool nor a long thread nor anything that somebody taught."""


def unfit(turn: FinishedTurn, *, is_enabled: bool = True, mode: str = PASSIVE) -> Unfit | None:
    """Why ``turn`` is not looked at, or ``None`` when it is."""
    if not is_enabled:
        return Unfit.MEMORY_OFF
    if mode != PASSIVE:
        return Unfit.MODE
    return _of_what_happened(turn) or _of_what_was_said(turn)


def _of_what_happened(turn: FinishedTurn) -> Unfit | None:
    if not turn.is_answered:
        return Unfit.UNANSWERED
    if turn.is_command:
        return Unfit.COMMAND
    return Unfit.AGENT if turn.agent in UNREFLECTED_AGENTS else None


def _of_what_was_said(turn: FinishedTurn) -> Unfit | None:
    said = [line.text for line in turn.lines if line.role == "user" and not line.is_quoted]
    if not any(text.strip() for text in said):
        return Unfit.NOTHING_SAID
    if all(is_greeting(text) for text in said):
        return Unfit.GREETING
    is_work = turn.tool_calls > 0 or turn.prior_turns >= MANY_TURNS or any(map(teaches, said))
    return None if is_work else Unfit.NO_WORK
