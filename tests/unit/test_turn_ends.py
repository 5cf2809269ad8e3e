"""How turns end: what is visible stays as it is, whatever becomes of the records."""

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from app.access.actor import ActorKind
from app.access.grants import Grants
from app.channel import Address, Remains
from app.dispatch import wording
from app.dispatch.journal import Promise
from app.dispatch.redelivery import PAUSES_S
from app.dispatch.unwritten import AGAIN_S, END_UNWRITTEN
from app.dispatch.work import Work
from app.errors import ModelKeyError, StateError, StoppedByUserError
from app.sessions.busy import BusyInput
from commands.registry import Registry
from commands.spec import Caller, Command, Reply, Values
from tests.dispatch_house import House, SlowChat
from tests.fakes import FakeChat, FakeJournal, FakeReply, FakeStatus, access_of, message, until

FULL = StateError("disk full")


def pinging() -> Registry:
    async def ping(_caller: Caller, _values: Values) -> Reply:
        return Reply({}, "pong")

    return Registry([Command("turn.ping", "Answers.", "help:read", "read", ping)], access_of())


class SlowToClear(FakeStatus):
    """Takes its time to be cleared."""

    def __init__(self) -> None:
        super().__init__()
        self.may_clear = asyncio.Event()
        self.is_asked = False

    async def clear(self) -> None:
        self.is_asked = True
        await self.may_clear.wait()
        await super().clear()


async def serve(house: House, text: str = "hello") -> None:
    """A message as the listeners hand it in: whatever fails is apologised for."""
    accepted = await house.dispatcher.accept(message(text))
    assert accepted is not None
    await house.dispatcher.surviving(accepted, house.chat, lambda: house.dispatcher.handle(accepted, house.chat))


@pytest.mark.parametrize(
    ("said", "written", "spoken"),
    [("which port?", "Hello Alice.", 0), ("!turn ping", "", 1), ("agent:nobody hello", "", 1)],
)
async def test_below_an_answer_whose_end_cannot_be_written_nothing_is_said_and_the_log_tells(
    said: str, written: str, spoken: int
) -> None:
    house = House(commands=pinging())
    house.journal.broken_ends = FULL
    with capture_logs() as logs:
        await serve(house, said)
    assert (house.chat.answer.written, len(house.chat.said)) == (written, spoken)
    assert not any("my own records" in text for text in house.chat.said)
    (told,) = [line for line in logs if line["event"] == END_UNWRITTEN]
    assert (told["reference"], told["error"], told["reason"]) == (message().reference, "StateError", "disk full")


def _no_promises(journal: FakeJournal, fault: StateError | None) -> None:
    journal.broken_promises = fault


def _no_ends(journal: FakeJournal, fault: StateError | None) -> None:
    journal.broken_ends = fault


@pytest.mark.parametrize("let_fail", [_no_promises, _no_ends])
async def test_below_an_answer_that_a_person_stopped_nothing_is_said_about_records(
    let_fail: Callable[[FakeJournal, StateError | None], None],
) -> None:
    house = House(["Hello ", asyncio.Event(), "Alice."])
    turn = asyncio.create_task(serve(house))
    await until(lambda: house.chat.answer.written == "Hello ")
    let_fail(house.journal, FULL)
    house.dispatcher.stop(message().thread_key)
    await turn
    assert house.chat.said == [wording.STOPPED]
    let_fail(house.journal, None)
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert house.journal.outcomes == {1: "stopped"}


@pytest.mark.parametrize("stops", [True, False])
async def test_the_end_of_an_answer_tells_what_else_it_answers_because_the_records_may_not(*, stops: bool) -> None:
    gate, chat = asyncio.Event(), SlowChat()
    house = House(["Hello ", gate, "Alice."], busy_input=BusyInput.STEER)
    house.journal.broken_promises = FULL
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(house.handle(message("one", position="1.1", root="1.0", event="Ev1"), chat))
        await until(lambda: chat.is_asked)
        group.create_task(house.handle(message("two", position="1.2", root="1.0", event="Ev2")))
        await until(lambda: house.chat.whispered == [wording.STEERED])
        assert list(chat.others()) == []
        chat.is_known.set()
        await until(lambda: chat.answer.written == "Hello ")
        if stops:
            house.dispatcher.stop(message(root="1.0").thread_key)
        gate.set()
    assert list(chat.others()) == ["1.2"]


@pytest.mark.parametrize(("is_told", "fault", "says"), [(True, None, 0), (False, None, 1), (True, FULL, 1)])
async def test_an_answer_that_somebody_stops_who_tells_of_it_says_nothing_itself(
    fault: StateError | None, says: int, *, is_told: bool
) -> None:
    house = House(["Let me see", asyncio.Event()])
    house.journal.broken_promises = fault
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(house.handle(message()))
        await until(lambda: house.chat.answer.written == "Let me see")
        (turn,) = house.dispatcher.lines.turns()
        assert house.dispatcher.lines.stop_line(turn.key, is_told=is_told)
    assert house.chat.said == [wording.STOPPED] * says, "it marks what the records may never have"
    assert house.chat.answer.is_abandoned
    house.journal.broken_promises = None
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert house.journal.outcomes == {1: "stopped"}
    assert house.journal.promised[1].endswith(wording.STOPPED), "a process that is killed leaves the word to the next"


