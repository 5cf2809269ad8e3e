"""Compressing but for the last turns, and a look at what compressing would do, over every database."""

import pytest

from app.sessions.entry import SessionEntry
from app.state.engine import Database
from commands.conversations import Compressible, Compressing
from commands.errors import ConflictError
from tests.fakes import ManualClock
from tests.live_house import LiveHouse, calling, heard

HERE = Compressing(keep_turns=2)


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database, clock=ManualClock())


async def long_talk(house: LiveHouse, words: int = 100) -> SessionEntry:
    """Six turns that are worth a summary."""
    said = [heard(f"{number} " + "word " * words, position=f"1.{number}") for number in range(6)]
    return [await house.said(each) for each in said][-1]


async def test_the_last_turns_stay_word_for_word(house: LiveHouse) -> None:
    entry = await long_talk(house)
    before = await house.shown(entry)
    foreseen = await house.talk.compressible(calling("1.8"), HERE)
    assert (foreseen.messages, foreseen.kept_messages) == (8, 4)
    assert (await house.shown(entry), house.provider.requests) == (before, [])
    done = await house.talk.compress(calling("1.9"), HERE)
    assert (done.messages, done.tokens_before) == (8, foreseen.tokens + foreseen.kept_tokens)
    assert await house.shown(entry) == ["The notes.", *before[-4:]]
    again = await house.talk.compressible(calling("1.9"), HERE)
    assert (again.messages, again.kept_messages) == (0, 5)
    assert (await house.talk.compress(calling("1.9"), HERE)).messages == 0


async def test_a_preview_disturbs_no_turn_and_is_of_nothing_where_nothing_was_said(house: LiveHouse) -> None:
    assert await house.talk.compressible(calling("1.1"), HERE) == Compressible()
    entry = await long_talk(house)
    house.lines.hold()
    assert (await house.talk.compressible(calling("1.8"), Compressing())).messages > 1
    assert len(await house.shown(entry)) == 12


async def test_turns_that_leave_no_room_for_a_summary_are_told_of(house: LiveHouse) -> None:
    entry = await long_talk(house, words=1_600)
    for attempt in (house.talk.compress(calling("1.8"), HERE), house.talk.compressible(calling("1.8"), HERE)):
        with pytest.raises(ConflictError, match="keep fewer"):
            await attempt
    assert (len(await house.shown(entry)), house.provider.requests) == (12, [])
