"""What becomes of a message that arrives in a conversation: decided from how its line stands, and told as a value."""

from dataclasses import dataclass
from enum import StrEnum

from app.channel import ThreadKey, UserId

QUEUE_CAP = 32
"""Messages that may wait in one line."""


class BusyInput(StrEnum):
    """What a message does to the turn that runs when it arrives."""

    QUEUE = "queue"
    """Nothing: it is the next turn."""
    STEER = "steer"
    """It goes into the running turn of the same person at its next boundary, where there is one coming."""
    INTERRUPT = "interrupt"
    """It ends the running turn of the same person; quick messages of one person become one turn."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The message that arrives."""

    sender: UserId
    thread_key: ThreadKey
    mode: BusyInput
    is_own_turn: bool = False
    """Asked for by ``/queue``: whatever the mode, it waits, and is answered by itself."""
    has_wishes: bool = False
    """It says itself how it is to be answered, so it goes into no answer to another message."""


@dataclass(frozen=True, slots=True)
class Running:
    """The turn that runs, and whose message it answers where."""

    sender: UserId
    thread_key: ThreadKey
    takes_steering: bool = False
    """It has a boundary coming at which it reads what was said meanwhile."""
    is_interruptible: bool = True
    """False also for a turn that is being cancelled already."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The last message in line whose turn has not begun."""

    sender: UserId
    thread_key: ThreadKey
    is_own_turn: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A line that somebody stands in, at the moment of the arrival."""

    running: Running | None = None
    """``None`` while the one whose turn it is waits for a place among the turns of other conversations."""
    turns: int = 0
    """That wait behind the one whose turn it is."""
    messages: int = 0
    """In those turns, and those that are to steer the running one: what the cap counts."""
    tail: Tail | None = None


@dataclass(frozen=True, slots=True)
class Runs:
    """Nobody is before it."""


@dataclass(frozen=True, slots=True)
class Waits:
    """It is a turn of its own, later. Place 1 comes next after the turn that runs."""

    place: int


@dataclass(frozen=True, slots=True)
class Steers:
    """The running turn reads it at its next boundary; if it ends without, the message is the next turn."""


@dataclass(frozen=True, slots=True)
class Interrupts:
    """It ends the running turn, and waits at ``place``."""

    place: int


@dataclass(frozen=True, slots=True)
class Joins:
    """It is answered together with the message of the same person right before it, which waits at ``place``."""

    place: int


@dataclass(frozen=True, slots=True)
class Held:
    """The process ends: nothing begins any more, and the message is for the next one."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The line is full: ``waiting`` messages are in it."""

    waiting: int


Admission = Runs | Waits | Steers | Interrupts | Joins | Held | Refused


def admit(arrival: Arrival, line: Standing | None, *, cap: int = QUEUE_CAP, is_held: bool = False) -> Admission:
    """What becomes of the message (session lifecycle, section 8). ``line`` is ``None`` when nobody stands in it.

    Whatever it is, it is what happens: the person is told from this value, never from the mode that was set.
    """
    if line is not None and line.messages >= cap:
        return Refused(line.messages)
    if is_held:
        return Held()
    if line is None:
        return Runs()
    return _among_others(arrival, line)


def _among_others(arrival: Arrival, line: Standing) -> Admission:
    place = line.turns + 1
    if arrival.is_own_turn or arrival.mode is BusyInput.QUEUE:
        return Waits(place)
    if arrival.mode is BusyInput.STEER:
        return Steers() if not arrival.has_wishes and _may_steer(arrival, line.running) else Waits(place)
    if not arrival.has_wishes and _is_burst(arrival, line.tail):
        return Joins(line.turns)
    return Interrupts(place) if _may_interrupt(arrival, line.running) else Waits(place)


def _may_steer(arrival: Arrival, running: Running | None) -> bool:
    """Only whoever waits for the answer, and waits for it where this message would look for its own."""
    return (
        running is not None
        and running.takes_steering
        and (running.sender, running.thread_key) == (arrival.sender, arrival.thread_key)
    )


def _may_interrupt(arrival: Arrival, running: Running | None) -> bool:
    """Only whoever waits for the answer: nobody's is cut off by what somebody else says beside it."""
    return running is not None and running.is_interruptible and running.sender == arrival.sender


def _is_burst(arrival: Arrival, tail: Tail | None) -> bool:
    """Two messages of one person to one place, with nothing of anybody's between them and neither queued by name."""
    return (
        tail is not None
        and not tail.is_own_turn
        and (tail.sender, tail.thread_key) == (arrival.sender, arrival.thread_key)
    )
