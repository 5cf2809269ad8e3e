"""A turn that is over holds nothing: what it took is free at once, and not when a collection finds a circle of it."""

import asyncio
import gc
import weakref
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, field, replace

import pytest

from app.channel import no_others
from app.sessions.busy import BusyInput
from tests.dispatch_house import House
from tests.fakes import FakeChat, FakeReply, message, until


class HoldingReply(FakeReply):
    """Knows, as Slack's does, what it is also the answer to."""

    def __init__(self, others: Callable[[], Collection[str]]) -> None:
        super().__init__()
        self.others = others


@dataclass
class Watched(FakeChat):
    """Each way of looking at the conversation is another one, as Slack's is."""

    others: Callable[[], Collection[str]] = no_others
    replies: "list[weakref.ref[HoldingReply]]" = field(default_factory=list["weakref.ref[HoldingReply]"])

    def noting(
        self,
        on_posted: Callable[[str], None],
        others: Callable[[], Collection[str]] = no_others,
    ) -> "Watched":
        return replace(self, others=others)

    def reply(self) -> HoldingReply:
        made = HoldingReply(self.others)
        self.replies.append(weakref.ref(made))
        return made


class Burst:
    """An answer that is under way, and two messages at once behind it, of whose conversations nobody else knows."""

    def __init__(self, busy_input: BusyInput) -> None:
        self.gate = asyncio.Event()
        self.house = House(["one", self.gate], ["two"], busy_input=busy_input)
        self.said = [message(f"{number}", position=f"1.{number}", root="1.0", event=f"Ev{number}") for number in "123"]
        self.chats: list[weakref.ref[Watched]] = []
        self._tasks: list[asyncio.Task[str]] = []

    async def begin(self) -> None:
        self._say(0)
        await until(lambda: len(self.house.provider.requests) == 1)
        self._say(1)
        self._say(2)
        await until(lambda: self.house.dispatcher.lines.waiting + len(self.house.journal.outcomes) > 1)

    async def end(self) -> list[str]:
        self.gate.set()
        outcomes = await asyncio.gather(*self._tasks)
        self._tasks.clear()
        return outcomes

    @property
    def held(self) -> list[bool]:
        return [chat() is not None for chat in self.chats]

    def _say(self, number: int) -> None:
        chat = Watched()
        self.chats.append(weakref.ref(chat))
        self._tasks.append(asyncio.create_task(self.house.handle(self.said[number], chat)))


@pytest.fixture
def without_collections() -> Generator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collections")
async def test_the_reply_of_a_turn_is_free_when_the_turn_is_over() -> None:
    house, chat = House(), Watched()
    assert await house.handle(message("which port?"), chat) == "ran"
    assert [reply() for reply in chat.replies] == [None]


@pytest.mark.usefixtures("without_collections")
async def test_messages_that_are_answered_together_are_free_when_they_are_answered() -> None:
    burst = Burst(BusyInput.INTERRUPT)
    await burst.begin()
    assert await burst.end() == ["interrupted", "ran", "carried"]
    assert burst.held == [False, False, False]


@pytest.mark.usefixtures("without_collections")
async def test_a_message_that_was_taken_back_in_line_is_free_when_it_has_ended() -> None:
    burst = Burst(BusyInput.QUEUE)
    await burst.begin()
    await burst.house.dispatcher.revising.withdraw(burst.said[1].place, burst.said[1].user_id)
    assert await burst.end() == ["ran", "withdrawn", "ran"]
    assert burst.held == [False, False, False]


@pytest.mark.usefixtures("without_collections")
async def test_messages_that_were_taken_out_of_line_together_are_free_when_they_have_ended() -> None:
    burst = Burst(BusyInput.INTERRUPT)
    await burst.begin()
    (key,) = burst.house.dispatcher.lines.keys
    burst.house.dispatcher.lines.clear(key)
    assert await burst.end() == ["interrupted", "cleared", "cleared"]
    assert burst.held == [False, False, False]
