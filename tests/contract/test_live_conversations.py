"""What the session commands are told of conversations, and do to them, over every database.

Session lifecycle, section 3: reset, switch, list, rewind and rewrite as people ask for them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text as sql
from sqlalchemy import update

from app.dispatch.conversations import LiveConversations
from app.errors import ModelUnreachableError
from app.sessions.entry import Cost, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.store import Renewed
from app.sessions.transcript import Rewound
from app.sessions.usage import Run
from app.state.engine import Database
from app.state.errors import StateUnreachableError
from app.state.sessions import StateSessions
from app.state.tables import transcript
from commands.conversations import (
    Compressed,
    Compressing,
    SessionSummary,
    Spent,
    Stopped,
    TokenCounts,
    Undone,
    Used,
    Whose,
)
from commands.errors import ConflictError, NotFoundError, UnavailableError
from commands.preferences import Layer, Name, Slot
from commands.spec import Caller, Followup, Origin, Replaced, Surface
from tests.fakes import EPOCH
from tests.live_house import ANN, BO, CLEO, LiveHouse, calling, heard
from tests.session_lines import contents

RUN = Run(
    "r1", SessionKey("k"), SessionId("s"), ANN, "slack:C1", "ran", Tokens(10), Cost(100, "estimated"), EPOCH, EPOCH
)
ON_SLASH = Caller(ANN, Surface.SLASH, Origin("slack:C1", visibility="public"))


class Hurried(StateSessions):
    """A store in which somebody begins anew right before every switch."""

    renewed: Renewed | None = None

    async def switch(
        self, key: SessionKey, target: SessionId, *, expected: SessionId | None = None, watermark: str | None = None
    ) -> SessionEntry | None:
        self.renewed = await self.reset(key)
        return await super().switch(key, target, expected=expected, watermark=watermark)


class Broken(StateSessions):
    """A store whose server keeps what it is given and breaks off before it says so."""

    async def rewind(self, session_id: SessionId, turns: int = 1) -> Rewound:
        await super().rewind(session_id, turns)
        raise StateUnreachableError("the connection broke")


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


async def long_talk(house: LiveHouse) -> SessionEntry:
    """Twelve lines that are worth a summary."""
    turns = [await house.said(heard(f"{number} " + "word " * 100, position=f"1.{number}")) for number in range(6)]
    return turns[-1]


def ids(sessions: Sequence[SessionSummary]) -> list[str]:
    return [each.session_id for each in sessions]


async def test_all_who_ever_spoke_are_participants(house: LiveHouse) -> None:
    """In sessions that ended, and in turns that were taken back, too."""
    assert await house.talk.participants(calling("1.9")) == frozenset()
    await house.said(heard("one", position="1.1", by=ANN))
    await house.talk.undo(calling("1.2"), 1)
    await house.talk.reset(calling("1.3"), None)
    await house.said(heard("two", position="1.4", by=BO))
    await house.said(heard("elsewhere", position="2.1", root="2.0", by=CLEO))
    assert await house.talk.participants(calling("1.9", by=CLEO)) == {ANN, BO}


async def test_a_conversation_without_a_session_has_nothing_to_tell(house: LiveHouse) -> None:
    caller = calling("1.1")
    assert await house.talk.status(caller) is None
    assert await house.talk.earlier(caller) == []
    assert await house.talk.list_sessions(caller, "", 20) == []
    assert await house.talk.list_sessions(ON_SLASH, "", 20) == []
    assert await house.talk.undo(caller, 1) == Undone(0, 0, "")
    assert await house.talk.compress(caller, Compressing()) == Compressed()
    assert await house.talk.usage(caller, Whose.CONVERSATION, days=None) == Used(Spent(TokenCounts(), 0, "estimated"))
    with pytest.raises(NotFoundError, match="nothing to answer"):
        await house.talk.retry(caller)
    with pytest.raises(NotFoundError, match="no session to name"):
        await house.talk.title(caller, "Plan")
    with pytest.raises(NotFoundError, match="no such session"):
        await house.talk.resume(caller, "20261129_120000_00000001")
    with pytest.raises(NotFoundError, match="none belongs"):
        await house.talk.status(ON_SLASH)
    with pytest.raises(NotFoundError, match="none belongs"):
        await house.talk.queue(ON_SLASH)


async def test_a_status_tells_how_the_conversation_stands(house: LiveHouse) -> None:
    entry = await house.said(heard("what did we decide?", position="1.1"), tokens=700)
    await house.talk.title(calling("1.2"), "Plan")
    status = await house.talk.status(calling("1.3"))
    assert status is not None
    assert status.session == SessionSummary(
        entry.session_id, EPOCH, EPOCH, "Plan", "what did we decide?", is_current=True
    )
    assert (status.agent, status.model) == ("general", "test/scripted")
    assert (status.context_tokens, status.context_limit_tokens) == (700, 4_000)
    assert status.spent == Spent(TokenCounts(700, 2), 100, "estimated", turns=1, calls=1)
    assert (status.is_running, status.waiting) == (False, 0)


async def test_a_status_tells_of_the_model_that_was_chosen_here(house: LiveHouse) -> None:
    """Its window is not known, which is not the default one."""
    await house.said(heard(position="1.1"))
    slot = Slot(Layer.THREAD, "slack:C1:1.0", Name.MODEL)
    await house.preferences.set(slot, "test/other", expected_version=0, by=ANN)
    status = await house.talk.status(calling("1.2"))
    assert status is not None
    assert (status.model, status.context_limit_tokens) == ("test/other", None)


async def test_a_new_session_begins_behind_the_command(house: LiveHouse) -> None:
    """Section 3, ``reset_session``: what stands in the thread so far is not read again."""
    first = await house.said(heard("one", position="1.1"))
    house.clock.elapsed_s = 60
    done = await house.talk.reset(calling("1.5"), "Second try")
    entry = await house.current(heard(position="1.6"))
    assert (entry.session_id, entry.watermark, entry.is_fresh_reset) == (done.session.session_id, "1.5", True)
    assert done.session == SessionSummary(
        entry.session_id, EPOCH + timedelta(seconds=60), EPOCH + timedelta(seconds=60), "Second try", is_current=True
    )
    assert (done.stopped, done.dropped) == (0, 0)
    assert await house.shown(first) == ["one", "yes"]
    assert house.transcripts.forgotten == [first.session_id]


async def test_a_thread_that_has_no_session_yet_can_begin_with_a_new_one(house: LiveHouse) -> None:
    done = await house.talk.reset(calling("1.5"), "Plan")
    entry = await house.current(heard(position="1.6"))
    assert (entry.session_id, entry.watermark) == (done.session.session_id, "1.5")
    assert await house.talk.earlier(calling("1.6")) == [], "the one in which nothing was said is not worth a place"


async def test_a_title_that_is_taken_stops_nothing(house: LiveHouse) -> None:
    entry = await house.said(heard(position="1.1"))
    await house.talk.title(calling("1.2"), "Plan")
    async with asyncio.TaskGroup() as group:
        await house.arrives(group, heard("long", position="1.3"))
        with pytest.raises(ConflictError, match="title"):
            await house.talk.reset(calling("1.4"), "Plan")
        house.gates["long"].set()
    assert house.fates == {"long": "ran"}
    assert (await house.current(heard(position="1.5"))).session_id == entry.session_id
    await house.talk.reset(calling("1.6"), None)
    with pytest.raises(ConflictError, match="title"):
        await house.talk.title(calling("1.7"), "Plan")


async def test_going_back_to_an_earlier_session(house: LiveHouse) -> None:
    """Section 3, ``switch_session``."""
    first = await house.said(heard("one", position="1.1"))
    await house.talk.reset(calling("1.2"), None)
    second = await house.said(heard("two", position="1.3"))
    [listed] = await house.talk.earlier(calling("1.4"))
    assert (listed.session_id, listed.opening, listed.is_current) == (first.session_id, "one", False)
    back = await house.talk.resume(calling("1.5"), first.session_id)
    entry = await house.current(heard(position="1.6"))
    assert (entry.session_id, entry.watermark) == (first.session_id, "1.5")
    assert (back.session_id, back.opening, back.is_current) == (first.session_id, "one", True)
    assert set(house.transcripts.forgotten) == {first.session_id, second.session_id}
    assert ids(await house.talk.earlier(calling("1.6"))) == [second.session_id]
    assert await house.talk.earlier(calling("1.6"), limit=0) == []


async def test_going_back_is_refused_when_the_conversation_moved_on(house: LiveHouse, database: Database) -> None:
    """Section 3, ``switch_session``: only from where the person saw it stand."""
    first = await house.said(heard("one", position="1.1"))
    await house.talk.reset(calling("1.2"), None)
    await house.said(heard("two", position="1.3"))
    hurried = Hurried(database, house.clock)
    talk = LiveConversations(replace(house.kept, store=hurried), house.asked)
    with pytest.raises(ConflictError, match="moved on"):
        await talk.resume(calling("1.4"), first.session_id)
    assert hurried.renewed is not None
    assert (await house.current(heard(position="1.5"))).session_id == hurried.renewed.entry.session_id


async def test_a_suspended_session_can_be_gone_on_with(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    await house.store.suspend(entry.session_key)
    assert ids(await house.talk.earlier(calling("1.2"))) == [entry.session_id]
    await house.talk.resume(calling("1.3"), entry.session_id)
    assert (await house.said(heard("two", position="1.4"))).session_id == entry.session_id


async def test_a_conversation_whose_entry_was_pruned_is_still_there(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    house.clock.elapsed_s = 9 * 86_400
    assert await house.store.prune(7) == 1
    assert await house.talk.earlier(calling("1.2")) == []
    status = await house.talk.status(calling("1.3"))
    assert status is not None
    assert status.session.session_id == entry.session_id
    assert await house.talk.undo(calling("1.4"), 1) == Undone(1, 2, "one")


async def test_the_last_turn_is_answered_once_more_in_its_own_place(house: LiveHouse) -> None:
    """Section 3, ``rewind_session``."""
    await house.said(heard("one", position="1.1"))
    entry = await house.said(heard("two?\n\n  really", position="1.2", by=BO))
    again = await house.talk.retry(calling("1.3"))
    assert again == Followup("two?\n\n  really", Replaced(entry.session_id, "two?\n\n  really"))
    assert len(await house.shown(entry)) == 4, "it stays until that is accepted"
    await house.repeated("1.3", again)
    assert await house.shown(entry) == ["one", "yes"]
    assert await house.talk.undo(calling("1.4"), 5) == Undone(1, 2, "one")
    assert await house.talk.undo(calling("1.5"), 1) == Undone(0, 0, "")


async def test_what_could_not_be_written_down_is_taken_back_as_well(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    kept = await house.store.load(entry.session_id)
    unwritten = [replace(line, id=None, content=f"later {line.role}", position=None) for line in kept]
    house.transcripts.extend(entry, unwritten, lambda: house.store.append(entry.session_id, unwritten))
    again = await house.talk.retry(calling("1.2"))
    assert again.text == "later user"
    await house.repeated("1.2", again)
    assert await house.shown(entry) == ["one", "yes"]


async def test_what_failed_half_way_is_read_again(house: LiveHouse, database: Database) -> None:
    """Of a commit that broke off nobody knows whether it was kept."""
    entry = await house.said(heard("one", position="1.1"))
    talk = LiveConversations(replace(house.kept, store=Broken(database, house.clock)), house.asked)
    with pytest.raises(UnavailableError):
        await talk.undo(calling("1.2"), 1)
    assert house.transcripts.forgotten == [entry.session_id]
    assert contents(await house.transcripts.load(entry)) == []


async def test_a_summary_takes_the_place_of_what_was_said(house: LiveHouse) -> None:
    """Section 3, ``rewrite_transcript``; the account names who asked for it."""
    entry = await long_talk(house)
    done = await house.talk.compress(calling("1.9", by=BO), Compressing("the port"))
    assert done.messages > 1
    assert done.tokens_after < done.tokens_before
    assert "The notes." in await house.shown(entry)
    assert len(await house.shown(entry)) == 12 - done.messages + 1
    assert "the port" in str(house.provider.requests[0])
    assert house.transcripts.forgotten == [entry.session_id]
    spent = (await house.talk.usage(calling("1.9", by=BO), Whose.ME, days=None)).total
    assert (spent.turns, spent.compressions) == (0, 1)


async def test_too_little_is_not_compressed(house: LiveHouse) -> None:
    await house.said(heard("one", position="1.1"))
    assert (await house.talk.compress(calling("1.2"), Compressing())).messages == 0


async def test_a_model_that_cannot_summarise_is_told_of(house: LiveHouse) -> None:
    entry = await long_talk(house)
    house.provider.play([ModelUnreachableError("down")])
    with pytest.raises(UnavailableError, match="could not summarise"):
        await house.talk.compress(calling("1.9"), Compressing())
    assert len(await house.shown(entry)) == 12


async def test_usage_is_of_the_conversation_of_oneself_or_of_the_channel(house: LiveHouse) -> None:
    await house.said(heard("one", position="1.1", by=ANN), tokens=10)
    await house.talk.reset(calling("1.2"), None)
    house.clock.elapsed_s = 3 * 86_400
    await house.said(heard("two", position="1.3", by=BO), tokens=20)
    await house.said(heard("three", position="2.1", root="2.0", by=ANN), tokens=40)
    caller = calling("1.4", by=ANN)
    here = (await house.talk.usage(caller, Whose.CONVERSATION, days=None)).total
    assert here == Spent(TokenCounts(30, 4), 200, "estimated", turns=2, calls=2)
    assert (await house.talk.usage(caller, Whose.CONVERSATION, days=2)).total.tokens.input == 20
    assert (await house.talk.usage(caller, Whose.ME, days=None)).total.tokens.input == 50
    assert (await house.talk.usage(ON_SLASH, Whose.ME, days=1)).total.tokens.input == 40
    assert (await house.talk.usage(ON_SLASH, Whose.CHANNEL, days=None)).total.tokens.input == 70


async def test_usage_tells_each_models_part_of_it(house: LiveHouse) -> None:
    for model, cost in (("a/priced", Cost(300, "estimated")), ("b/unpriced", Cost()), (None, Cost(0, "estimated"))):
        await house.usage.record(replace(RUN, model=model, cost=cost))
    used = await house.talk.usage(calling("1.9"), Whose.ME, days=None)
    assert (used.total.turns, used.total.cost_microusd) == (3, None)
    assert [(model, part.cost_microusd) for model, part in used.by_model] == [("a/priced", 300), ("b/unpriced", None)]


async def test_a_program_hears_of_a_channel_what_it_took_there_itself(house: LiveHouse) -> None:
    """Programs share channels without sharing talk."""
    mine = replace(RUN, user_id="http:ci", channel_id="http:builds", tokens=Tokens(7))
    for run in (mine, replace(mine, user_id="http:other"), replace(mine, channel_id="http:else")):
        await house.usage.record(run)
    program = Caller("http:ci", Surface.HTTP, Origin("http:builds", "http:builds:default"))
    assert (await house.talk.usage(program, Whose.CHANNEL, days=None)).total.tokens.input == 7


async def test_what_cannot_be_read_is_not_taken_for_empty_and_can_be_left_behind(
    house: LiveHouse, database: Database
) -> None:
    entry = await house.said(heard("secret", position="1.1"))
    await database.write(lambda connection: connection.execute(update(transcript).values(kind="whispered")))
    for attempt in (house.talk.retry(calling("1.2")), house.talk.compress(calling("1.2"), Compressing())):
        with pytest.raises(UnavailableError, match="cannot read") as fault:
            await attempt
        assert "secret" not in str(fault.value)
    renewed = await house.talk.reset(calling("1.3"), None)
    assert renewed.session.session_id != entry.session_id


async def test_records_that_cannot_be_reached_leave_nobody_out(house: LiveHouse, database: Database) -> None:
    await house.said(heard("one", position="1.1"))
    await database.write(lambda connection: connection.execute(sql("ALTER TABLE sessions RENAME TO gone")))
    caller = calling("1.2")
    for attempt in (
        house.talk.participants(caller),
        house.talk.status(caller),
        house.talk.reset(caller, None),
        house.talk.earlier(caller),
        house.talk.resume(caller, "x"),
        house.talk.list_sessions(ON_SLASH, "", 20),
        house.talk.title(caller, "x"),
    ):
        with pytest.raises(UnavailableError, match="my own records"):
            await attempt
    assert await house.talk.stop(caller) == Stopped(0)
