"""An answer that is shown again has its place in its conversation's line, like the turn it belongs to."""

import asyncio

from app.channel import IncomingMessage
from app.dispatch import wording
from app.dispatch.journal import Promise
from app.dispatch.redelivery import PAUSES_S
from app.dispatch.work import Work
from app.errors import DeliveryError
from app.sessions.busy import QUEUE_CAP, BusyInput
from tests.dispatch_house import House
from tests.fakes import FakeChat, FakeReply, message, until


class Slow(FakeChat):
    """A platform that takes its time to show an answer."""

    def __init__(self) -> None:
        super().__init__()
        self.is_shown = asyncio.Event()

    def reply(self) -> FakeReply:
        return Waiting(self.is_shown, self.answer)


class Waiting(FakeReply):
    def __init__(self, is_shown: asyncio.Event, kept: FakeReply) -> None:
        super().__init__()
        self._is_shown = is_shown
        self._kept = kept

    def write(self, text: str) -> None:
        self._kept.write(text)

    async def finish(self) -> None:
        await self._is_shown.wait()


def said(number: int) -> IncomingMessage:
    return message(f"question {number}", root="1.0", position=f"1.{number}", event=f"Ev{number}")


async def owing(house: House, chat: FakeChat) -> None:
    """The first message's answer is made and could not be shown."""
    chat.finish_failure = DeliveryError("unreachable")
    assert await house.handle(said(1), chat) == "undelivered"
    chat.finish_failure = None


async def test_it_waits_for_the_turn_that_runs_and_the_next_turn_waits_for_it() -> None:
    """What the running turn shows could be taken for a part of it."""
    gate, first = asyncio.Event(), FakeChat()
    house = House(["one"], ["two", gate], ["three"], busy_input=BusyInput.STEER)
    await owing(house, first)
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(house.handle(said(2)))
        await until(lambda: house.chat.answer.written == "two")
        await until(lambda: house.dispatcher.lines.waiting == 1)
        assert house.clock.slept == [PAUSES_S[0]]
        assert wording.LATE not in first.answer.written
        gate.set()
    await until(lambda: 1 in house.journal.outcomes)
    rounds.cancel()
    assert first.answer.written.endswith(wording.late("one"))
    assert house.dispatcher.conversations == 0


async def test_it_is_tried_again_when_the_line_is_full() -> None:
    gate, first = asyncio.Event(), FakeChat()
    house = House(["one"], ["two", gate], ["three"])
    await owing(house, first)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        for number in range(2, QUEUE_CAP + 3):
            group.create_task(house.handle(said(number)))
        await until(lambda: house.dispatcher.lines.waiting == QUEUE_CAP)
        rounds = asyncio.create_task(house.dispatcher.redelivery.run())
        await until(lambda: len(house.clock.slept) > 2)
        gate.set()
        await until(lambda: house.journal.outcomes.get(1) == "redelivered")
        rounds.cancel()
    assert first.answer.written.endswith(wording.late("one"))


async def test_nothing_that_is_said_meanwhile_ends_it() -> None:
    house, chat = House(["two"], busy_input=BusyInput.INTERRUPT), Slow()
    accepted = await house.dispatcher.accept(said(1))
    assert accepted is not None
    promise = Promise("Hello", None, 1, accepted.accepted_at)
    work = Work(accepted, chat, is_left_over=True)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        showing = group.create_task(house.dispatcher.redeliver(work, promise))
        await until(lambda: "Hello" in chat.answer.written)
        group.create_task(house.handle(said(2)))
        await until(lambda: house.dispatcher.lines.waiting == 1)
        chat.is_shown.set()
    assert (showing.result(), house.journal.outcomes) == ("redelivered", {1: "redelivered", 2: "ran"})


async def test_whoever_stops_it_has_had_enough_of_it() -> None:
    house, chat = House(), Slow()
    accepted = await house.dispatcher.accept(said(1))
    assert accepted is not None
    work = Work(accepted, chat, is_left_over=True)
    promise = Promise("Hello", None, 1, accepted.accepted_at)
    showing = asyncio.create_task(house.dispatcher.redeliver(work, promise))
    await until(lambda: "Hello" in chat.answer.written)
    assert house.dispatcher.stop(said(1).thread_key)
    assert await showing == "stopped"
    assert house.journal.outcomes == {1: "stopped"}
