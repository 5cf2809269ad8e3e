"""A new session takes back what was set for its conversation alone, over every database."""

import pytest
from sqlalchemy import text as sql

from app.dispatch.conversations import LiveConversations
from app.dispatch.keying import Keying
from app.sessions.key import KeyRules
from app.state.engine import Database
from app.state.preferences import StatePreferences
from commands.errors import ConflictError, UnavailableError
from commands.preferences import Layer, Name, Setting, Slot
from commands.spec import Caller, Origin, Surface
from tests.live_house import ANN, BO, LiveHouse, calling, heard

THREAD, CHANNEL = "slack:C1:1.0", "slack:C1"
MODEL, EFFORT, REPO, AGENT = (
    Slot(Layer.THREAD, THREAD, name) for name in (Name.MODEL, Name.EFFORT, Name.REPO, Name.AGENT)
)
OTHERS = (
    AGENT,
    Slot(Layer.THREAD, "slack:C1:2.0", Name.MODEL),
    Slot(Layer.USER, ANN, Name.MODEL),
    Slot(Layer.USER, ANN, Name.INSTRUCTIONS),
    Slot(Layer.CHANNEL, CHANNEL, Name.EFFORT),
    Slot(Layer.CHANNEL, CHANNEL, Name.REPO),
)
EVERYWHERE = {Layer.USER: ANN, Layer.CHANNEL: CHANNEL}


class Talk:
    """Conversations and settings in one database."""

    def __init__(self, database: Database, keying: Keying | None = None) -> None:
        self.house = LiveHouse(database, keying or Keying())
        self.preferences = StatePreferences(database, self.house.clock.now)
        house = self.house
        asked = house.asked
        changed = type(asked)(asked.usage, asked.compressor, self.preferences, asked.choices, asked.windows)
        self.conversations = LiveConversations(house.kept, changed)

    async def choose(self, *slots: Slot) -> None:
        for slot in slots:
            await self.preferences.set(slot, "high", expected_version=0, by=ANN)

    async def of_thread(self) -> dict[Name, Setting]:
        """As the next turn reads it, right after another one."""
        return {each.slot.name: each for each in await self.preferences.get({Layer.THREAD: THREAD})}


@pytest.fixture
def talk(database: Database) -> Talk:
    return Talk(database)


async def test_a_new_session_begins_without_what_was_chosen_for_the_one_before(talk: Talk) -> None:
    await talk.house.said(heard("one", position="1.1"))
    await talk.choose(MODEL, EFFORT, REPO)
    assert (await talk.of_thread())[Name.MODEL].value == "high"
    done = await talk.conversations.reset(calling("1.2", by=BO), None)
    assert done.cleared == (Name.EFFORT, Name.MODEL, Name.REPO)
    assert await talk.of_thread() == {
        Name.EFFORT: Setting(EFFORT, None, 2),
        Name.MODEL: Setting(MODEL, None, 2),
        Name.REPO: Setting(REPO, None, 2),
    }
    assert (await talk.conversations.reset(calling("1.3"), None)).cleared == ()
    assert (await talk.of_thread())[Name.MODEL].version == 2, "what is not set is not taken back once more"


async def test_what_another_process_has_set_a_moment_ago_is_taken_back_too(talk: Talk, database: Database) -> None:
    await talk.house.said(heard("one", position="1.1"))
    assert await talk.of_thread() == {}
    await StatePreferences(database, talk.house.clock.now).set(MODEL, "high", expected_version=0, by=ANN)
    assert await talk.of_thread() == {}, "it shows here a little later"
    assert (await talk.conversations.reset(calling("1.2"), None)).cleared == (Name.MODEL,)
    assert await talk.of_thread() == {Name.MODEL: Setting(MODEL, None, 2)}


async def test_who_answers_and_what_is_set_elsewhere_stays(talk: Talk) -> None:
    await talk.house.said(heard("one", position="1.1"))
    await talk.choose(EFFORT, *OTHERS)
    assert (await talk.conversations.reset(calling("1.2"), None)).cleared == (Name.EFFORT,)
    elsewhere = {**EVERYWHERE, Layer.THREAD: "slack:C1:2.0"}
    left = [*await talk.preferences.get(elsewhere), (await talk.of_thread())[Name.AGENT]]
    assert {each.slot for each in left if each.value == "high"} == set(OTHERS)


async def test_a_new_session_that_does_not_come_about_takes_nothing_back(talk: Talk, database: Database) -> None:
    await talk.house.said(heard("one", position="1.1"))
    await talk.choose(MODEL)
    await talk.house.talk.title(calling("1.2"), "Plan")
    with pytest.raises(ConflictError, match="title"):
        await talk.conversations.reset(calling("1.3"), "Plan")
    assert (await talk.of_thread())[Name.MODEL].value == "high"
    await database.write(lambda connection: connection.execute(sql("ALTER TABLE transcript RENAME TO gone")))
    with pytest.raises(UnavailableError, match="my own records"):
        await talk.conversations.reset(calling("1.4"), None)
    assert (await talk.of_thread())[Name.MODEL].value == "high"


async def test_where_people_are_kept_apart_nobody_takes_back_what_holds_for_others(database: Database) -> None:
    talk = Talk(database, Keying(KeyRules(thread_sessions_per_user=True)))
    await talk.house.said(heard("one", position="1.1", by=ANN))
    await talk.choose(MODEL)
    await talk.house.said(heard("two", position="1.2", by=BO))
    assert (await talk.conversations.reset(calling("1.3", by=ANN), None)).cleared == ()
    assert (await talk.of_thread())[Name.MODEL].value == "high"


async def test_the_top_of_a_channel_has_nothing_of_its_own_to_take_back(talk: Talk) -> None:
    """What holds there is the whole channel's, which admins set."""
    await talk.choose(Slot(Layer.THREAD, CHANNEL, Name.MODEL), Slot(Layer.CHANNEL, CHANNEL, Name.MODEL))
    at_the_top = Caller(ANN, Surface.CHAT, Origin(CHANNEL, CHANNEL, "public", position="1.1"))
    assert (await talk.conversations.reset(at_the_top, None)).cleared == ()
    kept = await talk.preferences.get({Layer.THREAD: CHANNEL, Layer.CHANNEL: CHANNEL})
    assert [each.value for each in kept] == ["high", "high"]
