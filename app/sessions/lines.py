"""Lines: the turns of one conversation run one after the other, conversations side by side up to a limit."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, Generic, TypeVar

from app.channel import ThreadKey
from app.sessions.busy import QUEUE_CAP, Arrival, Held, Refused, Standing, admit
from app.sessions.entry import SessionKey
from app.sessions.line import Line
from app.sessions.ticket import TAKEN_BACK, ClearedError, HeldError, OutOfLineError, Stage, Ticket, WithdrawnError

T = TypeVar("T")


def _anybody(_: Ticket[Any]) -> bool:
    return True


class Lines(Generic[T]):
    """One line for each session key; ``T`` is what a message brings along, its text for example.

    An owner goes ``join``, then ``carried``, then (if nobody carried its message) ``turn``; one that does anything
    else in between calls ``leave`` in the end, whatever happened. Only ``carried`` and ``turn`` wait.
    """

    def __init__(self, concurrent_turns: int, cap: int = QUEUE_CAP) -> None:
        self._lines: dict[SessionKey, Line[T]] = {}
        self._free = concurrent_turns
        self._asking: dict[Ticket[T], None] = {}
        """Those whose turn it is and who lack a place, first come, first served."""
        self._cap = cap
        self._held: Counter[SessionKey] = Counter()
        self._is_holding = False

    def __len__(self) -> int:
        """Conversations with a turn under way or waiting."""
        return len(self._lines)

    @property
    def keys(self) -> Collection[SessionKey]:
        """Of these conversations."""
        return frozenset(self._lines)

    @property
    def is_holding(self) -> bool:
        """Whether the process ends, so that nothing begins any more."""
        return self._is_holding

    @property
    def running(self) -> int:
        """Turns under way."""
        return sum(line.running is not None for line in self._lines.values())

    @property
    def waiting(self) -> int:
        """Messages whose turn has not begun, or that are to steer one."""
        return sum(self.depth(key) for key in self._lines)

    def depth(self, key: SessionKey) -> int:
        """Messages that wait in one line."""
        return len(self.unbegun(key))

    def turn_of(self, key: SessionKey) -> Ticket[T] | None:
        """The ticket of the turn that runs in the line."""
        line = self._lines.get(key)
        return None if line is None else line.running

    def turns(self) -> Sequence[Ticket[T]]:
        """The tickets of all turns under way."""
        return tuple(line.running for line in self._lines.values() if line.running is not None)

    def tickets(self, key: SessionKey) -> Sequence[Ticket[T]]:
        """Every message in the line, in order: of the turn that runs, to steer it, and waiting."""
        line = self._lines.get(key)
        if line is None:
            return ()
        running = () if line.running is None else (line.running, *line.running.carries)
        return (*running, *line.steering, *line.pending())

    def unbegun(self, key: SessionKey) -> Sequence[Ticket[T]]:
        """The messages in the line that no turn has taken up, in order."""
        line = self._lines.get(key)
        return () if line is None else (*line.steering, *line.pending())

    def revisable(self, key: SessionKey) -> Sequence[Ticket[T]]:
        """The messages in the line that can still be changed or taken back, those of the turn that runs included."""
        running = self.turn_of(key)
        taken = () if running is None else (running, *running.carries)
        return (*(each for each in taken if not each.is_final), *self.unbegun(key))

    def is_taken(self, key: SessionKey) -> bool:
        """Whether a turn runs in the line, or is about to, that is not the calling task's own."""
        line = self._lines.get(key)
        up = None if line is None else line.up
        return up is not None and up.stage is not Stage.WAITING and up.task is not asyncio.current_task()

    def join(self, key: SessionKey, arrival: Arrival, said: T) -> Ticket[T]:
        """Put a message in line. ``admission`` says what became of it; refused and held ones are in no line."""
        admission = admit(arrival, self._standing(key), cap=self._cap, is_held=self._is_holding)
        ticket = Ticket(key, arrival, said, admission)
        match admission:
            case Held():
                self._held[key] += 1
                ticket.move(Stage.OVER, HeldError("held for the next process"))
            case Refused():
                ticket.move(Stage.OVER, OutOfLineError("the line is full"))
            case _:
                self._lines.setdefault(key, Line()).put(ticket)
        return ticket

    def _standing(self, key: SessionKey) -> Standing | None:
        line = self._lines.get(key)
        standing = None if line is None else line.standing()
        if not self._is_holding:
            return standing
        return Standing(messages=self._held[key] + (standing.messages if standing else 0))

    @asynccontextmanager
    async def turn(self, ticket: Ticket[T]) -> AsyncGenerator[None]:
        """Wait for the message's turn, which lasts as long as the body. Raises ``ClearedError``, ``HeldError``."""
        try:
            ticket.is_awaited = True
            self._ask(ticket)
            while ticket.stage is Stage.WAITING:
                await ticket.moved()
            if ticket.stage is not Stage.GRANTED:
                # A copy: what a ticket keeps would hold, with where it was raised, whoever holds the ticket.
                raise copy(ticket.fault) or OutOfLineError("the message has no turn of its own")
            ticket.begin()
            yield
        finally:
            self.leave(ticket)

    async def carried(self, ticket: Ticket[T]) -> Ticket[T] | None:
        """Wait while the message goes with another's turn. The ticket of that turn, which has ended then.

        ``None``: it has a turn of its own to wait for, from the start or because the other one left it behind.
        Raises ``ClearedError``, ``HeldError``.
        """
        try:
            while ticket.stage is Stage.CARRIED:
                await ticket.moved()
        except asyncio.CancelledError:
            self.leave(ticket)
            raise
        if ticket.fault is not None:
            raise copy(ticket.fault)
        return ticket.carrier

    def steered(self, key: SessionKey) -> Sequence[Ticket[T]]:
        """What came in for the running turn, in order, each once. Called by that turn at a boundary.

        Who takes it has to answer it: the messages end with this turn.
        """
        line = self._lines.get(key)
        if line is None or line.running is None:
            return ()
        taken, line.steering = line.steering, []
        for ticket in taken:
            line.running.carry(ticket)
        return tuple(taken)

    def stop(self, thread_key: ThreadKey, may: Callable[[Ticket[T]], bool] = _anybody) -> int:
        """Cancel the turns that run in the thread and that ``may`` allows; how many."""
        running = [line.running for line in self._lines.values()]
        return sum(
            ticket.cut(by_stop=True)
            for ticket in running
            if ticket is not None and ticket.arrival.thread_key == thread_key and may(ticket)
        )

    def stop_line(self, key: SessionKey, *, is_told: bool = False) -> bool:
        """Cancel the turn that runs in the line; ``False`` when none does, or it is being cancelled already.

        ``is_told``: whoever stops it tells of it where its answer is read.
        """
        ticket = self.turn_of(key)
        if ticket is None or not ticket.cut(by_stop=True):
            return False
        ticket.is_told = is_told
        return True

    def clear(self, key: SessionKey) -> int:
        """Take away everything that waits in the line; how many messages. The running turn goes on."""
        line = self._lines.get(key)
        if line is None:
            return 0
        gone = self.unbegun(key)
        line.steering.clear()
        self._take_away(gone, ClearedError)
        self._empty(key, line)
        return len(gone)

    def withdraw(self, ticket: Ticket[T]) -> None:
        """Take away one of the ``revisable`` ones: those behind it move up, its owner learns of it.

        A turn that runs, whatever its model has, is cut, and the messages it has taken along come next, as one turn.
        """
        line = self._lines.get(ticket.key)
        if line is not None and ticket.stage is Stage.RUNNING:
            if ticket.take_back():
                heir = ticket.bequeath()
                self._put_back(line, ticket.key, [] if heir is None else [heir])
            return
        self.leave(ticket)
        ticket.move(Stage.OVER, WithdrawnError(TAKEN_BACK))

    def hold(self) -> int:
        """From now on no turn begins; how many messages are left for the next process so far.

        Turns that run go on, and may still take what came in to steer them.
        """
        self._is_holding = True
        for key, line in list(self._lines.items()):
            held = list(line.pending())
            self._held[key] += len(held)
            self._take_away(held, HeldError)
            self._empty(key, line)
        return self._held.total()

    def leave(self, ticket: Ticket[T]) -> None:
        """Take a message out of line wherever it stands, the rest undisturbed. Nothing for one that is not in it."""
        line = self._lines.get(ticket.key)
        if line is None or ticket.stage is Stage.OVER:
            return
        self._release(ticket)
        stage, ticket.stage = ticket.stage, Stage.OVER
        if stage is Stage.CARRIED:
            line.forsake(ticket)
        elif stage is Stage.RUNNING:
            ticket.left.set()
            self._end(line, ticket)
        else:
            line.withdraw(ticket)
        self._advance(ticket.key, line)

    def _end(self, line: Line[T], ticket: Ticket[T]) -> None:
        for each in ticket.carries:
            each.move(Stage.OVER)
        ticket.let_go()
        line.up = None
        self._put_back(line, ticket.key)

    def _put_back(self, line: Line[T], key: SessionKey, left: Sequence[Ticket[T]] = ()) -> None:
        """What a turn has ``left`` of what it took along, and what it did not take, is what comes next."""
        turns = [*left, *line.steering]
        line.steering = []
        if self._is_holding:
            held = [each for turn in turns for each in (turn, *turn.carries)]
            self._held[key] += len(held)
            self._take_away(held, HeldError)
        else:
            line.put_back(turns)

    def _take_away(self, tickets: Sequence[Ticket[T]], fault: type[OutOfLineError]) -> None:
        for ticket in tickets:
            self._release(ticket)
            ticket.move(Stage.OVER, fault("its turn had not begun"))

    def _empty(self, key: SessionKey, line: Line[T]) -> None:
        line.waiting.clear()
        line.up = line.running
        self._advance(key, line)

    def _advance(self, key: SessionKey, line: Line[T]) -> None:
        if line.up is None and line.waiting:
            line.up = line.waiting.popleft()
        if line.up is None:
            del self._lines[key]
        else:
            self._ask(line.up)
        self._grant()

    def _ask(self, ticket: Ticket[T]) -> None:
        line = self._lines.get(ticket.key)
        if line is not None and line.up is ticket and ticket.is_awaited and ticket.stage is Stage.WAITING:
            self._asking[ticket] = None
            self._grant()

    def _grant(self) -> None:
        while self._free and self._asking:
            ticket = next(iter(self._asking))
            del self._asking[ticket]
            self._free -= 1
            ticket.move(Stage.GRANTED)

    def _release(self, ticket: Ticket[T]) -> None:
        """Give back its place among all turns, or its wish for one."""
        self._asking.pop(ticket, None)
        if ticket.stage in (Stage.GRANTED, Stage.RUNNING):
            self._free += 1
