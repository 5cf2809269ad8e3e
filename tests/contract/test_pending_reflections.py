"""What is still to be learned is kept with its turn, and taken once; over every state database."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from app.state.engine import Database
from app.state.reflections import StateReflections
from app.state.tables import pending_reflections
from memory.outcome import Batch
from memory.record import MemoryCandidate
from memory.turn import FinishedTurn, Line
from tests.contract.test_journal import House, record_of
from tests.fakes import EPOCH, message

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


async def test_a_call_that_a_dying_process_was_in_is_not_made_again_but_a_write_is(kept: Kept) -> None:
    await kept.turn(replace(TURN, run_id="called"), event="Ev1", position="1.1")
    await kept.turn(replace(TURN, run_id="writing"), event="Ev2", position="2.1")
    await kept.turn(replace(TURN, run_id="waiting"), event="Ev3", position="3.1")
    _, writing = await kept.reflections.take(2)
    await kept.reflections.again(writing.id, writing.turn, [BATCH], EPOCH)
    (_,) = await kept.reflections.take(1)
    lost = await kept.reflections.interrupted()
    assert [each.turn.run_id for each in lost] == ["called"]
    assert [each.turn.run_id for each in await kept.reflections.take(10)] == ["writing", "waiting"]
    assert [each.turn.run_id for each in await kept.reflections.interrupted()] == ["waiting"]


async def test_a_row_that_makes_no_sense_is_taken_away_and_the_rest_is_found(kept: Kept) -> None:
    await kept.turn(event="Ev1", position="1.1")
    await kept.turn(replace(TURN, run_id="whole"), event="Ev2", position="2.1")
    spoil = update(pending_reflections).where(pending_reflections.c.id == 1).values(payload="{")
    await kept.database.write(lambda connection: connection.execute(spoil).rowcount)
    assert "whole" in [each.turn.run_id for each in await kept.reflections.take(10)]
