"""What the session commands do to turns that run and messages that wait, over every database.

Session lifecycle, section 8: what waits is cleared by a reset; what is asked for by name waits its turn.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from structlog.testing import capture_logs

from app.dispatch.conversation_stopping import CLEANUP_TIMED_OUT
from app.dispatch.conversations import LiveConversations
from app.dispatch.keying import Keying
from app.dispatch.work import Work
from app.sessions.busy import Arrival, BusyInput
from app.sessions.entry import SessionKey
from app.sessions.key import KeyRules
from app.sessions.store import Renewed
from app.state.engine import Database
from app.state.errors import StateBusyError
from app.state.sessions import StateSessions
from commands.conversations import Compressing, Stopped
from commands.errors import BusyError, UnavailableError
from commands.preferences import NOTHING, Clearing
from commands.spec import Caller, Origin, Surface
from tests.fakes import FakeChat, until
from tests.live_house import ANN, BO, CLEO, LiveHouse, Place, calling, heard

ON_SLASH = Caller(ANN, Surface.SLASH, Origin("slack:C1", visibility="public"))
OTHER = Place(root="2.0")
WAIT_S = 10.0


@pytest.fixture
def house(database: Database) -> LiveHouse:
    return LiveHouse(database)


class Unwritable(StateSessions):
    """A store on a disk that is full."""

    async def reset(
        self,
        key: SessionKey,
        *,
        watermark: str | None = None,
        title: str | None = None,
        clearing: Clearing = NOTHING,
    ) -> Renewed | None:
        raise StateBusyError("disk full")


@dataclass(slots=True)
class Scene:
    """Messages on their way; those whose turn is to end do so when the scene does."""

    house: LiveHouse
    group: asyncio.TaskGroup
    texts: list[str] = field(default_factory=list[str])

    async def arrives(self, text: str, position: str, by: str = ANN, last_word: asyncio.Event | None = None) -> None:
        await self._arrives(text, position, by, Place(), last_word)

    async def arrives_elsewhere(self, text: str, position: str, by: str = ANN) -> None:
        await self._arrives(text, position, by, OTHER, None)

    async def _arrives(self, text: str, position: str, by: str, where: Place, last_word: asyncio.Event | None) -> None:
        self.texts.append(text)
        await self.house.arrives(self.group, heard(text, position=position, by=by, **where), last_word=last_word)

    async def begun(self, text: str) -> None:
        await until(lambda: text in self.house.began, WAIT_S)

    async def over(self, text: str) -> None:
        self.house.gates[text].set()
        await until(lambda: text in self.house.fates, WAIT_S)


@asynccontextmanager
async def scene(house: LiveHouse) -> AsyncGenerator[Scene]:
    async with asyncio.timeout(2 * WAIT_S), asyncio.TaskGroup() as group:
        on = Scene(house, group)
        yield on
        for text in on.texts:
            await on.over(text)


async def test_a_new_session_ends_what_runs_and_drops_what_waits(house: LiveHouse) -> None:
    async with scene(house) as on:
        await on.arrives("runs", "1.1")
        await on.begun("runs")
        await on.arrives("waits", "1.2")
        await on.arrives("waits too", "1.3", by=BO)
        done = await house.talk.reset(calling("1.4"), None)
        assert (done.stopped, done.dropped) == (1, 2)
        assert house.fates["runs"] == "stopped", "it has said its last word when the new session is told of"
    assert house.fates == {"runs": "stopped", "waits": "ClearedError", "waits too": "ClearedError"}
    [old] = await house.talk.earlier(calling("1.5"))
    assert old.opening == "runs", "what was stopped stays with the session it began in"
    entry = await house.current(heard(position="1.6"))
    assert (entry.session_id, entry.active_turn_token) == (done.session.session_id, None)
    assert await house.shown(entry) == []


async def test_whoever_speaks_right_after_the_command_is_answered_in_the_new_session(house: LiveHouse) -> None:
    """While the stopped turn is still saying its last word."""
    last_word = asyncio.Event()
    async with scene(house) as on:
        await on.arrives("runs", "1.1", last_word=last_word)
        await on.begun("runs")
        resetting = on.group.create_task(house.talk.reset(calling("1.2"), None))
        await until(lambda: house.lines.turns()[0].is_stopped, WAIT_S)
        await on.arrives("hello", "1.3")
        last_word.set()
        done = await resetting
        await on.begun("hello")
    assert house.began["hello"] == done.session.session_id
    assert house.began["runs"] != done.session.session_id
    assert house.fates["hello"] == "ran"


async def test_a_turn_that_does_not_end_keeps_nobody_from_a_new_session(database: Database) -> None:
    house = LiveHouse(database, cleanup_s=0.05)
    last_word = asyncio.Event()
    async with scene(house) as on:
        await on.arrives("runs", "1.1", last_word=last_word)
        await on.begun("runs")
        with capture_logs() as logs:
            done = await house.talk.reset(calling("1.2"), None)
        assert done.stopped == 1
        assert "runs" not in house.fates
        last_word.set()
    assert [each["event"] for each in logs] == [CLEANUP_TIMED_OUT]
    assert (await house.current(heard(position="1.3"))).session_id == done.session.session_id


async def test_an_answer_that_was_whole_by_then_was_not_stopped(house: LiveHouse) -> None:
    house.ends_as = "ran"
    async with scene(house) as on:
        await on.arrives("runs", "1.1")
        await on.begun("runs")
        assert (await house.talk.reset(calling("1.2"), None)).stopped == 0


async def test_only_where_its_answer_is_read_the_command_alone_tells_that_it_was_stopped(house: LiveHouse) -> None:
    for surface, is_told in ((Surface.CHAT, True), (Surface.HTTP, False)):
        async with scene(house) as on:
            await on.arrives(surface.value, f"{surface.value}.1")
            await on.begun(surface.value)
            (turn,) = house.lines.turns()
            assert (await house.talk.reset(replace(calling("1.9"), surface=surface), None)).stopped == 1
            assert turn.is_told is is_told


async def test_a_new_session_that_cannot_be_written_down_tells_what_was_stopped_for_it(
    house: LiveHouse, database: Database
) -> None:
    async with scene(house) as on:
        await on.arrives("runs", "1.1")
        await on.begun("runs")
        talk = LiveConversations(replace(house.kept, store=Unwritable(database, house.clock)), house.asked)
        with pytest.raises(UnavailableError, match=r"my own records .+ is stopped\)$"):
            await talk.reset(calling("1.2"), None)
        with pytest.raises(UnavailableError, match=r"in a minute$"):
            await talk.reset(replace(calling("1.3"), surface=Surface.HTTP), None)


async def test_other_threads_go_on_when_one_begins_anew(house: LiveHouse) -> None:
    async with scene(house) as on:
        await on.arrives("here", "1.1")
        await on.arrives_elsewhere("there", "2.1")
        await on.begun("here")
        await on.begun("there")
        await house.talk.reset(calling("1.2"), None)
    assert house.fates == {"here": "stopped", "there": "ran"}


async def test_what_runs_is_stopped_by_anybody_in_the_thread_and_what_waits_goes_on(house: LiveHouse) -> None:
    async with scene(house) as on:
        last_word = asyncio.Event()
        await on.arrives("runs", "1.1", by=ANN, last_word=last_word)
        await on.begun("runs")
        await on.arrives("waits", "1.2", by=ANN)
        stopping = on.group.create_task(house.talk.stop(calling("1.3", by=BO)))
        await until(lambda: house.lines.turns()[0].is_stopped, WAIT_S)
        assert await house.talk.stop(calling("1.4", by=BO)) == Stopped(0), "it is ending already"
        assert not stopping.done(), "whether it says so itself is known once it has ended"
        last_word.set()
        assert await stopping == Stopped(1, is_told=True)
        await on.begun("waits")
    assert house.fates == {"runs": "stopped", "waits": "ran"}


async def test_a_turn_that_takes_long_to_say_that_it_was_stopped_keeps_nobody_waiting(database: Database) -> None:
    house = LiveHouse(database, cleanup_s=0.05)
    async with scene(house) as on:
        last_word = asyncio.Event()
        await on.arrives("runs", "1.1", last_word=last_word)
        await on.begun("runs")
        assert await house.talk.stop(calling("1.2")) == Stopped(1)
        last_word.set()


async def test_an_answer_that_was_whole_when_it_was_stopped_says_nothing_of_it(house: LiveHouse) -> None:
    async with scene(house) as on:
        last_word = asyncio.Event()
        await on.arrives("runs", "1.1", last_word=last_word)
        await on.begun("runs")
        turn = house.lines.turns()[0]
        stopping = on.group.create_task(house.talk.stop(calling("1.2")))
        await until(lambda: turn.is_stopped, WAIT_S)
        house.ends_as = "ran"
        last_word.set()
        assert await stopping == Stopped(1)


async def test_without_a_thread_only_ones_own_turns_in_the_channel_are_stopped(house: LiveHouse) -> None:
    async with scene(house) as on:
        await on.arrives("mine", "1.1", by=ANN)
        await on.arrives_elsewhere("not mine", "2.1", by=BO)
        await on.begun("mine")
        await on.begun("not mine")
        assert await house.talk.stop(Caller(ANN, Surface.SLASH, Origin("slack:C12"))) == Stopped(0)
        assert await house.talk.stop(Caller(CLEO, Surface.SLASH, Origin("slack:C1"))) == Stopped(0)
        assert await house.talk.stop(ON_SLASH) == Stopped(1)
    assert house.fates == {"mine": "stopped", "not mine": "ran"}


async def test_where_nothing_runs_in_the_thread_ones_own_turns_elsewhere_are_stopped(house: LiveHouse) -> None:
    async with scene(house) as on:
        await on.arrives_elsewhere("mine", "2.1", by=ANN)
        await on.begun("mine")
        assert await house.talk.stop(calling("1.2", by=BO)) == Stopped(0)
        assert await house.talk.stop(calling("1.1", by=ANN)) == Stopped(1), "nobody reads of it here"
    assert house.fates == {"mine": "stopped"}


async def test_people_who_are_kept_apart_stop_their_own_turns_alone(database: Database) -> None:
    """Section 5."""
    house = LiveHouse(database, Keying(KeyRules(thread_sessions_per_user=True)))
    async with scene(house) as on:
        await on.arrives("one", "1.1", by=ANN)
        await on.arrives("two", "1.2", by=BO)
        await on.begun("one")
        await on.begun("two")
        assert await house.talk.stop(calling("1.3", by=CLEO)) == Stopped(0)
        assert await house.talk.stop(calling("1.4", by=BO)) == Stopped(1, is_told=True)
    assert house.fates == {"one": "ran", "two": "stopped"}


async def test_nothing_is_taken_back_below_a_turn_that_runs(house: LiveHouse) -> None:
    first = await house.said(heard("one", position="1.1"))
    await house.talk.reset(calling("1.2"), None)
    await house.said(heard("two", position="1.3"))
    async with scene(house) as on:
        await on.arrives("runs", "1.4")
        await on.begun("runs")
        caller = calling("1.5")
        for attempt in (
            house.talk.retry(caller),
            house.talk.undo(caller, 1),
            house.talk.compress(caller, Compressing()),
            house.talk.resume(caller, first.session_id),
        ):
            with pytest.raises(BusyError, match="!stop"):
                await attempt
        await house.talk.title(caller, "a name disturbs nobody")
        status = await house.talk.status(caller)
        assert status is not None
        assert (status.is_running, status.waiting, status.session.title) == (True, 0, "a name disturbs nobody")
    assert (await house.talk.retry(calling("1.6"))).text == "runs"


async def test_a_command_that_has_its_own_turn_in_the_line_is_no_obstacle_to_itself(house: LiveHouse) -> None:
    entry = await house.said(heard("one", position="1.1"))
    command = heard("!undo", position="1.2")
    accepted = await house.journal.accept(command, entry.session_key, None)
    assert accepted is not None
    arrival = Arrival(command.user_id, command.thread_key, BusyInput.QUEUE)
    ticket = house.lines.join(entry.session_key, arrival, Work(accepted, FakeChat()))
    async with house.lines.turn(ticket):
        assert (await house.talk.undo(calling("1.2"), 1)).turns == 1


async def test_who_stands_in_line_takes_part_but_nobody_by_their_own_command(house: LiveHouse) -> None:
    """A stranger's command waits in line as well, which makes nobody's conversation theirs."""
    async with scene(house) as on:
        await on.arrives("first", "1.1", by=ANN)
        await on.begun("first")
        await on.arrives("next", "1.2", by=BO)
        assert await house.talk.participants(calling("1.3", by=CLEO)) == {ANN, BO}
        assert await house.talk.participants(calling("1.3", by=ANN)) == {BO}
    assert await house.talk.participants(calling("1.4", by=ANN)) == {ANN, BO}


async def test_a_place_in_line_tells_how_many_are_before_it(house: LiveHouse) -> None:
    """Section 8, ``_queue_depth``."""
    async with scene(house) as on:
        await on.arrives("runs", "1.1")
        await on.begun("runs")
        assert await house.talk.queue(calling("1.1")) == 0
        await on.arrives("waits", "1.2")
        assert await house.talk.queue(calling("1.2")) == 1
        await on.arrives("waits too", "1.3", by=BO)
        assert await house.talk.queue(calling("1.3", by=BO)) == 2
        assert await house.talk.queue(calling("1.2")) == 1, "whatever came after it"
        with pytest.raises(BusyError, match="2 messages wait"):
            await house.talk.queue(calling("1.3", by=ANN))
        status = await house.talk.status(calling("1.5"))
        assert status is not None
        assert (status.is_running, status.waiting) == (True, 2)


async def test_a_full_line_and_a_process_that_ends_take_nothing_more(database: Database) -> None:
    house = LiveHouse(database, cap=1)
    async with scene(house) as on:
        await on.arrives("runs", "1.1")
        await on.begun("runs")
        await on.arrives("waits", "1.2")
        with pytest.raises(BusyError, match="1 message waits"):
            await house.talk.queue(calling("1.3"))
        house.lines.hold()
        with pytest.raises(BusyError, match="restarted"):
            await house.talk.queue(calling("2.1", root="2.0"))
