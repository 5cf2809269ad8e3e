"""No message of a conversation overtakes another one on its way to the line."""

import asyncio

from app.channel import Address, IncomingMessage
from app.dispatch.arrivals import Arrivals
from app.dispatch.dispatcher import NOT_MEANT, UNREAD
from app.errors import ChannelUnavailableError
from app.sessions.entry import SessionKey
from tests.dispatch_house import House
from tests.fakes import FakeChat, message, until

ONE, OTHER = SessionKey("one"), SessionKey("other")
ROOT = "1600000000.000100"
TASKS: set[asyncio.Task[None]] = set()
"""A task that nobody refers to may be gone before it is done."""


class SlowThread(FakeChat):
    """A thread that is read when a test says so."""

    def __init__(self, *, is_part: bool = True) -> None:
        super().__init__(is_part=is_part)
        self.read = asyncio.Event()

    async def takes_part(self) -> bool:
        await self.read.wait()
        return await super().takes_part()


async def entered(arrivals: Arrivals, key: SessionKey, name: str, told: list[str]) -> asyncio.Event:
    """One whose body ends when the event is set; it is named once it has left."""
    done, is_in = asyncio.Event(), asyncio.Event()

    async def arrive() -> None:
        async with arrivals.in_order(key):
            is_in.set()
            await done.wait()
        told.append(name)

    task = asyncio.create_task(arrive(), name=name)
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)
    await is_in.wait()
    return done


async def test_who_is_done_first_leaves_behind_those_who_came_first() -> None:
    arrivals, told = Arrivals(), list[str]()
    first = await entered(arrivals, ONE, "first", told)
    second = await entered(arrivals, ONE, "second", told)
    third = await entered(arrivals, ONE, "third", told)
    third.set()
    second.set()
    await asyncio.sleep(0)
    assert told == []
    first.set()
    await until(lambda: len(told) == 3)
    assert told == ["first", "second", "third"]


async def test_conversations_do_not_wait_for_each_other() -> None:
    arrivals, told = Arrivals(), list[str]()
    first = await entered(arrivals, ONE, "first", told)
    other = await entered(arrivals, OTHER, "other", told)
    other.set()
    await until(lambda: told == ["other"])
    first.set()
    await until(lambda: len(told) == 2)
    assert told == ["other", "first"]


async def test_one_that_is_cancelled_lets_nobody_past_those_before_it() -> None:
    arrivals, told = Arrivals(), list[str]()
    first = await entered(arrivals, ONE, "first", told)
    await entered(arrivals, ONE, "cancelled", told)
    last = await entered(arrivals, ONE, "last", told)
    last.set()
    (cancelled,) = (task for task in asyncio.all_tasks() if task.get_name() == "cancelled")
    cancelled.cancel()
    await asyncio.wait([cancelled])
    assert told == []
    first.set()
    await until(lambda: told == ["first", "last"])


async def test_a_mention_does_not_overtake_an_unmentioned_reply_whose_thread_is_still_being_read() -> None:
    """Session lifecycle, section 8: first in, first out."""
    house, slow = House(), SlowThread()
    reply = message("one", position="1700000000.000100", root=ROOT, address=Address.FOLLOW_UP, event="Ev1")
    mention = message("two", position="1700000000.000200", root=ROOT, event="Ev2")
    async with asyncio.TaskGroup() as group:
        group.create_task(house.handle(reply, slow))
        await asyncio.sleep(0)
        group.create_task(house.handle(mention, FakeChat()))
        await asyncio.sleep(0)
        slow.read.set()
    assert [request.messages[-1].text for request in house.provider.requests] == ["Alice: one", "Alice: two"]


async def test_a_reply_that_is_not_for_the_bot_or_cannot_be_judged_holds_up_nobody() -> None:
    house, slow, blind = House(), SlowThread(is_part=False), FakeChat(unreadable=ChannelUnavailableError("away"))
    aside, unread = (
        message(text, position=f"1700000000.{text}", root=ROOT, address=Address.FOLLOW_UP, event=text)
        for text in ("000100", "000200")
    )
    mention = message("to you", position="1700000000.000300", root=ROOT, event="Ev3")
    async with asyncio.TaskGroup() as group:
        outcomes = [group.create_task(house.handle(aside, slow)), group.create_task(house.handle(unread, blind))]
        outcomes.append(group.create_task(house.handle(mention, FakeChat())))
        await asyncio.sleep(0)
        slow.read.set()
    assert [outcome.result() for outcome in outcomes] == [NOT_MEANT, UNREAD, "ran"]


async def test_a_mention_whose_place_is_still_being_looked_up_is_not_overtaken() -> None:
    """A mention's event does not say what kind of channel it is in."""
    house, told = House(), asyncio.Event()

    async def looked_up(said: IncomingMessage) -> IncomingMessage:
        await told.wait()
        return said

    mention = message("one", position="1700000000.000100", root=ROOT, event="Ev1")
    reply = message("two", position="1700000000.000200", root=ROOT, address=Address.FOLLOW_UP, event="Ev2")
    first = await house.dispatcher.accept(mention)
    assert first is not None
    async with asyncio.TaskGroup() as group:
        group.create_task(house.dispatcher.handle(first, FakeChat(), looked_up))
        await asyncio.sleep(0)
        group.create_task(house.handle(reply, FakeChat(is_part=True)))
        await asyncio.sleep(0)
        told.set()
    assert [request.messages[-1].text for request in house.provider.requests] == ["Alice: one", "Alice: two"]
