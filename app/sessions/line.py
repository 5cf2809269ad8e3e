"""One conversation's line: whose turn it is, who waits behind, and what is to steer the turn that runs."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from app.sessions.busy import Interrupts, Joins, Running, Standing, Steers, Tail
from app.sessions.ticket import Stage, Ticket

T = TypeVar("T")


@dataclass(slots=True)
class Line(Generic[T]):
    up: Ticket[T] | None = None
    """Whose turn it is: it runs, or is next to get a place."""
    waiting: deque[Ticket[T]] = field(default_factory=deque[Ticket[T]])
    steering: list[Ticket[T]] = field(default_factory=list[Ticket[T]])
    """For the running turn's next boundary."""

    @property
    def running(self) -> Ticket[T] | None:
        return self.up if self.up is not None and self.up.stage is Stage.RUNNING else None

    @property
    def tail(self) -> Ticket[T] | None:
        """The last one whose turn has not begun."""
        return self.waiting[-1] if self.waiting else None if self.running else self.up

    def put(self, ticket: Ticket[T]) -> None:
        """Where its admission says."""
        match ticket.admission:
            case Steers() if self.up is not None:
                ticket.carrier, ticket.stage = self.up, Stage.CARRIED
                self.steering.append(ticket)
            case Joins() if self.tail is not None:
                self.tail.carry(ticket)
            case Interrupts() if self.up is not None:
                self.up.cut(by_stop=False)
                self.waiting.append(ticket)
            case _ if self.up is None:
                self.up = ticket
            case _:
                self.waiting.append(ticket)

    def pending(self) -> Iterator[Ticket[T]]:
        """The messages of every turn that has not begun, in order."""
        leaders = [*([self.up] if self.up is not None and not self.running else []), *self.waiting]
        for leader in leaders:
            yield leader
            yield from leader.carries

    def standing(self) -> Standing:
        running, tail = self.running, self.tail
        return Standing(
            running and _as_running(running),
            turns=len(self.waiting),
            messages=len(self.steering) + sum(1 + len(ticket.carries) for ticket in self.waiting),
            tail=tail and Tail(tail.arrival.sender, tail.arrival.thread_key, tail.arrival.is_own_turn),
        )

    def forsake(self, ticket: Ticket[T]) -> None:
        """Take out a message that goes with another one's turn."""
        if ticket in self.steering:
            self.steering.remove(ticket)
        elif ticket.carrier is not None:
            ticket.carrier.carries.remove(ticket)

    def withdraw(self, ticket: Ticket[T]) -> None:
        """Take out a turn that has not begun; the first message that joined it keeps its place."""
        heir = ticket.bequeath()
        if self.up is ticket:
            self.up = heir
        elif heir is not None:
            self.waiting[self.waiting.index(ticket)] = heir
        else:
            self.waiting.remove(ticket)

    def put_back(self, untaken: Sequence[Ticket[T]]) -> None:
        """What a turn leaves without an answer comes next, in its order."""
        for ticket in reversed(untaken):
            ticket.carrier = None
            ticket.move(Stage.WAITING)
            self.waiting.appendleft(ticket)


def _as_running(ticket: Ticket[Any]) -> Running:
    can_be_cut = ticket.can_be_cut
    return Running(
        ticket.arrival.sender,
        ticket.arrival.thread_key,
        takes_steering=ticket.takes_steering and can_be_cut,
        is_interruptible=ticket.is_interruptible and can_be_cut,
    )
