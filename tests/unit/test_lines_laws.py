"""The laws of lines over any history: every message ends once, in order, and nothing waits for ever.

Session lifecycle, section 8. Each history runs on a loop of its own; ``Pause`` lets the owners take a few steps, so
that everything can also happen before an owner has woken up.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.channel import ThreadKey, UserId
from app.sessions.busy import Arrival, BusyInput, Refused, Steers
from app.sessions.entry import SessionKey
from app.sessions.lines import Lines
from app.sessions.ticket import ClearedError, HeldError, OutOfLineError, Stage, Ticket, WithdrawnError

PLACES, CAP = 2, 3
KEYS = tuple(SessionKey(f"k{number}") for number in range(3))
MOST_STEPS = 1_000
NOTHING = -1
THREADS = (ThreadKey("t0"), ThreadKey("t1"))
SENDERS = (UserId("u0"), UserId("u1"))


@dataclass(frozen=True)
class Arrive:
    key: SessionKey
    thread_key: ThreadKey
    sender: UserId
    mode: BusyInput
    own_turn: bool
    is_slow: bool
    """Its owner does something else (an acknowledgement, say) before it waits."""
    takes_steering: bool = False
    is_interruptible: bool = True
    has_wishes: bool = False


@dataclass(frozen=True)
class Acknowledge:
    which: int


@dataclass(frozen=True)
class Finish:
    which: int


@dataclass(frozen=True)
class Cancel:
    which: int


@dataclass(frozen=True)
class Stop:
    thread_key: ThreadKey


@dataclass(frozen=True)
class Clear:
    key: SessionKey


@dataclass(frozen=True)
class Boundary:
    """The running turn takes what steers it, and says what it takes from here on."""

    key: SessionKey
    takes_steering: bool
    is_interruptible: bool


@dataclass(frozen=True)
class Withdraw:
    """The author of a message that still can takes it back; of one whose turn runs, always."""

    which: int


@dataclass(frozen=True)
class Hold:
    pass


@dataclass(frozen=True)
class Pause:
    steps: int


Step = Arrive | Acknowledge | Finish | Cancel | Stop | Clear | Boundary | Withdraw | Hold | Pause

threads, which, flags = st.sampled_from(THREADS), st.integers(0, 30), st.booleans()
keys = st.sampled_from((KEYS[0], KEYS[0], *KEYS))
seldom = st.sampled_from((False, False, False, True))
KINDS: dict[str, st.SearchStrategy[Step]] = {
    "arrive": st.builds(
        Arrive,
        keys,
        threads,
        st.sampled_from(SENDERS),
        st.sampled_from(BusyInput),
        seldom,
        seldom,
        flags,
        flags,
        seldom,
    ),
    "pause": st.builds(Pause, st.integers(1, 4)),
    "finish": st.builds(Finish, which),
    "boundary": st.builds(Boundary, keys, flags, flags),
    "acknowledge": st.builds(Acknowledge, which),
    "cancel": st.builds(Cancel, which),
    "stop": st.builds(Stop, threads),
    "clear": st.builds(Clear, keys),
    "withdraw": st.builds(Withdraw, which),
}
OFTEN = ("arrive", "arrive", "arrive", "arrive", "arrive", "pause", "pause", "finish", "boundary", "cancel")
"""A plain choice among the kinds would clear and stop so often that lines stay empty."""
steps = st.sampled_from((*OFTEN, *OFTEN, *KINDS)).flatmap(KINDS.__getitem__)
histories = st.tuples(st.lists(steps, min_size=40, max_size=80), st.lists(steps, max_size=20), flags)


@dataclass(eq=False)
class Message:
    number: int
    ticket: Ticket[int]
    step: Arrive
    steers: int
    """The message whose turn it was to steer when it arrived."""
    acknowledged: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    fates: list[str] = field(default_factory=list[str])
    is_cancelled: bool = False
    """By the end of the process, and nobody else."""


class History:
    def __init__(self) -> None:
        self.lines = Lines[int](PLACES, CAP)
        self.messages: list[Message] = []
        self.running: list[Message] = []
        self.answered: dict[SessionKey, list[int]] = defaultdict(list)
        """By line, every message that a turn got to see, in the order in which it did."""
        self.is_holding = False

    async def own(self, message: Message) -> None:
        ticket = message.ticket
        try:
            await message.acknowledged.wait()
            carrier = await self.lines.carried(ticket)
            if carrier is None:
                await self.run(message)
            else:
                assert carrier.arrival.sender == ticket.arrival.sender, "it went with another person's turn"
                message.fates.append("carried")
        except ClearedError:
            message.fates.append("cleared")
        except HeldError:
            message.fates.append("held")
        except WithdrawnError:
            message.fates.append("withdrawn")
        except OutOfLineError:
            message.fates.append("refused")
        except asyncio.CancelledError:
            assert message.is_cancelled, "a person cut what had ended"
            message.fates = message.fates or ["left"]
            raise
        finally:
            self.lines.leave(ticket)

    async def run(self, message: Message) -> None:
        ticket = message.ticket
        async with self.lines.turn(ticket):
            assert not self.is_holding, "a turn began while the process ends"
            assert all(other.ticket.key != ticket.key for other in self.running), "two turns of one line"
            assert len(self.running) < PLACES, "more turns than places"
            self.running.append(message)
            ticket.takes_steering = message.step.takes_steering
            ticket.is_interruptible = message.step.is_interruptible
            try:
                await message.gate.wait()
            except asyncio.CancelledError:
                if not ticket.recovers():
                    raise
            finally:
                self.running.remove(message)
                if not ticket.is_withdrawn:
                    self.answered[ticket.key].extend([message.number, *(each.said for each in ticket.carries)])
            for each in (ticket, *ticket.carries):
                each.is_final = True
            ticket.outcome = "withdrawn" if ticket.is_withdrawn else "ran"
            message.fates.append(ticket.outcome)
            # What is around the answer is cleared away.
            await self.pause(2)

    async def take(self, step: Step) -> None:
        match step:
            case Pause(count):
                await self.pause(count)
            case Acknowledge() | Finish() | Cancel():
                self.move_one(step)
            case _:
                self.move_lines(step)

    def move_one(self, step: Acknowledge | Finish | Cancel) -> None:
        among = self.running if isinstance(step, Finish) else self.messages
        if not among:
            return
        message = among[step.which % len(among)]
        if isinstance(step, Cancel):
            assert message.task is not None
            message.is_cancelled = True
            message.task.cancel()
        else:
            (message.gate if isinstance(step, Finish) else message.acknowledged).set()

    def move_lines(self, step: Arrive | Stop | Clear | Boundary | Withdraw | Hold) -> None:
        match step:
            case Arrive():
                self.arrive(step)
            case Boundary():
                self.reach(step)
            case Stop(thread_key):
                self.lines.stop(thread_key)
            case Clear(key):
                depth = self.lines.depth(key)
                assert self.lines.clear(key) == depth
            case Withdraw(number):
                able = list({ticket: None for key in KEYS for ticket in self.lines.revisable(key)} | self.turns())
                if able:
                    self.lines.withdraw(able[number % len(able)])
            case Hold():
                self.is_holding = True
                self.lines.hold()

    def arrive(self, step: Arrive) -> None:
        number, behind = len(self.messages), self.lines.depth(step.key)
        arrival = Arrival(step.sender, step.thread_key, step.mode, step.own_turn, step.has_wishes)
        ticket = self.lines.join(step.key, arrival, number)
        assert not isinstance(ticket.admission, Refused) or behind >= CAP or self.is_holding
        message = Message(number, ticket, step, NOTHING if ticket.carrier is None else ticket.carrier.said)
        if not step.is_slow:
            message.acknowledged.set()
        message.task = asyncio.get_running_loop().create_task(self.own(message))
        # A task that is cancelled before its first step leaves no line by itself.
        message.task.add_done_callback(lambda _: self.lines.leave(ticket))
        self.messages.append(message)

    def turns(self) -> dict[Ticket[int], None]:
        return dict.fromkeys(self.lines.turns())

    def reach(self, step: Boundary) -> None:
        # What it takes at one boundary can be taken back until the next one.
        if (running := self.lines.turn_of(step.key)) is not None and running.outcome is None:
            for each in (running, *running.carries):
                each.is_final = True
            self.lines.steered(step.key)
            running.takes_steering, running.is_interruptible = step.takes_steering, step.is_interruptible

    async def pause(self, count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    def check(self) -> None:
        """Everything in line is counted as running, carried or waiting; the running turns are the lines' own."""
        in_line = sum(message.ticket.stage is not Stage.OVER for message in self.messages)
        turns = [ticket for key in KEYS if (ticket := self.lines.turn_of(key)) is not None]
        assert in_line == self.lines.waiting + self.lines.running + sum(len(ticket.carries) for ticket in turns)
        assert {message.ticket for message in self.running} <= set(turns)

    def check_that_places_are_used(self) -> None:
        """Once everybody had their steps: who could run does."""
        idle = [
            key
            for key in self.lines.keys
            if self.lines.turn_of(key) is None
            and all(each.acknowledged.is_set() for each in self.messages if each.ticket.key == key)
        ]
        assert not idle or len(self.running) == PLACES

    async def end(self) -> None:
        """Every owner is acknowledged, every turn allowed to end: then every message does."""
        for message in self.messages:
            message.acknowledged.set()
            message.gate.set()
        tasks = [message.task for message in self.messages if message.task is not None]
        for _ in range(MOST_STEPS):
            if all(task.done() for task in tasks):
                break
            await asyncio.sleep(0)
        assert all(task.done() for task in tasks), "somebody waits for ever"
        await self.pause(2)
        for task in tasks:
            if not task.cancelled():
                task.result()

    def check_fates(self) -> None:
        assert len(self.lines) == self.lines.running == self.lines.waiting == 0
        seen = Counter(number for numbers in self.answered.values() for number in numbers)
        assert set(seen.values()) <= {1}, "a message was answered twice"
        for message in self.messages:
            is_cancelled = message.task is not None and message.task.cancelled()
            assert len(message.fates) == 1 or (is_cancelled and not message.fates)
            match message.fates:
                case ["ran" | "carried"]:
                    assert seen[message.number] == 1
                case ["cleared" | "held" | "refused" | "withdrawn"]:
                    assert seen[message.number] == 0
                case _:
                    assert is_cancelled
        for numbers in self.answered.values():
            self.check_order(numbers)

    def check_order(self, numbers: Sequence[int]) -> None:
        """The order of arrival is the order of the turns; only what steers a turn goes ahead of what waits for one."""
        for place, number in enumerate(numbers):
            overtaken = [each for each in numbers[place:] if each < number]
            assert not overtaken or isinstance(self.messages[number].ticket.admission, Steers), "it overtook others"
        together = defaultdict[int, list[int]](list)
        for number in numbers:
            together[self.messages[number].steers].append(number)
        for turn, steering in together.items():
            assert steering == sorted(steering) or turn == NOTHING, "what steered one turn was reordered"

    async def check_that_no_place_is_lost(self) -> None:
        """As many turns as there are places can run after all that."""
        first_new = len(self.messages)
        for key in KEYS:
            self.arrive(Arrive(key, THREADS[0], SENDERS[0], BusyInput.QUEUE, own_turn=False, is_slow=False))
        await self.pause(5)
        assert [message.number for message in self.running] == [first_new + place for place in range(PLACES)]
        await self.end()


