"""Which turn is answered once more, and as what, over every database: what the transcript keeps of it must do."""

from dataclasses import replace

import pytest

from app.channel import IncomingFile
from app.dispatch.work import Work
from app.sessions.busy import Arrival, BusyInput
from app.sessions.ticket import Ticket
from app.sessions.transcript import TranscriptMessage
from app.state.engine import Database
from commands.errors import BusyError, ConflictError, NotFoundError
from tests.fakes import EPOCH, FakeChat
from tests.live_house import ANN, LiveHouse, calling, heard


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


async def test_what_is_answered_once_more_asks_for_what_it_asked_for(house: LiveHouse, database: Database) -> None:
    """The transcript is all that is left of the message, so the next process knows as much."""
    await house.said(heard("one", position="1.1"), directives="agent:general model:test/big effort:high")
    again = LiveHouse(database)
    assert (await again.talk.retry(calling("1.2"))).text == "agent:general model:test/big effort:high one"


async def test_of_messages_answered_together_the_one_that_counted_says_how(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    both = [
        TranscriptMessage("user", "two", EPOCH, user_id=ANN, position="1.2", directives="effort:low"),
        TranscriptMessage("user", "and three", EPOCH, user_id=ANN, position="1.3"),
    ]
    await house.store.append(entry.session_id, [*both, TranscriptMessage("assistant", "yes", EPOCH)])
    assert (await house.talk.retry(calling("1.4"))).text == "effort:low two\nand three"


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


async def test_another_turn_that_is_the_last_one_by_then_stays(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    await house.said(heard("two", position="1.2"))
    again = await house.talk.retry(calling("1.3"))
    await house.talk.undo(calling("1.4"), 1)
    assert await house.repeated("1.3", again) is not None
    assert await house.shown(entry) == ["one", "yes"]


async def test_what_is_accepted_already_takes_no_second_turn_out(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    await house.said(heard("one", position="1.2"))
    again = await house.talk.retry(calling("1.3"))
    command, then = heard("!retry", position="1.3"), replace(heard(again.text, position="1.3"), part="+")
    accepted = await house.journal.accept(command, entry.session_key, None)
    assert accepted is not None
    for is_first in (True, False):
        followed = await house.journal.lead_on(accepted, "🔁 Once more.", then, again.replaced)
        assert (followed is not None) is is_first
    assert await house.shown(entry) == ["one", "yes"]


async def test_a_turn_is_not_answered_once_more_before_what_stands_in_line(house: LiveHouse) -> None:
    """Whatever is answered first would be told of a conversation without that turn."""
    entry = await house.said(heard("one", position="1.1"))
    waiting, command = heard("two", position="1.2"), heard("!retry", position="1.3")
    tickets: list[Ticket[Work]] = []
    for said in (waiting, command):
        accepted = await house.journal.accept(said, entry.session_key, None)
        assert accepted is not None
        work = Work(accepted, FakeChat())
        arrival = Arrival(said.user_id, said.thread_key, BusyInput.QUEUE)
        tickets.append(house.lines.join(entry.session_key, arrival, work))
    with pytest.raises(BusyError):
        await house.talk.retry(calling("1.3"))
    house.lines.leave(tickets[0])
    assert (await house.talk.retry(calling("1.3"))).text == "one"
    house.lines.leave(tickets[1])


async def test_where_nothing_was_said_nothing_is_answered_once_more(house: LiveHouse) -> None:
    with pytest.raises(NotFoundError, match="nothing to answer"):
        await house.talk.retry(calling("1.2"))
    await house.talk.reset(calling("1.3"), None)
    with pytest.raises(NotFoundError, match="nothing to answer"):
        await house.talk.retry(calling("1.4"))