async def test_a_whole_answer_is_not_called_stopped_because_its_end_takes_long_to_write() -> None:
    house = House()
    house.journal.ending = asyncio.Event()
    turn = asyncio.create_task(house.handle(message()))
    await until(lambda: house.chat.answer.is_finished)
    house.dispatcher.stop(message().thread_key)
    assert await turn == "ran"
    assert (house.chat.answer.written, house.chat.said) == ("Hello Alice.", [])
    house.journal.ending.set()
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert house.journal.outcomes == {1: "ran"}


@pytest.mark.parametrize("busy_input", [BusyInput.INTERRUPT, BusyInput.QUEUE])
async def test_an_answer_that_has_ended_is_not_ended_by_a_person_while_what_is_around_it_is_cleared_away(
    busy_input: BusyInput,
) -> None:
    house, clearing = House(busy_input=busy_input), SlowToClear()
    first, second = (message(text, position=f"1.{text}", root="1.0", event=f"Ev{text}") for text in "12")
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        turn = group.create_task(house.handle(first, FakeChat(card=clearing)))
        await until(lambda: clearing.is_asked)
        behind = group.create_task(house.handle(second))
        await until(lambda: house.dispatcher.lines.waiting == 1)
        await house.dispatcher.revising.withdraw(first.place, first.user_id)
        assert not house.dispatcher.stop(first.thread_key)
        clearing.may_clear.set()
    assert (turn.result(), behind.result()) == ("ran", "ran")
    assert (house.journal.outcomes, clearing.is_cleared) == ({1: "ran", 2: "ran"}, True)
    assert house.chat.whispered == [wording.waiting(1)]


async def test_a_whole_answer_is_not_called_unfinished_when_the_process_ends_while_its_end_is_written() -> None:
    house = House()
    house.journal.ending = asyncio.Event()
    turn = asyncio.create_task(house.handle(message()))
    await until(lambda: house.chat.answer.is_finished)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert (house.chat.answer.written, house.chat.answer.is_abandoned) == ("Hello Alice.", False)
    house.journal.ending.set()
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert house.journal.outcomes == {1: "ran"}


async def test_a_whole_answer_is_not_called_too_long_because_its_end_takes_long_to_write() -> None:
    house = House(turn_s=0.05)
    house.journal.ending = asyncio.Event()
    turn = asyncio.create_task(house.handle(message()))
    await until(lambda: house.chat.answer.is_finished)
    deadline = asyncio.get_running_loop().time() + 0.1
    await until(lambda: asyncio.get_running_loop().time() > deadline)
    house.journal.ending.set()
    assert await turn == "ran"
    assert house.chat.answer.written == "Hello Alice."


async def test_what_was_not_for_the_bot_is_not_apologised_for_when_that_cannot_be_written() -> None:
    house = House()
    house.journal.broken_ends = FULL
    accepted = await house.dispatcher.accept(message(root="1.0", position="1.1", address=Address.FOLLOW_UP))
    assert accepted is not None
    assert await house.dispatcher.handle(accepted, house.chat) == "not_meant"
    assert house.chat.said == []


async def test_an_end_that_could_not_be_written_is_written_after_a_while_and_tried_until_it_is() -> None:
    house = House()
    house.journal.broken_ends = FULL
    await house.handle(message())
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: len(house.clock.slept) >= 2)
    house.journal.broken_ends = None
    await until(lambda: house.journal.outcomes == {1: "ran"})
    rounds.cancel()
    assert set(house.clock.slept) == {AGAIN_S}
    assert len(house.dispatcher.outbox.unwritten) == 0


async def test_of_a_conversation_nothing_is_written_before_what_came_first() -> None:
    house, written = House(), list[str]()
    unwritten = house.dispatcher.outbox.unwritten
    is_broken = True

    async def first() -> None:
        if is_broken:
            raise FULL
        written.append("first")

    async def second() -> None:
        written.append("second")

    async def elsewhere() -> None:
        written.append("elsewhere")

    for number, (root, write) in enumerate([("1.0", first), ("1.0", second), ("2.0", elsewhere)]):
        accepted = await house.dispatcher.accept(message(root=root, position=f"3.{number}", event=f"Ev{number}"))
        assert accepted is not None
        unwritten.add(accepted, FULL, write)
    assert await unwritten.write() == 2
    is_broken = False
    assert await unwritten.write() == 0
    assert written == ["elsewhere", "first", "second"]


