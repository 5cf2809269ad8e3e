"""What a new process does about what the last one left unfinished."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

BEGINS_MOST = 3
"""A message whose turn was begun so often, and ended the process each time, is not tried again."""
KEPT = timedelta(hours=24)
"""What waited or was owed for longer helps nobody any more."""
LOOP_STARTS = 3
LOOP_WINDOW = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Left:
    """One unfinished message."""

    age: timedelta
    begins: int
    """How often work on it was begun."""
    is_command: bool
    is_promised: bool
    """Whether its answer is made, and may not have been shown."""
    is_reachable: bool
    """Whether its conversation outlived the process."""


class GivenUp(StrEnum):
    """Why an unfinished message is only told of."""

    STALE = "stale"
    STUCK = "stuck"
    COMMAND = "command"
    """It may or may not have done what it does; doing it again could be wrong."""


@dataclass(frozen=True, slots=True)
class Run:
    """Its turn was never begun."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Its turn is made again, and its answer takes the place of what is visible of it."""


@dataclass(frozen=True, slots=True)
class Redeliver:
    """Its answer is made, and is shown again in place of what is visible of it."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Somebody waits for an answer that does not come."""

    reason: GivenUp


@dataclass(frozen=True, slots=True)
class Abandon:
    """Nobody can be told any more."""


AfterRestart = Run | Resume | Redeliver | Tell | Abandon


def after_restart(left: Left, freshness_s: float) -> AfterRestart:
    """What becomes of one message (session lifecycle, section 7)."""
    if not left.is_reachable:
        return Abandon()
    if left.is_promised:
        return Redeliver() if left.age <= KEPT else Abandon()
    if left.begins == 0:
        return Run() if left.age <= KEPT else Tell(GivenUp.STALE)
    if left.is_command:
        return Tell(GivenUp.COMMAND)
    if left.begins >= BEGINS_MOST:
        return Tell(GivenUp.STUCK)
    return Resume() if left.age <= timedelta(seconds=freshness_s) else Tell(GivenUp.STALE)


def is_looping(starts_at: Sequence[datetime]) -> bool:
    """Whether the process started again and again within a minute; ``starts_at`` is latest first.

    Before a clock that was set back they may be later than the latest.
    """
    return len(starts_at) >= LOOP_STARTS and abs(starts_at[0] - starts_at[LOOP_STARTS - 1]) <= LOOP_WINDOW
