"""What can be seen of lines without changing them (session lifecycle, section 8)."""

import asyncio
from collections.abc import Sequence

from app.channel import ThreadKey, UserId
from app.sessions.busy import Arrival, BusyInput
from app.sessions.entry import SessionKey
from app.sessions.lines import Lines
from app.sessions.ticket import Ticket
from tests.fakes import until

KEY, OTHER = SessionKey("agent:main:slack:channel:C1:1.0"), SessionKey("agent:main:slack:channel:C1:2.0")
THREAD, ALICE = ThreadKey("slack:C1:1.0"), UserId("slack:U1")


def join(lines: Lines[str], text: str, mode: BusyInput = BusyInput.QUEUE, key: SessionKey = KEY) -> Ticket[str]:
    return lines.join(key, Arrival(ALICE, THREAD, mode), text)


def texts(tickets: Sequence[Ticket[str]]) -> list[str]:
    return [each.said for each in tickets]


async def test_nothing_is_seen_of_a_line_in_which_nobody_stands() -> None:
    lines = Lines[str](1)
    assert (lines.turns(), lines.tickets(KEY), lines.is_taken(KEY)) == ((), (), False)


async def test_every_message_of_a_line_is_seen_in_its_order() -> None:
    lines = Lines[str](2)
    runs, ends = join(lines, "runs"), asyncio.Event()
    boundary = asyncio.Event()

    async def own() -> None:
        async with lines.turn(runs):
            runs.takes_steering = True
            await boundary.wait()
            assert [each.said for each in lines.steered(KEY)] == ["taken"]
            await ends.wait()

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(own())
        await until(lambda: runs.takes_steering)
        taken = join(lines, "taken", BusyInput.STEER)
        boundary.set()
        await until(lambda: bool(runs.carries))
        for text, mode in (("steers", BusyInput.STEER), ("waits", BusyInput.QUEUE), ("joins", BusyInput.INTERRUPT)):
            join(lines, text, mode)
        join(lines, "elsewhere", key=OTHER)
        assert texts(lines.tickets(KEY)) == ["runs", "taken", "steers", "waits", "joins"]
        assert texts(lines.turns()) == ["runs"]
        assert taken.carrier is runs
        ends.set()
    assert lines.turns() == ()


async def test_a_line_is_taken_by_the_turns_of_others_from_the_moment_they_may_begin() -> None:
    lines = Lines[str](1)
    gate, seen = asyncio.Event(), list[bool]()

    async def own(ticket: Ticket[str]) -> None:
        async with lines.turn(ticket):
            seen.append(lines.is_taken(KEY))
            await gate.wait()

    async with asyncio.TaskGroup() as group:
        ticket = join(lines, "runs")
        assert not lines.is_taken(KEY), "nobody waits for its turn yet"
        group.create_task(own(ticket))
        await until(lambda: lines.is_taken(KEY))
        await until(lambda: bool(seen))
        assert lines.is_taken(KEY)
        assert not lines.is_taken(OTHER)
        gate.set()
    assert seen == [False], "its own turn is in nobody's way"
    assert not lines.is_taken(KEY)


async def test_that_a_turn_has_ended_can_be_waited_for() -> None:
    lines = Lines[str](1)
    ticket = join(lines, "runs")
    async with lines.turn(ticket):
        assert not ticket.left.is_set()
    async with asyncio.timeout(20):
        await ticket.left.wait()