async def test_an_end_that_two_are_about_to_write_is_written_once() -> None:
    house, written, gate = House(), list[int](), asyncio.Event()
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None

    async def write() -> None:
        await gate.wait()
        written.append(1)

    unwritten = house.dispatcher.outbox.unwritten
    unwritten.add(accepted, FULL, write)
    before_the_next_turn = unwritten.of(accepted)
    assert before_the_next_turn is not None
    async with asyncio.TaskGroup() as both:
        both.create_task(_awaited(before_the_next_turn))
        both.create_task(_awaited(unwritten.write))
        gate.set()
    assert (written, unwritten.of(accepted)) == ([1], None)


async def _awaited(write: Callable[[], object]) -> None:
    pending = write()
    assert asyncio.iscoroutine(pending)
    await pending


async def test_an_answer_that_is_owed_waits_for_records_that_cannot_be_read_and_nobody_is_told() -> None:
    house, chat = House(), FakeChat(left=Remains(("1.5",)))
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None
    house.journal.broken = FULL
    work = Work(accepted, chat, is_left_over=True)
    promise = Promise("Hello", None, 0, accepted.accepted_at)
    await house.dispatcher.surviving(accepted, chat, lambda: house.dispatcher.redeliver(work, promise))
    assert (chat.said, chat.answer.written, house.journal.outcomes) == ([], "", {})
    house.journal.broken = None
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "redelivered"})
    rounds.cancel()
    assert house.clock.slept[0] == PAUSES_S[0]
    assert chat.answer.written == wording.recovered("Hello")


class Closing(FakeReply):
    """An answer whose end takes until ``is_over``."""

    is_over: asyncio.Event

    async def finish(self) -> None:
        await self.is_over.wait()


async def test_a_turn_that_is_stopped_while_it_tells_of_a_failure_ends_as_any_other() -> None:
    house = House(["Hello ", ModelKeyError("no key")])
    house.chat.answer = answer = Closing()
    answer.is_over = asyncio.Event()
    turn = asyncio.create_task(serve(house))
    await until(lambda: "⚠️" in answer.written)
    house.dispatcher.stop(message().thread_key)
    await turn
    assert (house.chat.said, house.journal.outcomes) == ([wording.STOPPED], {1: "stopped"})


async def test_a_turn_that_is_stopped_while_it_tells_that_nothing_can_be_written_ends_as_any_other() -> None:
    house = House()
    house.journal.broken_promises = FULL
    house.chat.answer = answer = Closing()
    answer.is_over = asyncio.Event()
    turn = asyncio.create_task(serve(house))
    await until(lambda: wording.UNRECORDED in answer.written)
    house.dispatcher.stop(message().thread_key)
    await turn
    house.journal.broken_promises = None
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert (house.chat.said, house.journal.outcomes) == ([wording.STOPPED], {1: "stopped"})


@pytest.mark.parametrize(
    ("kind", "outcome", "says"), [(ActorKind.MEMBER, "stopped", wording.STOPPED), (ActorKind.EXTERNAL, "refused", "🚫")]
)
async def test_whoever_stops_a_turn_that_has_said_its_last_word_hears_no_other_one(
    kind: ActorKind, outcome: str, says: str
) -> None:
    house = House(access=access_of(kind, Grants(external_may_talk=False)))
    house.journal.ending = asyncio.Event()
    house.chat.answer.failure = StoppedByUserError()
    turn = asyncio.create_task(serve(house))
    await until(lambda: house.chat.said != [])
    assert house.dispatcher.stop(message().thread_key)
    house.journal.ending.set()
    await turn
    assert [says in text for text in house.chat.said] == [True], house.chat.said
    assert await house.dispatcher.outbox.unwritten.write() == 0
    assert house.journal.outcomes == {1: outcome}


async def test_a_sentence_that_its_reader_stops_is_over_and_not_apologised_for() -> None:
    """A long one may stream."""
    house = House(commands=pinging())
    house.chat.unspeakable = StoppedByUserError()
    await serve(house, "!turn ping")
    assert (house.chat.said, house.journal.outcomes) == ([], {1: "command"})


async def test_an_answer_that_its_reader_stops_while_it_is_shown_again_is_over() -> None:
    house, chat = House(), FakeChat(left=Remains(("1.5",)), finish_failure=StoppedByUserError())
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None
    promise = Promise("Hello", None, 1, accepted.accepted_at)
    assert await house.dispatcher.redeliver(Work(accepted, chat, is_left_over=True), promise) == "redelivered"
    assert house.journal.outcomes == {1: "redelivered"}


async def test_the_word_that_ends_an_answer_its_reader_stopped_is_said_without_records() -> None:
    house = House()
    house.chat.finish_failure = StoppedByUserError()
    house.journal.broken_ends = FULL
    await serve(house)
    assert house.chat.said == [wording.STOPPED]
