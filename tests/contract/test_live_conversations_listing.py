"""Which sessions are listed for whom, and where one can go on, over every database.

Session lifecycle, sections 3 and 5: nothing is heard of a conversation outside of the place it belongs to.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.channel import Visibility
from app.dispatch.conversation_lanes import Lanes
from app.dispatch.keying import Keying
from app.sessions.entry import SessionKey
from app.sessions.key import KeyRules
from app.state.engine import Database
from commands.conversations import SessionSummary
from commands.errors import NotFoundError
from commands.spec import Caller, Origin, Surface
from tests.live_house import ANN, BO, LiveHouse, Place, calling, heard

ROLLING = Keying(dm_top_level_threads_as_sessions=False)
DM = Place(channel="slack:D1", visibility=Visibility.DM)
DM_TOP = Place(root=None, channel="slack:D1", visibility=Visibility.DM)
ON_SLASH = Caller(ANN, Surface.SLASH, Origin("slack:C1", visibility="public"))


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


def dm_thread(root: str) -> Place:
    return Place(root=root, channel="slack:D1", visibility=Visibility.DM)


def ids(sessions: Sequence[SessionSummary]) -> list[str]:
    return [each.session_id for each in sessions]


async def test_nobody_goes_back_to_what_is_not_theirs(house: LiveHouse) -> None:
    await house.said(heard("one", position="1.1"))
    other = await house.said(heard("other", position="2.1", root="2.0"))
    dm = await house.said(heard("whisper", position="3.1", root="3.0", channel="slack:D1"))
    for target in (other.session_id, dm.session_id, "../x\x00"):
        with pytest.raises(NotFoundError):
            await house.talk.resume(calling("1.2"), target)
    with pytest.raises(NotFoundError):
        await house.talk.resume(calling("1.2"), dm.session_id, in_channel=True)


async def test_admins_see_and_take_up_the_sessions_of_a_channel(house: LiveHouse) -> None:
    """The other thread keeps its own: this one goes on from where that stands."""
    mine = await house.said(heard("mine", position="1.1"))
    other = await house.said(heard("theirs", position="2.1", root="2.0", by=BO), "indeed")
    far = await house.said(heard("far", position="3.1", root="3.0", channel="slack:C12"))
    dm = await house.said(heard("whisper", position="4.1", **dm_thread("4.0")))
    listed = await house.talk.earlier(calling("1.2"), in_channel=True)
    assert ids(listed) == [other.session_id]
    assert not {mine.session_id, far.session_id, dm.session_id} & set(ids(listed))
    taken = await house.talk.resume(calling("1.3"), other.session_id, in_channel=True)
    entry = await house.current(heard(position="1.4"))
    assert entry.session_id == taken.session_id
    assert entry.session_id not in {mine.session_id, other.session_id}
    assert await house.shown(entry) == ["theirs", "indeed"]
    assert (await house.said(heard("more", position="2.2", root="2.0"))).session_id == other.session_id
    assert mine.session_id in ids(await house.talk.earlier(calling("1.5")))


async def test_a_dm_shows_nobody_more_than_its_own_thread(house: LiveHouse) -> None:
    await house.said(heard("other thread", position="2.1", **dm_thread("2.0")))
    await house.said(heard("channel", position="3.1", root="3.0"))
    caller = calling("1.2", **DM)
    assert await house.talk.earlier(caller, in_channel=True) == []
    here = Caller(ANN, Surface.SLASH, Origin("slack:D1", visibility="dm"))
    assert [each.opening for each in await house.talk.list_sessions(here, "", 20)] == ["other thread"]
    assert [each.opening for each in await house.talk.list_sessions(ON_SLASH, "", 20)] == ["channel"]
    assert await house.talk.list_sessions(replace(here, origin=Origin("slack:D2")), "", 20) == []


async def test_programs_see_only_what_is_their_own(house: LiveHouse) -> None:
    """They share channels and threads by name, and neither sessions nor turns."""
    place = Place(channel="http:default", root="default", visibility=Visibility.MACHINE)
    own = await house.said(heard("own", position="a", by="http:ci", **place))
    other = await house.said(heard("secret", position="b", by="http:desk", **place))
    caller = calling("c", by="http:ci", **place)
    assert own.session_key != other.session_key
    assert ids(await house.talk.list_sessions(caller, "", 20)) == [own.session_id]
    assert await house.talk.list_sessions(caller, "secret", 20) == []
    assert await house.talk.earlier(caller, in_channel=True) == []
    assert await house.talk.participants(caller) == {"http:ci"}
    anywhere = replace(caller, origin=Origin("http:default"))
    assert ids(await house.talk.list_sessions(anywhere, "", 20)) == [own.session_id]
    second = Place(channel="http:default", root="second", visibility=Visibility.MACHINE)
    thread = calling("d", by="http:ci", **second)
    assert ids(await house.talk.earlier(thread, in_channel=True)) == [own.session_id]


async def test_people_who_are_kept_apart_have_sessions_of_their_own(database: Database) -> None:
    """Section 5."""
    house = LiveHouse(database, Keying(KeyRules(thread_sessions_per_user=True)))
    own = await house.said(heard("mine", position="1.1", by=ANN))
    await house.said(heard("theirs", position="1.2", by=BO))
    assert ids(await house.talk.list_sessions(calling("1.3", by=ANN), "", 20)) == [own.session_id]
    assert await house.talk.participants(calling("1.3", by=ANN)) == {ANN}


async def test_sessions_are_found_by_title_and_by_what_was_said(house: LiveHouse) -> None:
    first = await house.said(heard("the blue door", position="1.1"))
    await house.talk.reset(calling("1.2"), "Blue Window")
    second = await house.said(heard("nothing", position="1.3"))
    caller = calling("1.4")
    listed = await house.talk.list_sessions(caller, "", 20)
    assert [(each.session_id, each.is_current) for each in listed] == [
        (second.session_id, True),
        (first.session_id, False),
    ]
    assert ids(await house.talk.list_sessions(caller, "blue", 20)) == [second.session_id, first.session_id]
    assert ids(await house.talk.list_sessions(caller, "BLUE door", 20)) == [first.session_id]
    assert ids(await house.talk.list_sessions(caller, "window blue", 20)) == [second.session_id]
    assert await house.talk.list_sessions(caller, "green", 20) == []
    assert ids(await house.talk.list_sessions(caller, "blue", 1)) == [second.session_id]


async def test_without_a_thread_ones_own_conversations_in_the_channel_are_listed(house: LiveHouse) -> None:
    first = await house.said(heard("one", position="1.1"))
    await house.said(heard("not mine", position="2.1", root="2.0", by=BO))
    third = await house.said(heard("three", position="3.1", root="3.0"))
    await house.said(heard("elsewhere", position="4.1", root="4.0", channel="slack:C12"))
    listed = await house.talk.list_sessions(ON_SLASH, "", 20)
    assert [(each.session_id, each.is_current) for each in listed] == [
        (third.session_id, True),
        (first.session_id, True),
    ]
    assert ids(await house.talk.list_sessions(ON_SLASH, "three", 20)) == [third.session_id]
    assert await house.talk.list_sessions(Caller(ANN, Surface.SLASH), "", 20) == []


async def test_more_conversations_than_fit_into_a_statement_are_listed(house: LiveHouse) -> None:
    for number in range(7):
        await house.said(heard(f"word {number}", position=f"{number}.1", root=f"{number}.0"))
    lanes = Lanes(house.lines, house.store, house.transcripts, house.keying)
    keys = await lanes.keys_in_channel(ON_SLASH)
    many = [*keys, *(SessionKey(f"agent:main:none:{number}") for number in range(1_200))]
    assert [each.opening for each in await lanes.sessions(many, 3)] == ["word 6", "word 5", "word 4"]
    assert len(await lanes.with_words(many, "word", 20)) == 7


async def test_a_dm_that_is_one_long_session_is_found_from_its_threads(database: Database) -> None:
    """Section 4: the thread's own session where it has one."""
    house = LiveHouse(database, ROLLING)
    rolling = await house.said(heard("top", position="1.0", **DM_TOP))
    below = calling("1.1", **dm_thread("1.0"))
    assert ids(await house.talk.list_sessions(below, "", 20)) == [rolling.session_id]
    assert ids(await house.talk.list_sessions(calling("2.0", **DM_TOP), "", 20)) == [rolling.session_id]
    own = await house.said(heard("own", position="1.2", **dm_thread("1.0")))
    assert own.session_key != rolling.session_key
    assert ids(await house.talk.list_sessions(below, "", 20)) == [own.session_id]
    begun = await house.talk.reset(calling("3.0", **DM_TOP), None)
    assert (await house.said(heard("next", position="4.0", **DM_TOP))).session_id == begun.session.session_id
    assert (await house.said(heard("still", position="1.3", **dm_thread("1.0")))).session_id == own.session_id
