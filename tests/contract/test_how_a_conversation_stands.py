"""Whom a status tells what a conversation was about last, over every database."""

from dataclasses import replace

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from app.channel import Visibility
from app.dispatch.keying import Keying
from app.sessions.key import KeyRules
from app.state.engine import Database
from app.state.errors import StateFullError
from app.state.tables import transcript
from commands.conversations import Compressing, Recap
from commands.preferences import Layer, Name, Slot
from commands.spec import Caller, Origin, Surface
from tests.live_house import ANN, BO, CLEO, LiveHouse, calling, heard


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


async def recap(house: LiveHouse, caller: Caller) -> Recap | None:
    status = await house.talk.status(caller)
    assert status is not None
    return status.recap


async def test_those_who_spoke_in_a_thread_are_told_its_last_question_and_answer(house: LiveHouse) -> None:
    await house.said(heard("one?", position="1.1", by=ANN), "1\nmore")
    await house.said(heard("two?", position="1.2", by=BO), "\n2, I think.\nmore")
    for person in (ANN, BO):
        assert await recap(house, calling("1.3", by=person)) == Recap("two?", "2, I think.")
    assert await recap(house, calling("1.3", by=CLEO)) is None


async def test_no_surface_is_told_of_another_persons_direct_messages(house: LiveHouse) -> None:
    await house.said(heard("secret?", position="1.1", by=ANN, channel="slack:D1", visibility=Visibility.DM), "secret")
    mine = calling("1.2", by=ANN, channel="slack:D1", visibility=Visibility.DM)
    assert await recap(house, mine) == Recap("secret?", "secret")
    for surface in (Surface.CHAT, Surface.HTTP, Surface.MCP, Surface.CLI):
        theirs = Caller(BO, surface, Origin("slack:D1", "slack:D1:1.0", "dm"))
        status = await house.talk.status(theirs)
        assert status is None or status.recap is None


async def test_people_who_are_kept_apart_are_told_of_their_own_alone(database: Database) -> None:
    house = LiveHouse(database, Keying(KeyRules(thread_sessions_per_user=True)))
    await house.said(heard("one?", position="1.1", by=ANN))
    await house.said(heard("two?", position="1.2", by=BO))
    assert await recap(house, calling("1.3", by=ANN)) == Recap("one?", "yes")


async def test_what_is_gone_is_not_told_of(house: LiveHouse) -> None:
    await house.said(heard("one?", position="1.1"))
    await house.said(heard("two?", position="1.2"))
    await house.talk.undo(calling("1.3"), 1)
    assert await recap(house, calling("1.4")) == Recap("one?", "yes")
    await house.talk.reset(calling("1.5"), None)
    assert await recap(house, calling("1.6")) is None


async def test_a_status_stands_without_what_cannot_be_read(house: LiveHouse, database: Database) -> None:
    entry = await house.said(heard("one?", position="1.1"))
    kept = await house.store.load(entry.session_id)

    async def full() -> None:
        raise StateFullError("the disk is full")

    house.transcripts.extend(entry, [replace(kept[0], id=None, position=None)], full)
    assert await recap(house, calling("1.2")) is None
    await database.write(lambda connection: connection.execute(update(transcript).values(kind="whispered")))
    fresh = LiveHouse(database)
    assert await recap(fresh, calling("1.3")) is None


async def test_a_status_has_the_repository_that_counts_in_the_conversation(house: LiveHouse) -> None:
    await house.said(heard("one?", position="1.1"))
    unbound = await house.talk.status(calling("1.2"))
    assert unbound is not None
    assert unbound.repo is None
    channel = Slot(Layer.CHANNEL, "slack:C1", Name.REPO)
    await house.asked.preferences.set(channel, "acme/api", expected_version=0, by=ANN)
    bound = await house.talk.status(calling("1.3"))
    assert bound is not None
    assert bound.repo == "acme/api"


async def test_no_log_line_has_what_a_recap_tells(house: LiveHouse) -> None:
    await house.said(heard("marker-of-a-question?", position="1.1"), "marker-of-an-answer")
    with capture_logs() as logs:
        assert await recap(house, calling("1.2")) == Recap("marker-of-a-question?", "marker-of-an-answer")
        await house.talk.compressible(calling("1.2"), Compressing())
    assert "marker" not in str(logs)
