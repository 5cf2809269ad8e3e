"""Which turn is answered once more, and as what, over every database: what the transcript keeps of it must do."""

from dataclasses import replace

import pytest

from app.channel import IncomingFile
from app.sessions.transcript import TranscriptMessage
from app.state.engine import Database
from commands.errors import ConflictError, NotFoundError
from tests.fakes import EPOCH
from tests.live_house import ANN, LiveHouse, calling, heard


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


async def test_what_is_answered_once_more_asks_for_what_it_asked_for(house: LiveHouse, database: Database) -> None:
    """The transcript is all that is left of the message, so the next process knows as much."""
    await house.said(heard("one", position="1.1"), directives="agent:general model:test/big effort:high")
    again = LiveHouse(database)
    assert await again.talk.retry(calling("1.2")) == "agent:general model:test/big effort:high one"


async def test_of_messages_answered_together_the_one_that_counted_says_how(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    both = [
        TranscriptMessage("user", "two", EPOCH, user_id=ANN, position="1.2", directives="effort:low"),
        TranscriptMessage("user", "and three", EPOCH, user_id=ANN, position="1.3"),
    ]
    await house.store.append(entry.session_id, [*both, TranscriptMessage("assistant", "yes", EPOCH)])
    assert await house.talk.retry(calling("1.4")) == "effort:low two\nand three"


async def test_a_turn_with_files_is_not_answered_once_more_without_them(house: LiveHouse) -> None:
    report = IncomingFile("F1", "report.pdf", "application/pdf", 9)
    entry = await house.said(replace(heard("what does it say?", position="1.1"), files=(report,)))
    with pytest.raises(ConflictError, match="came with files"):
        await house.talk.retry(calling("1.2"))
    assert await house.shown(entry) == ["what does it say?", "yes"], "nothing was taken back"
    assert (await house.talk.undo(calling("1.3"), 1)).turns == 1, "which is still possible"


@pytest.mark.parametrize("gone", ["agent:reviewer", "model:other/big", "effort:extreme"])
async def test_a_turn_whose_agent_or_model_is_gone_is_not_answered_by_another(house: LiveHouse, gone: str) -> None:
    entry = await house.said(heard("one", position="1.1"), directives=gone)
    with pytest.raises(ConflictError, match="not there any more"):
        await house.talk.retry(calling("1.2"))
    assert await house.shown(entry) == ["one", "yes"], "nothing was taken back"


async def test_where_nothing_was_said_nothing_is_answered_once_more(house: LiveHouse) -> None:
    with pytest.raises(NotFoundError, match="nothing to answer"):
        await house.talk.retry(calling("1.2"))
    await house.talk.reset(calling("1.3"), None)
    with pytest.raises(NotFoundError, match="nothing to answer"):
        await house.talk.retry(calling("1.4"))
