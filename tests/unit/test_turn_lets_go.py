"""A turn that is over holds nothing: what it took is free at once, and not when a collection finds a circle of it."""

import gc
import weakref
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, field, replace

import pytest

from app.channel import no_others
from tests.dispatch_house import House
from tests.fakes import FakeChat, FakeReply, message


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

    def answering(self, others: Callable[[], Collection[str]]) -> "Watched":
        return replace(self, others=others)

    def reply(self) -> HoldingReply:
        made = HoldingReply(self.others)
        self.replies.append(weakref.ref(made))
        return made


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
