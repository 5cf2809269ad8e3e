"""What is still to be learned is kept with its turn, and taken once; over every state database."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import TypeAdapter
from sqlalchemy import update

from app.background import Background
from app.channel import Chat
from app.dispatch.reflecting import AT_ONCE, LOOKS, Reflecting
from app.dispatch.thread_before import TranscriptThread
from app.dispatch.unlearning import Kind
from app.sessions.transcript import TranscriptMessage
from app.state.engine import Database
from app.state.erasures import StateErasures
from app.state.reflections import StateReflections
from app.state.tables import pending_reflections
from memory.outcome import Batch, Ending, Outcome
from memory.record import MemoryCandidate
from memory.reflector import Course
from memory.turn import FinishedTurn, Line
from tests.contract.test_journal import House, record_of
from tests.fakes import EPOCH, message, until

LINES = (Line("user", "we use tabs\0 and\nöäü", EPOCH, "Alice", "slack:U1"), Line("assistant", "Noted.", EPOCH))
TURN = FinishedTurn(
    "agent:main:slack:channel:C1:1.0",
    "slack:C1:1.0",
    "abcd1234",
    EPOCH,
    EPOCH,
    LINES,
    user_id="slack:U1",
    repo="acme/api",
)
BATCH = Batch("org:acme", (MemoryCandidate("fact", "We use tabs.", "slack:C1:1.0"),))


class Kept(House):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.reflections = StateReflections(database, self.clock)
        self.erasures = StateErasures(database, self.clock)

    async def turn(self, turn: FinishedTurn = TURN, *, event: str = "Ev1", position: str = "1.1") -> None:
        accepted = await self.accept(message(event=event, position=position))
        entry = await self.begun(accepted)
        await self.journal.end(accepted, "ran", replace(record_of(entry), reflection=turn))


@pytest.fixture
def kept(database: Database) -> Kept:
    return Kept(database)


async def test_a_turn_that_is_kept_is_pending_in_the_same_step_and_taken_once(kept: Kept) -> None:
    await kept.turn()
    (pending,) = await kept.reflections.take(10)
    said = replace(LINES[0], text=pending.turn.lines[0].text)
    assert pending.turn == replace(TURN, lines=(said, LINES[1]))
    assert said.text.replace("\0", "").startswith("we use tabs")
    assert (pending.attempts, pending.created_at, pending.unwritten) == (1, EPOCH, ())
    assert await kept.reflections.take(10) == []


async def test_a_turn_that_teaches_nothing_is_not_pending(kept: Kept) -> None:
    accepted = await kept.accept()
    entry = await kept.begun(accepted)
    await kept.journal.end(accepted, "failed", record_of(entry, is_success=False))
    assert await kept.reflections.take(10) == []


async def test_what_is_done_is_gone_and_the_oldest_comes_first(kept: Kept) -> None:
    for number in (1, 2, 3):
        await kept.turn(replace(TURN, run_id=f"{number}"), event=f"Ev{number}", position=f"{number}.1")
    first, second = await kept.reflections.take(2)
    assert [first.turn.run_id, second.turn.run_id] == ["1", "2"]
    for each in (first, second):
        await kept.reflections.done(each.id)
    (third,) = await kept.reflections.take(2)
    assert third.turn.run_id == "3"
    await kept.reflections.done(third.id)
    assert await kept.reflections.interrupted() == []


async def test_what_could_not_be_written_comes_again_in_its_time_without_the_rest(kept: Kept) -> None:
    await kept.turn()
    (pending,) = await kept.reflections.take(10)
    await kept.reflections.again(pending.id, pending.turn, [BATCH], EPOCH + timedelta(seconds=30))
    assert await kept.reflections.take(10) == []
    kept.clock.elapsed_s = 30
    (again,) = await kept.reflections.take(10)
    assert (again.unwritten, again.attempts) == ((BATCH,), 2)


async def test_of_what_a_dying_process_was_at_only_a_model_call_is_not_made_again(kept: Kept) -> None:
    names = ("called", "answered", "looked at", "taken", "writing", "waiting")
    for number, name in enumerate(names, 1):
        await kept.turn(replace(TURN, run_id=name), event=f"Ev{number}", position=f"{number}.1")
    called, answered, looked_at, _taken, writing = await kept.reflections.take(5)
    await kept.reflections.keep(replace(called, looks=1, awaits_model=False))
    await kept.reflections.keep(replace(answered, looks=1, awaits_model=False, unwritten=(BATCH,)))
    await kept.reflections.keep(replace(looked_at, looks=1))
    await kept.reflections.again(writing.id, writing.turn, [BATCH], EPOCH)
    (_,) = await kept.reflections.take(1)
    lost = await kept.reflections.interrupted()
    assert [each.turn.run_id for each in lost] == ["called"]
    assert [(each.turn.run_id, each.looks, each.unwritten) for each in await kept.reflections.take(10)] == [
        ("answered", 1, (BATCH,)),
        ("looked at", 1, ()),
        ("taken", 0, ()),
        ("writing", 0, (BATCH,)),
        ("waiting", 0, ()),
    ]
    assert await kept.reflections.interrupted() == []


class Asking:
    """Looks at turns with a model that does not answer, or with none to wait for."""

    def __init__(self, *, is_stuck: bool) -> None:
        self.is_stuck = is_stuck
        self.asked: list[str] = []

    async def reflect(self, turn: FinishedTurn, course: Course) -> Outcome:
        await course.asking()
        self.asked.append(turn.run_id)
        if self.is_stuck:
            await asyncio.Event().wait()
        return Outcome(Ending.NOTHING)

    async def write_again(self, turn: FinishedTurn, unwritten: Sequence[Batch]) -> Outcome:
        raise AssertionError(turn.run_id)


def learning(kept: Kept, reflector: Asking, background: Background) -> Reflecting:
    async def tell(turn: FinishedTurn, outcome: Outcome, chat: Chat) -> None:
        raise AssertionError(turn.run_id, outcome, chat)

    return Reflecting(kept.reflections, reflector, kept.clock, background.spawn, tell)


async def test_a_process_that_is_killed_costs_those_turns_whose_model_it_waited_for_and_no_other(kept: Kept) -> None:
    for number in range(1, AT_ONCE + 4):
        await kept.turn(replace(TURN, run_id=f"{number}"), event=f"Ev{number}", position=f"{number}.1")
    killed, after = Asking(is_stuck=True), Asking(is_stuck=False)
    process = asyncio.ensure_future(learning(kept, killed, Background()).work_off())
    await until(lambda: len(killed.asked) == AT_ONCE)
    # Nothing is put in order on the way out: what is left is what a kill leaves.
    process.cancel()
    await asyncio.wait({process})
    background = Background()
    await learning(kept, after, background).started()
    await until(lambda: len(background) == 0)
    assert [*killed.asked, *after.asked] == [f"{number}" for number in range(1, AT_ONCE + 4)], (
        "each was asked about once"
    )


async def test_what_ends_the_process_each_time_it_is_looked_at_is_left_in_the_end(kept: Kept) -> None:
    await kept.turn()
    for look in range(1, LOOKS + 1):
        (pending,) = await kept.reflections.take(10)
        await kept.reflections.keep(replace(pending, looks=pending.looks + 1))
        assert [each.looks for each in await kept.reflections.interrupted()] == ([LOOKS] if look == LOOKS else [])
    assert await kept.reflections.take(10) == []


async def test_a_look_that_came_to_its_end_is_no_reason_to_leave_the_next_one(kept: Kept) -> None:
    await kept.turn()
    (pending,) = await kept.reflections.take(10)
    await kept.reflections.keep(replace(pending, looks=LOOKS))
    await kept.reflections.again(pending.id, pending.turn, (), EPOCH)
    (again,) = await kept.reflections.take(10)
    assert (again.looks, again.awaits_model) == (0, True)


async def test_a_call_that_an_earlier_version_may_have_made_is_not_made_again(kept: Kept) -> None:
    await kept.turn()
    (pending,) = await kept.reflections.take(10)
    without = TypeAdapter(FinishedTurn).dump_python(pending.turn, mode="json")
    old = update(pending_reflections).values(payload=json.dumps({"turn": without}))
    await kept.database.write(lambda connection: connection.execute(old).rowcount)
    assert [each.turn.run_id for each in await kept.reflections.interrupted()] == [TURN.run_id]


async def test_a_row_that_makes_no_sense_is_taken_away_and_the_rest_is_found(kept: Kept) -> None:
    await kept.turn(event="Ev1", position="1.1")
    await kept.turn(replace(TURN, run_id="whole"), event="Ev2", position="2.1")
    spoil = update(pending_reflections).where(pending_reflections.c.id == 1).values(payload="{")
    await kept.database.write(lambda connection: connection.execute(spoil).rowcount)
    assert "whole" in [each.turn.run_id for each in await kept.reflections.take(10)]


@pytest.mark.parametrize(("kind", "subject"), [(Kind.THREAD, "slack:C1:1.0"), (Kind.PERSON, "slack:U1")])
async def test_a_turn_that_ended_before_something_of_it_was_erased_teaches_nothing(
    kept: Kept, kind: Kind, subject: str
) -> None:
    await kept.turn(event="Ev1", position="1.1")
    await kept.turn(event="Ev2", position="2.1")
    (written,) = await kept.reflections.take(1)
    await kept.reflections.again(written.id, written.turn, [BATCH], EPOCH)
    other = replace(TURN, run_id="other", thread_key="slack:C2:1.0", user_id="slack:U2")
    await kept.turn(other, event="Ev3", position="3.1")
    await kept.erasures.note(kind, subject)
    assert [each.turn.run_id for each in await kept.reflections.take(10)] == ["other"]
    assert await kept.reflections.interrupted() == []
    assert [each.turn.run_id for each in await kept.reflections.take(10)] == ["other"]


async def test_a_turn_that_ended_later_teaches_what_was_said_later(kept: Kept) -> None:
    """The latest erasure counts, of the thread or of the one who asked."""
    for seconds, kind, subject in ((10, Kind.PERSON, "slack:U1"), (5, Kind.THREAD, "slack:C1:1.0")):
        kept.clock.elapsed_s = seconds
        await kept.erasures.note(kind, subject)
    lines = [Line("user", f"said {at}", EPOCH + timedelta(seconds=at), "Alice", "slack:U1") for at in (4, 10, 11)]
    turn = replace(TURN, lines=tuple(lines), ended_at=EPOCH + timedelta(seconds=12))
    await kept.turn(turn)
    kept.clock.elapsed_s = 20
    (pending,) = await kept.reflections.take(10)
    assert pending.turn == replace(turn, lines=(lines[-1],))
    assert await kept.erasures.latest(replace(turn, user_id=None)) == EPOCH + timedelta(seconds=5)
    assert await kept.erasures.latest(replace(turn, user_id=None, thread_key="slack:C2:1.0")) is None
    await kept.erasures.note(Kind.THREAD, "slack:C1:1.0")
    assert await kept.erasures.latest(turn) == EPOCH + timedelta(seconds=20)


async def test_what_the_conversation_had_said_before_something_of_it_was_erased_is_not_looked_at(kept: Kept) -> None:
    accepted = await kept.accept()
    entry = await kept.begun(accepted)
    said = [TranscriptMessage("user", f"said {at}", EPOCH + timedelta(seconds=at)) for at in (1, 2, 3)]
    await kept.journal.end(accepted, "ran", replace(record_of(entry), lines=tuple(said)))
    turn = replace(TURN, session_key=entry.session_key, started_at=EPOCH + timedelta(seconds=9), lines=())
    thread = TranscriptThread(kept.sessions, kept.erasures)
    assert [line.text for line in await thread.before(turn)] == ["said 1", "said 2", "said 3"]
    kept.clock.elapsed_s = 2
    await kept.erasures.note(Kind.THREAD, turn.thread_key)
    assert [line.text for line in await thread.before(turn)] == ["said 3"]