async def play(before: Sequence[Step], after: Sequence[Step], *, with_hold: bool) -> Counter[str]:
    history = History()
    for step in [*before, *([Hold()] if with_hold else []), *after]:
        await history.take(step)
        history.check()
    await history.pause(10)
    history.check_that_places_are_used()
    await history.end()
    history.check_fates()
    fates = Counter(message.fates[0] if message.fates else "left" for message in history.messages)
    assert fates.total() == len(history.messages)
    if not with_hold:
        await history.check_that_no_place_is_lost()
    return fates


@pytest.mark.unfollowed  # four hundred histories go through lines that other tests reach too
@settings(max_examples=400, deadline=None)
@given(histories)
def test_over_any_history_every_message_ends_once_in_order_and_no_place_is_lost(
    history: tuple[list[Step], list[Step], bool],
) -> None:
    before, after, with_hold = history
    fates = asyncio.run(play(before, after, with_hold=with_hold))
    assert fates.total() == sum(isinstance(step, Arrive) for step in [*before, *after])


def test_a_history_in_which_everything_happens_accounts_for_every_message() -> None:
    def arrive(mode: BusyInput, *, key: SessionKey = KEYS[0], own_turn: bool = False) -> Arrive:
        return Arrive(key, THREADS[0], SENDERS[0], mode, own_turn, is_slow=False)

    queue, steer, interrupt = BusyInput.QUEUE, BusyInput.STEER, BusyInput.INTERRUPT
    before: list[Step] = [
        arrive(queue),
        Pause(3),
        Boundary(KEYS[0], takes_steering=True, is_interruptible=False),
        arrive(steer),
        arrive(steer),
        Pause(3),
        Boundary(KEYS[0], takes_steering=False, is_interruptible=False),
        Withdraw(0),
        Pause(3),
        Boundary(KEYS[0], takes_steering=False, is_interruptible=True),
        arrive(interrupt),
        arrive(interrupt),
        Pause(3),
        arrive(queue),
        arrive(queue),
        arrive(queue),
        arrive(queue),
        Pause(3),
        Cancel(5),
        Clear(KEYS[0]),
        Pause(3),
        arrive(queue),
        Pause(3),
    ]
    fates = asyncio.run(play(before, [arrive(queue), Pause(3)], with_hold=True))
    assert fates == {"ran": 2, "carried": 2, "refused": 1, "cleared": 2, "left": 1, "held": 2, "withdrawn": 1}
