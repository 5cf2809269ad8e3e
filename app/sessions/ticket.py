"""A message's ticket: where it stands in its line, and what its owner learns of that."""

import asyncio
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Generic, TypeVar

from app.sessions.busy import Admission, Arrival
from app.sessions.entry import SessionKey
from app.sessions.errors import SessionError

TAKEN_BACK = "taken back by its author"

T = TypeVar("T")


class OutOfLineError(SessionError):
    """The message stands in no line, so it has no turn."""


class ClearedError(OutOfLineError):
    """Somebody took away everything that waited. The owner says so."""


class WithdrawnError(OutOfLineError):
    """Its author has taken the message back. There is nothing to say."""


class HeldError(OutOfLineError):
    """The process ends before the turn begins; the next process runs it."""


class Stage(Enum):
    WAITING = auto()
    GRANTED = auto()
    """It has its place among the turns of all conversations; its owner has not woken up yet."""
    RUNNING = auto()
    CARRIED = auto()
    """With the turn of another message, begun or not."""
    OVER = auto()


@dataclass(eq=False, slots=True)
class Ticket(Generic[T]):
    """One message in its line. Its owner is the task that sees the message to its end."""

    key: SessionKey
    arrival: Arrival
    said: T
    admission: Admission
    """What became of the message when it arrived."""

    takes_steering: bool = False
    """Set by the owner while its turn has a boundary coming at which it asks ``Lines.steered``."""
    is_interruptible: bool = True
    """Set by the owner: false while the turn is at something that must not be lost, a compression for example."""
    outcome: str | None = None
    """Set by the owner within the turn, which is cut no more then; those it carried find ``None`` if it was before."""

    is_final: bool = False
    """Set by the owner of the turn that answers it: a model has what was said, in the words of that moment."""
    is_answered: bool = False
    """Set by the owner: the turn is about to end, for every message that it has taken along."""
    is_stopped: bool = False
    is_interrupted: bool = False
    is_told: bool = False
    """Set by whoever stops it: they tell of it themselves where its answer is read."""

    # From here on: between the lines and the ticket.
    stage: Stage = Stage.WAITING
    fault: OutOfLineError | None = None
    carrier: "Ticket[T] | None" = None
    carries: "list[Ticket[T]]" = field(default_factory=list["Ticket[T]"])
    is_awaited: bool = False
    """The owner is in ``Lines.turn``. Before that the ticket keeps its order in line and takes no place."""
    task: asyncio.Task[Any] | None = None
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when its turn has ended."""
    bell: asyncio.Future[None] | None = None

    @property
    def is_withdrawn(self) -> bool:
        """Whether its author has taken the message back."""
        return isinstance(self.fault, WithdrawnError)

    @property
    def can_be_cut(self) -> bool:
        """Cancelled once and by others only: a second time would hit the owner's last word, later what is after it."""
        is_over = self.outcome is not None or self._is_cut
        return self.stage is Stage.RUNNING and not is_over and self.task is not asyncio.current_task()

    @property
    def _is_cut(self) -> bool:
        return self.is_stopped or self.is_interrupted or self.is_withdrawn

    def recovers(self) -> bool:
        """For the owner on ``CancelledError``: whether nothing but a person cancelled the turn.

        Takes that cancellation back, so that the owner can say a last word. ``False``: the process ends, raise.
        """
        return self._is_cut and self.task is not None and self.task.uncancel() == 0

    def begin(self) -> None:
        self.stage = Stage.RUNNING
        self.task = asyncio.current_task()

    def cut(self, *, by_stop: bool) -> bool:
        if self.task is None or not self.can_be_cut:
            return False
        self.is_stopped, self.is_interrupted = by_stop, not by_stop
        self.task.cancel()
        return True

    def take_back(self) -> bool:
        """Cut its turn, which runs, for good."""
        if self.task is None or not self.can_be_cut:
            return False
        self.fault = WithdrawnError(TAKEN_BACK)
        self.task.cancel()
        return True

    def carry(self, other: "Ticket[T]") -> None:
        other.carrier = self
        other.move(Stage.CARRIED)
        self.carries.append(other)

    def bequeath(self) -> "Ticket[T] | None":
        """The first of those it carries takes its place and the rest; ``None`` when it carries nobody.

        A model that has any of them has them no longer for an answer.
        """
        if not self.carries:
            return None
        for each in self.carries:
            each.is_final = False
        heir, *rest = self.carries
        self.carries = []
        heir.carrier = None
        heir.move(Stage.WAITING)
        for each in rest:
            heir.carry(each)
        return heir

    def move(self, stage: Stage, fault: OutOfLineError | None = None) -> None:
        """To another stage; an owner that waits for it wakes up."""
        self.stage, self.fault = stage, fault
        if stage is Stage.OVER:
            self.let_go()
        if self.bell is not None and not self.bell.done():
            self.bell.set_result(None)

    def let_go(self) -> None:
        """Of those it carries, which hold it, too: a circle would be free only when a collection finds it."""
        self.carries = []

    async def moved(self) -> None:
        self.bell = asyncio.get_running_loop().create_future()
        await self.bell
