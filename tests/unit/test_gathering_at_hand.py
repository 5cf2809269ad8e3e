"""What a turn has at hand is taken without a task; what has to be waited for is waited for all at once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.access.actor import ActorKind, ChannelFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.channel import ChannelId, IncomingMessage, ThreadKey, ThreadMessage, Visibility
from memory.store import Query, Retrieved
from memory.stores.null import NullStore
from tests.counting_tasks import tasks_made
from tests.dispatch_house import House, SlowChat
from tests.fakes import Members, message, until

FIRST, SECOND = "1700000000.000100", "1700000000.000200"


def said_in(channel: str, position: str, root: str | None = None) -> IncomingMessage:
    said = message(position=position, root=root, event=f"Ev{position}")
    return replace(said, channel_id=ChannelId(channel), thread_key=ThreadKey(f"{channel}:{root or position}"))


class SlowStore(NullStore):
    """One that has to be waited for."""

    def __init__(self) -> None:
        self.is_asked = False

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        return None

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        self.is_asked = True
        return await super().retrieve(scope_key, query)


class SlowThread(SlowChat):
    """One whose thread takes its time, too."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = False

    async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:
        self.is_read = True
        await self.is_known.wait()
        return await super().history(after)


async def test_a_thread_that_begins_with_somebody_known_becomes_no_task() -> None:
    house = House()
    with tasks_made() as tasks:
        assert await house.handle(message()) == "ran"
    assert tasks == []


@pytest.mark.parametrize(("channel", "is_read"), [("slack:D1", False), ("slack:C1", True)])
async def test_further_words_take_a_task_only_where_others_may_have_spoken_between(
    channel: str, *, is_read: bool
) -> None:
    house = House()
    await house.handle(said_in(channel, FIRST))
    with tasks_made() as tasks:
        assert await house.handle(said_in(channel, SECOND, root=FIRST)) == "ran"
    assert ("Provision._seen" in tasks) is is_read


async def test_thread_memory_and_name_are_waited_for_all_at_once() -> None:
    store, chat = SlowStore(), SlowThread()
    house = House(memory=store)
    turn = asyncio.ensure_future(house.handle(message(position=SECOND, root=FIRST), chat))
    await until(lambda: chat.is_read and chat.is_asked and store.is_asked)
    chat.is_known.set()
    assert await turn == "ran"


async def test_a_name_and_memory_are_waited_for_side_by_side_where_no_thread_is_read() -> None:
    store, chat = SlowStore(), SlowChat()
    house = House(memory=store)
    turn = asyncio.ensure_future(house.handle(message(), chat))
    await until(lambda: chat.is_asked and store.is_asked)
    chat.is_known.set()
    assert await turn == "ran"


class NamedRooms:
    """Counts who asks."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def facts(self, channel_id: str) -> ChannelFacts:
        self.asked.append(channel_id)
        return ChannelFacts(Visibility.PUBLIC, is_ext_shared=False, name="deploys", topic="What goes out")


async def test_the_place_that_a_model_is_told_of_is_the_one_that_was_looked_up_to_admit_the_question() -> None:
    rooms = NamedRooms()
    house = House(access=TableAuthority("acme", Grants(), people=Members(ActorKind.MEMBER), places=rooms))
    await house.handle(message())
    told = "\n".join(house.provider.requests[0].system)
    assert '- Place: channel "deploys"' in told
    assert '- Topic: "What goes out"' in told
    assert rooms.asked == ["slack:C1"]
