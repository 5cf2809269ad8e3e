"""Lines as their owners see them (session lifecycle, section 8)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from app.channel import ThreadKey, UserId
from app.sessions.busy import Arrival, BusyInput, Held, Interrupts, Joins, Refused, Runs, Steers, Waits
from app.sessions.entry import SessionKey
from app.sessions.lines import Lines
from app.sessions.ticket import ClearedError, HeldError, OutOfLineError, Ticket, WithdrawnError
from tests.fakes import until

KEY, OTHER = SessionKey("agent:main:slack:channel:C1:1.0"), SessionKey("agent:main:slack:channel:C1:2.0")
THREAD, OTHER_THREAD = ThreadKey("slack:C1:1.0"), ThreadKey("slack:C1:2.0")
ALICE, BOB = UserId("slack:U1"), UserId("slack:U2")


def texts_of(ticket: Ticket[str]) -> tuple[str, ...]:
    return (ticket.said, *(each.said for each in ticket.carries))


def steered(lines: Lines[str]) -> tuple[str, ...]:
    return tuple(each.said for each in lines.steered(KEY))


@dataclass
class House:
    """Lines with owners that do what the dispatcher does, and a record of how each message ended."""

    group: asyncio.TaskGroup
    lines: Lines[str] = field(default_factory=lambda: Lines[str](concurrent_turns=2))
    began: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    fates: dict[str, str] = field(default_factory=dict[str, str])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])

    def say(
        self,
        text: str,
        mode: BusyInput = BusyInput.QUEUE,
        *,
        key: SessionKey = KEY,
        sender: UserId = ALICE,
        own_turn: bool = False,
    ) -> Ticket[str]:
        thread = THREAD if key == KEY else OTHER_THREAD
        ticket = self.lines.join(key, Arrival(sender, thread, mode, own_turn), text)
        self.gates[text] = asyncio.Event()
        self.tasks[text] = self.group.create_task(self._own(ticket))
        return ticket

    async def _own(self, ticket: Ticket[str]) -> None:
        try:
            carrier = await self.lines.carried(ticket)
            if carrier is None:
                await self._run(ticket)
                return
            self.fates[ticket.said] = f"with {carrier.said}: {carrier.outcome}"
        except OutOfLineError as fault:
            self.fates[ticket.said] = type(fault).__name__

    async def _run(self, ticket: Ticket[str]) -> None:
        async with self.lines.turn(ticket):
            self.began.append(texts_of(ticket))
            try:
                await self.gates[ticket.said].wait()
                ticket.outcome = "ran"
            except asyncio.CancelledError:
                if not ticket.recovers():
                    raise
                cut = "stopped" if ticket.is_stopped else "interrupted"
                ticket.outcome = "withdrawn" if ticket.is_withdrawn else cut
            self.fates[ticket.said] = ticket.outcome

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def end(self, *texts: str) -> None:
        for text in texts:
            self.gates[text].set()
        await until(lambda: all(text in self.fates for text in texts))
        await self.settle()


@asynccontextmanager
async def house() -> AsyncGenerator[House]:
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        house = House(group)
        yield house
        for gate in house.gates.values():
            gate.set()
    assert len(house.lines) == house.lines.running == house.lines.waiting == 0


async def test_turns_of_a_line_run_one_after_the_other_in_the_order_of_arrival() -> None:
    async with house() as home:
        admissions = [home.say(text).admission for text in ("a", "b", "c")]
        assert admissions == [Runs(), Waits(1), Waits(2)]
        await home.settle()
        assert (home.began, home.lines.running, home.lines.depth(KEY), len(home.lines)) == ([("a",)], 1, 2, 1)
        await home.end("a")
        assert home.began == [("a",), ("b",)]
        await home.end("b", "c")
        assert home.began == [("a",), ("b",), ("c",)]


async def test_lines_run_side_by_side_up_to_the_limit_and_waiting_takes_no_place() -> None:
    async with house() as home:
        for text, key in (("a", "k1"), ("a2", "k1"), ("b", "k2"), ("c", "k3")):
            home.say(text, key=SessionKey(key))
        await home.settle()
        assert home.began == [("a",), ("b",)]
        await home.end("a")
        assert home.began[2:] == [("c",)], "who asked first gets the place, the line's next one asks behind it"
        await home.end("b")
        assert home.began[3:] == [("a2",)]


async def test_every_message_queued_by_name_is_one_whole_turn_in_order() -> None:
    async with house() as home:
        for number in range(5):
            home.say(f"q{number}", BusyInput.INTERRUPT, own_turn=True)
        await home.settle()
        for number in range(5):
            await home.end(f"q{number}")
        assert home.began == [(f"q{number}",) for number in range(5)]
        assert set(home.fates.values()) == {"ran"}


async def test_an_interruption_ends_the_running_turn_and_its_burst_is_one_turn() -> None:
    async with house() as home:
        home.say("a")
        await home.settle()
        first, second = home.say("b", BusyInput.INTERRUPT), home.say("c", BusyInput.INTERRUPT)
        assert (first.admission, second.admission) == (Interrupts(1), Joins(1))
        await home.settle()
        assert home.fates == {"a": "interrupted"}
        assert home.began == [("a",), ("b", "c")]
        await home.end("b")
        assert home.fates == {"a": "interrupted", "b": "ran", "c": "with b: ran"}


async def test_a_turn_that_must_not_be_lost_is_not_interrupted() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.is_interruptible = False
        assert home.say("b", BusyInput.INTERRUPT).admission == Waits(1)
        await home.end("a")
        assert home.fates["a"] == "ran"


async def test_steering_reaches_the_running_turn_at_its_boundary() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering = True
        home.say("queued")
        assert [home.say(text, BusyInput.STEER).admission for text in ("s1", "s2")] == [Steers(), Steers()]
        await home.settle()
        assert home.lines.depth(KEY) == 3
        assert steered(home.lines) == ("s1", "s2")
        assert steered(home.lines) == ()
        await home.end("a")
        assert home.fates == {"a": "ran", "s1": "with a: ran", "s2": "with a: ran"}
        assert home.began == [("a",), ("queued",)]


async def test_steering_that_no_boundary_took_is_what_runs_next() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering = True
        for text, mode in (("queued", BusyInput.QUEUE), ("s1", BusyInput.STEER), ("s2", BusyInput.STEER)):
            home.say(text, mode)
        await home.settle()
        await home.end("a", "s1", "s2", "queued")
        assert home.began == [("a",), ("s1",), ("s2",), ("queued",)]


async def test_nobody_steers_a_line_in_which_nothing_runs() -> None:
    async with house() as home:
        assert steered(home.lines) == ()
        ticket = home.lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.STEER), "a")
        assert steered(home.lines) == ()
        assert home.lines.turn_of(KEY) is None
        home.lines.leave(ticket)


async def test_stop_ends_what_runs_in_a_thread_as_far_as_allowed() -> None:
    async with house() as home:
        home.say("a", key=SessionKey("one"), sender=ALICE)
        home.say("b", key=SessionKey("two"), sender=BOB)
        await home.settle()
        assert home.lines.stop(THREAD) == 0
        assert home.lines.stop(OTHER_THREAD, may=lambda ticket: ticket.arrival.sender == BOB) == 1
        assert home.lines.stop(OTHER_THREAD, may=lambda ticket: ticket.arrival.sender == BOB) == 0, "only once"
        await home.settle()
        assert home.fates == {"b": "stopped"}
        assert home.lines.keys == {"one"}


async def test_after_a_stop_the_next_in_line_runs() -> None:
    async with house() as home:
        home.say("a")
        home.say("b")
        await home.settle()
        assert home.lines.stop_line(KEY)
        assert not home.lines.stop_line(OTHER)
        await home.settle()
        assert home.began == [("a",), ("b",)]


async def test_a_turn_never_stops_itself() -> None:
    lines = Lines[str](concurrent_turns=1)
    async with lines.turn(lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.QUEUE), "a")):
        assert not lines.stop_line(KEY)
        assert lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.INTERRUPT), "b").admission == Waits(1)


async def test_the_end_of_the_process_is_never_taken_for_a_stop() -> None:
    async with house() as home:
        home.say("a")
        await home.settle()
        home.lines.stop(THREAD)
        home.tasks["a"].cancel()
        await home.settle()
        assert home.tasks["a"].cancelled()
        assert home.fates == {}


async def test_clearing_takes_away_what_waits_and_leaves_what_runs() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering, running.is_interruptible = True, False
        home.say("steers", BusyInput.STEER)
        home.say("waits", BusyInput.INTERRUPT)
        home.say("joins", BusyInput.INTERRUPT)
        await home.settle()
        assert home.lines.clear(KEY) == 3
        assert home.lines.clear(OTHER) == 0
        await home.settle()
        assert home.fates == dict.fromkeys(("steers", "waits", "joins"), ClearedError.__name__)
        await home.end("a")
        assert home.began == [("a",)]


async def test_clearing_reaches_a_line_that_waits_for_a_place() -> None:
    async with house() as home:
        for key in ("k1", "k2", "k3"):
            home.say(key, key=SessionKey(key))
        await home.settle()
        assert home.lines.clear(SessionKey("k3")) == 1
        assert len(home.lines) == 2
        await home.end("k1")
        home.say("k4", key=SessionKey("k4"))
        await home.settle()
        assert home.lines.running == 2, "the place it had asked for is free for others"


async def test_a_full_line_refuses_and_the_refused_message_has_no_turn() -> None:
    async with house() as home:
        home.lines = Lines[str](concurrent_turns=1, cap=2)
        assert [home.say(text).admission for text in "abcd"] == [Runs(), Waits(1), Waits(2), Refused(2)]
        await home.settle()
        assert home.fates == {"d": OutOfLineError.__name__}


async def test_while_the_process_ends_nothing_begins_and_everything_new_is_held() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering = True
        for text, mode in (("taken", BusyInput.STEER), ("b", BusyInput.QUEUE)):
            home.say(text, mode)
        await home.settle()
        assert home.lines.hold() == 1
        assert home.say("c", BusyInput.INTERRUPT).admission == Held()
        assert home.say("d", key=OTHER).admission == Held()
        assert steered(home.lines) == ("taken",)
        await home.end("a")
        held = dict.fromkeys(("b", "c", "d"), HeldError.__name__)
        assert home.fates == {"a": "ran", "taken": "with a: ran", **held}


async def test_steering_that_a_draining_turn_leaves_behind_is_held() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering = True
        home.say("s", BusyInput.STEER)
        home.lines.hold()
        await home.end("a")
        assert home.fates == {"a": "ran", "s": HeldError.__name__}


async def test_what_is_held_counts_against_the_cap() -> None:
    lines = Lines[str](concurrent_turns=1, cap=2)
    lines.hold()
    admissions = [lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.QUEUE), "x").admission for _ in range(3)]
    assert admissions == [Held(), Held(), Refused(2)]


async def test_leaving_while_waiting_disturbs_nobody() -> None:
    async with house() as home:
        for text in "abc":
            home.say(text)
        await home.settle()
        home.tasks["b"].cancel()
        await home.settle()
        assert home.lines.depth(KEY) == 1
        await home.end("a", "c")
        assert home.began == [("a",), ("c",)]


async def test_those_who_joined_a_message_that_leaves_keep_its_place() -> None:
    async with house() as home:
        home.say("a").is_interruptible = False
        await home.settle()
        for text in "bcd":
            home.say(text, BusyInput.INTERRUPT)
        home.say("e")
        await home.settle()
        home.tasks["b"].cancel()
        await home.settle()
        await home.end("a", "c", "e")
        assert home.began == [("a",), ("c", "d"), ("e",)]
        assert home.fates["d"] == "with c: ran"


async def test_a_message_that_leaves_before_it_is_carried_is_not_answered() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering, running.is_interruptible = True, False
        for text, mode in (("s", BusyInput.STEER), ("b", BusyInput.INTERRUPT), ("c", BusyInput.INTERRUPT)):
            home.say(text, mode)
        await home.settle()
        for text in "sc":
            home.tasks[text].cancel()
        await home.settle()
        assert steered(home.lines) == ()
        await home.end("a", "b")
        assert home.began == [("a",), ("b",)]


async def test_a_message_that_is_taken_back_is_out_of_line_wherever_it_stood() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering, running.is_interruptible = True, False
        steering = home.say("s", BusyInput.STEER)
        leader, joined = home.say("b", BusyInput.INTERRUPT), home.say("c", BusyInput.INTERRUPT)
        behind = home.say("d", sender=BOB)
        assert home.lines.unbegun(KEY) == (steering, leader, joined, behind)
        for ticket in (steering, leader):
            home.lines.withdraw(ticket)
        assert home.lines.unbegun(KEY) == (joined, behind)
        assert steered(home.lines) == ()
        await home.end("a", "c", "d")
        assert home.began == [("a",), ("c",), ("d",)]
    assert {text: home.fates[text] for text in "sb"} == dict.fromkeys("sb", WithdrawnError.__name__)


async def test_what_a_turn_has_taken_along_can_be_taken_back_until_its_words_are_final() -> None:
    async with house() as home:
        running = home.say("a")
        await home.settle()
        running.takes_steering = True
        for text in ("gone", "given"):
            home.say(text, BusyInput.STEER)
        await home.settle()
        gone, given = home.lines.steered(KEY)
        waiting = home.say("waits")
        assert home.lines.unbegun(KEY) == (waiting,)
        assert home.lines.revisable(KEY) == (running, gone, given, waiting)
        running.is_final = given.is_final = True
        assert home.lines.revisable(KEY) == (gone, waiting)
        home.lines.withdraw(gone)
        await home.settle()
        assert (gone.is_withdrawn, given.is_withdrawn) == (True, False)
        assert home.fates == {"gone": WithdrawnError.__name__}
        await home.end("a", "waits")
        assert home.fates["given"] == "with a: ran"
    assert home.lines.revisable(KEY) == ()


async def test_a_turn_that_is_taken_back_leaves_what_it_has_taken_along_to_the_next_one() -> None:
    async with house() as home:
        home.say("a")
        await home.settle()
        first, *along = [home.say(text, BusyInput.INTERRUPT) for text in "bcd"]
        behind = home.say("behind", sender=BOB)
        await until(lambda: home.lines.turn_of(KEY) is first)
        for each in (first, *along):
            each.is_final = True
        home.lines.withdraw(first)
        home.lines.withdraw(first)
        assert home.lines.unbegun(KEY) == (*along, behind), "whoever clears the line finds them there"
        assert not any(each.is_final for each in along)
        await until(lambda: home.began[-1] == ("c", "d"))
        await home.end("c", "behind")
        assert home.began == [("a",), ("b", "c", "d"), ("c", "d"), ("behind",)]
    assert {text: home.fates[text] for text in "bcd"} == {"b": "withdrawn", "c": "ran", "d": "with c: ran"}


async def test_a_turn_that_is_being_stopped_ends_so_for_all_of_its_messages() -> None:
    async with house() as home:
        home.say("a")
        await home.settle()
        first, second = (home.say(text, BusyInput.INTERRUPT) for text in "bc")
        await until(lambda: home.lines.turn_of(KEY) is first)
        assert home.lines.stop_line(KEY)
        home.lines.withdraw(first)
        await until(lambda: "c" in home.fates)
        assert (first.is_withdrawn, second.carrier) == (False, first)
    assert home.fates == {"a": "interrupted", "b": "stopped", "c": "with b: stopped"}


async def test_what_a_turn_that_is_taken_back_leaves_behind_is_held_while_the_process_ends() -> None:
    async with house() as home:
        home.say("a")
        await home.settle()
        first, *_ = [home.say(text, BusyInput.INTERRUPT) for text in "bcd"]
        await until(lambda: home.lines.turn_of(KEY) is first)
        assert home.lines.hold() == 0
        home.lines.withdraw(first)
        await until(lambda: len(home.fates) == 4)
        assert home.lines.hold() == 2
    assert {text: home.fates[text] for text in "bcd"} == {"b": "withdrawn"} | dict.fromkeys("cd", HeldError.__name__)


async def test_a_message_that_is_taken_back_when_it_is_next_leaves_its_place_to_others() -> None:
    lines = Lines[str](concurrent_turns=1)
    running, up, last = (
        lines.join(SessionKey(name), Arrival(ALICE, THREAD, BusyInput.QUEUE), name)
        for name in ("running", "up", "last")
    )
    async with asyncio.timeout(20), asyncio.TaskGroup() as group, lines.turn(running):
        waiting = [group.create_task(_fate(lines, ticket)) for ticket in (up, last)]
        await until(lambda: last.is_awaited)
        lines.withdraw(up)
    assert [task.result() for task in waiting] == [WithdrawnError.__name__, "ran"]


async def _fate(lines: Lines[str], ticket: Ticket[str]) -> str:
    try:
        async with lines.turn(ticket):
            return "ran"
    except OutOfLineError as fault:
        return type(fault).__name__


async def test_a_message_whose_owner_gives_up_before_waiting_leaves_no_trace() -> None:
    lines = Lines[str](concurrent_turns=1)
    ticket = lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.QUEUE), "a")
    lines.leave(ticket)
    lines.leave(ticket)
    assert len(lines) == 0


async def test_an_owner_that_is_slow_to_wait_keeps_its_order_and_takes_no_place() -> None:
    lines = Lines[str](concurrent_turns=1)
    slow = lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.QUEUE), "slow")
    async with (
        asyncio.timeout(20),
        lines.turn(lines.join(OTHER, Arrival(ALICE, OTHER_THREAD, BusyInput.QUEUE), "quick")),
    ):
        assert lines.running == 1
    async with asyncio.timeout(20), lines.turn(slow):
        assert lines.turn_of(KEY) is slow


async def test_a_carried_message_has_no_turn_of_its_own() -> None:
    lines = Lines[str](concurrent_turns=1)
    lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.INTERRUPT), "a")
    joined = lines.join(KEY, Arrival(ALICE, THREAD, BusyInput.INTERRUPT), "b")
    with pytest.raises(OutOfLineError):
        async with lines.turn(joined):
            pytest.fail("it began")
