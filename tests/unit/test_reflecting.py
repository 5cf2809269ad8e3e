"""Finished turns are learned from off their path: once, a few at a time, and what cannot be written again later."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import structlog

from app.background import Background
from app.channel import Chat
from app.dispatch.reflecting import (
    AT_ONCE,
    KEPT,
    LOOKS,
    PAUSES,
    REFLECTION_GIVEN_UP,
    REFLECTION_LOST,
    REFLECTION_WITHDRAWN,
    REFLECTIONS_UNREACHABLE,
    Pending,
    Reflecting,
    ReflectionId,
)
from app.errors import StateError
from app.sessions.entry import SessionKey
from memory.outcome import Batch, Ending, Outcome, Remembered
from memory.record import MemoryCandidate, WriteCounts
from memory.reflector import UNREADABLE, Course
from memory.scope import ScopeKind
from memory.turn import FinishedTurn
from tests.fakes import EPOCH, FakeChat, ManualClock, until

TURN = FinishedTurn("key", "slack:C1:1.0", "abcd1234", EPOCH, EPOCH, ())
BATCH = Batch("org:acme", (MemoryCandidate("fact", "We use tabs.", "slack:C1:1.0"),))
LEARNED = Outcome(
    Ending.WRITTEN, remembered=(Remembered("org:acme", ScopeKind.ORG, WriteCounts(), ("mem:org:acme:1",)),)
)


class Rows:
    """Pending turns in a list."""

    def __init__(self, *pending: Pending) -> None:
        self.pending = list(pending)
        self.finished: list[int] = []
        self.put_back: list[tuple[Sequence[Batch], datetime]] = []
        self.lost: Sequence[Pending] = ()
        self.kept: list[Pending] = []
        self.fault: StateError | None = None
        self.unkeepable: StateError | None = None
        self.unreturnable: StateError | None = None

    async def take(self, limit: int) -> Sequence[Pending]:
        if self.fault is not None:
            raise self.fault
        taken, self.pending = self.pending[:limit], self.pending[limit:]
        return taken

    async def keep(self, pending: Pending) -> None:
        if self.unkeepable is not None:
            raise self.unkeepable
        self.kept.append(pending)

    async def done(self, reflection_id: ReflectionId) -> None:
        self.finished.append(reflection_id)

    async def again(
        self, reflection_id: ReflectionId, turn: FinishedTurn, unwritten: Sequence[Batch], not_before_at: datetime
    ) -> None:
        if self.unreturnable is not None:
            raise self.unreturnable
        self.put_back.append((unwritten, not_before_at))

    async def interrupted(self) -> Sequence[Pending]:
        return self.lost


class Reflector:
    def __init__(self, outcome: Outcome = LEARNED) -> None:
        self.outcome = outcome
        self.reflected: list[FinishedTurn] = []
        self.rewritten: list[Sequence[Batch]] = []
        self.learns: Sequence[Batch] = ()
        self.on_asked: Callable[[], None] = lambda: None
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = self.most = 0

    async def reflect(self, turn: FinishedTurn, course: Course) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        if self.learns:
            await course.asking()
            self.on_asked()
            await course.learned(self.learns)
        await self.gate.wait()
        self.running -= 1
        self.reflected.append(turn)
        return self.outcome

    async def write_again(self, turn: FinishedTurn, unwritten: Sequence[Batch]) -> Outcome:
        self.rewritten.append(unwritten)
        return self.outcome


class House:
    def __init__(self, rows: Rows, reflector: Reflector | None = None) -> None:
        self.rows, self.reflector = rows, reflector or Reflector()
        self.clock, self.background = ManualClock(), Background()
        self.told: list[tuple[FinishedTurn, Outcome, Chat]] = []
        self.reflecting = Reflecting(rows, self.reflector, self.clock, self.background.spawn, self.tell)

    async def tell(self, turn: FinishedTurn, outcome: Outcome, chat: Chat) -> None:
        self.told.append((turn, outcome, chat))


def pending(number: int = 1, attempts: int = 1, **changes: object) -> Pending:
    return replace(Pending(ReflectionId(number), replace(TURN, run_id=f"{number}"), attempts, EPOCH), **changes)


async def test_a_scheduled_turn_is_looked_at_in_the_background_and_its_people_are_told() -> None:
    house, chat = House(Rows(pending())), FakeChat()
    house.reflecting.schedule(replace(TURN, run_id="1"), chat)
    assert len(house.background) == 1, "a drain counts it from now on"
    assert house.reflector.reflected == []
    await until(lambda: len(house.background) == 0)
    assert house.rows.finished == [1]
    ((turn, outcome, told),) = house.told
    assert (turn.run_id, outcome, told) == ("1", LEARNED, chat)


async def test_nobody_is_told_of_what_an_earlier_process_scheduled() -> None:
    house = House(Rows(pending()))
    await house.reflecting.started()
    await until(lambda: len(house.background) == 0)
    assert house.rows.finished == [1]
    assert house.told == []


async def test_only_a_few_models_are_asked_at_a_time() -> None:
    house = House(Rows(*(pending(number) for number in range(1, 10))))
    house.reflector.gate.clear()
    working = asyncio.gather(house.reflecting.work_off())
    await until(lambda: house.reflector.running == AT_ONCE)
    house.reflector.gate.set()
    assert await working == [9]
    assert house.reflector.most == AT_ONCE


async def test_what_could_not_be_written_is_tried_again_after_growing_pauses_and_given_up_after_a_day() -> None:
    failed = Outcome(Ending.WRITTEN, unwritten=(BATCH,))
    house = House(Rows(pending(1), pending(2, 9, unwritten=(BATCH,))), Reflector(failed))
    await house.reflecting.work_off()
    assert house.rows.put_back == [((BATCH,), EPOCH + PAUSES[0]), ((BATCH,), EPOCH + PAUSES[-1])]
    assert house.reflector.rewritten == [(BATCH,)]
    house.clock.elapsed_s = (KEPT + timedelta(seconds=1)).total_seconds()
    house.rows.pending = [pending(3, 30, unwritten=(BATCH,))]
    with structlog.testing.capture_logs() as lines:
        await house.reflecting.work_off()
    assert [line["event"] for line in lines] == [REFLECTION_GIVEN_UP]
    assert house.rows.finished == [3]


async def test_a_turn_that_was_not_looked_at_because_memory_was_down_comes_again_as_a_whole() -> None:
    house = House(Rows(pending()), Reflector(Outcome(Ending.FAILED, UNREADABLE)))
    await house.reflecting.work_off()
    assert house.rows.put_back == [((), EPOCH + PAUSES[0])]


async def test_what_is_still_to_be_learned_from_is_looked_at_before_a_conversation_loses_words() -> None:
    house = House(Rows(pending(1), pending(2)))
    house.reflector.gate.clear()
    house.reflecting.schedule(replace(TURN, run_id="1"), FakeChat())
    await until(lambda: house.reflector.running == AT_ONCE)
    elsewhere = asyncio.ensure_future(house.reflecting.before_loss(SessionKey("another"), ()))
    await until(elsewhere.done)
    losing = asyncio.ensure_future(house.reflecting.before_loss(SessionKey(TURN.session_key), ()))
    await until(lambda: not house.rows.pending)
    assert not losing.done()
    house.reflector.gate.set()
    await until(losing.done)
    assert sorted(turn.run_id for turn in house.reflector.reflected) == ["1", "2"]


async def test_a_call_that_was_interrupted_is_a_log_line_and_records_that_cannot_be_read_are_another() -> None:
    house = House(Rows())
    house.rows.lost = [pending()]
    with structlog.testing.capture_logs() as lines:
        await house.reflecting.started()
        house.rows.fault = StateError("locked")
        await until(lambda: len(house.background) == 0)
    assert [line["event"] for line in lines] == [REFLECTION_LOST, REFLECTIONS_UNREACHABLE]


async def test_how_far_a_look_has_come_is_kept_before_it_goes_on() -> None:
    house = House(Rows(pending()))
    house.reflector.learns = (BATCH,)
    await house.reflecting.work_off()
    assert [(each.looks, each.awaits_model, each.unwritten) for each in house.rows.kept] == [
        (1, True, ()),
        (1, False, ()),
        (1, False, (BATCH,)),
    ]
    assert house.rows.finished == [1]


async def test_a_look_that_cannot_be_told_of_is_not_begun_and_the_others_are() -> None:
    house = House(Rows(pending(1), pending(2)))
    house.rows.unkeepable = StateError("locked")
    with structlog.testing.capture_logs() as lines:
        assert await house.reflecting.work_off() == 2
    assert (house.reflector.reflected, house.rows.finished) == ([], [])
    assert [line["event"] for line in lines] == [REFLECTIONS_UNREACHABLE] * 2


async def test_a_look_that_could_not_be_told_of_is_due_again_before_the_next_ones_are_taken() -> None:
    house = House(Rows(pending(1)))
    house.rows.unkeepable = house.rows.unreturnable = StateError("locked")
    await house.reflecting.work_off()
    assert await house.reflecting.work_off() == 0
    house.rows.pending = [pending(2)]
    house.rows.unkeepable = house.rows.unreturnable = None
    assert await house.reflecting.work_off() == 1
    assert house.rows.put_back == [((), house.clock.now() + PAUSES[0])]
    assert (house.rows.finished, [turn.run_id for turn in house.reflector.reflected]) == ([2], ["2"])


async def test_what_was_learned_is_written_though_that_cannot_be_told_of() -> None:
    house = House(Rows(pending()))
    house.reflector.learns = (BATCH,)
    house.reflector.on_asked = lambda: setattr(house.rows, "unkeepable", StateError("locked"))
    with structlog.testing.capture_logs() as lines:
        await house.reflecting.work_off()
    assert house.rows.finished == [1]
    assert [line["event"] for line in lines] == [REFLECTIONS_UNREACHABLE]


@pytest.mark.parametrize(
    ("found", "is_left"),
    [
        (pending(), True),
        (pending(looks=LOOKS - 1), True),
        (pending(looks=LOOKS), False),
        (pending(awaits_model=False), False),
        (pending(awaits_model=False, unwritten=(BATCH,)), True),
        (pending(awaits_model=False, unwritten=(BATCH,), looks=LOOKS), False),
    ],
)
def test_a_model_is_asked_once_and_what_ends_the_process_thrice_is_left(found: Pending, *, is_left: bool) -> None:
    assert found.is_left is is_left


def of_thread(turn: FinishedTurn) -> bool:
    return turn.thread_key == TURN.thread_key


async def test_a_look_that_is_withdrawn_while_its_model_is_asked_writes_nothing() -> None:
    house, asked, answered = House(Rows(pending())), asyncio.Event(), asyncio.Event()

    class Asking(Reflector):
        async def reflect(self, turn: FinishedTurn, course: Course) -> Outcome:
            await course.asking()
            asked.set()
            await answered.wait()
            await course.learned((BATCH,))
            raise AssertionError(turn.run_id)

    reflecting = Reflecting(house.rows, Asking(), house.clock, house.background.spawn, house.tell)
    with structlog.testing.capture_logs() as lines:
        working = asyncio.ensure_future(reflecting.work_off())
        await until(asked.is_set)
        await reflecting.withdraw(of_thread)
        assert not working.done(), "nobody waits for a model"
        answered.set()
        assert await working == 1
    assert house.rows.finished == [1]
    assert (house.told, house.rows.kept[-1].unwritten) == ([], ())
    assert [line["event"] for line in lines] == [REFLECTION_WITHDRAWN]


async def test_a_look_that_writes_already_is_waited_for() -> None:
    house = House(Rows(pending(1), pending(2, unwritten=(BATCH,))))
    house.reflector.learns = (BATCH,)
    house.reflector.gate.clear()
    working = asyncio.ensure_future(house.reflecting.work_off())
    await until(lambda: house.reflector.running == 1 and len(house.rows.kept) == 4)
    withdrawing = asyncio.ensure_future(house.reflecting.withdraw(of_thread))
    elsewhere = asyncio.ensure_future(house.reflecting.withdraw(lambda turn: turn.thread_key == "slack:C2:1.0"))
    await until(elsewhere.done)
    assert not withdrawing.done()
    house.reflector.gate.set()
    await until(withdrawing.done)
    assert sorted(house.rows.finished) == [1, 2]
    await working


async def test_a_look_that_is_withdrawn_before_its_turn_comes_asks_no_model() -> None:
    house = House(Rows(*(pending(number) for number in range(1, AT_ONCE + 2)), pending(9, unwritten=(BATCH,))))
    house.reflector.gate.clear()
    working = asyncio.ensure_future(house.reflecting.work_off())
    await until(lambda: house.reflector.running == AT_ONCE)
    await house.reflecting.withdraw(lambda turn: turn.run_id in {"3", "9"})
    house.reflector.gate.set()
    await working
    assert sorted(turn.run_id for turn in house.reflector.reflected) == ["1", "2"]
    assert (sorted(house.rows.finished), house.reflector.rewritten) == ([1, 2, 3, 9], [])
