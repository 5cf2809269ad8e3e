"""What a stopped model call took until then is accounted for; what nobody knows of it is unknown, and never nothing."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from structlog.testing import capture_logs

from app.agents.providers.base import Completed, Counted, StopReason, Usage
from app.channel import ThreadMessage
from app.dispatch.turn_line import TURN_FINISHED
from app.errors import DeliveryError, ModelBusyError, ModelUnreachableError, StateError
from app.sessions.accounting import RUN_UNACCOUNTED
from app.sessions.entry import Cost, Tokens
from app.sessions.usage import Task
from tests.dispatch_house import House
from tests.fakes import FakeChat, Step, message, until

READ = Counted(Usage(input_tokens=1_000, output_tokens=1))
KNOWN = (Tokens(1_000, 1, is_partial=True), Cost(1_002, "at_least"))
NOTHING_KNOWN = (Tokens(is_partial=True), Cost(None, "unknown"))


def hanging(*steps: Step) -> House:
    return House([*steps, "Hello ", asyncio.Event(), "Alice."], prices=True)


def line_of(logs: Sequence[Mapping[str, object]]) -> Mapping[str, object]:
    (line,) = [line for line in logs if line["event"] == TURN_FINISHED]
    return line


def told(line: Mapping[str, object]) -> Tokens:
    """What the turn's log line says of its tokens."""
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    counts = [count for kind in kinds if isinstance(count := line[kind], int)]
    return Tokens(*counts, is_partial=line["tokens_are_partial"] is True)


async def begun(house: House) -> asyncio.Task[str]:
    turn = asyncio.create_task(house.handle(message()))
    await until(lambda: house.chat.answer.written == "Hello ")
    return turn


@pytest.mark.parametrize(("counted", "known"), [([READ], KNOWN), ([], NOTHING_KNOWN)])
async def test_a_turn_that_a_person_stops_is_accounted_for_as_far_as_it_was_counted(
    counted: list[Step], known: tuple[Tokens, Cost]
) -> None:
    house = hanging(*counted)
    turn = await begun(house)
    with capture_logs() as logs:
        house.dispatcher.stop(message().thread_key)
        assert await turn == "stopped"
    (record,) = house.journal.records
    assert (record.run.tokens, record.run.cost) == known
    assert record.run.outcome == "stopped"
    assert house.provider.closed_early == 1
    line = line_of(logs)
    assert (line["outcome"], line["model"], told(line)) == ("stopped", "test/scripted", record.run.tokens)


@pytest.mark.parametrize(("counted", "known"), [([READ], KNOWN), ([], NOTHING_KNOWN)])
async def test_a_turn_that_took_too_long_is_accounted_for_as_far_as_it_was_counted(
    counted: list[Step], known: tuple[Tokens, Cost]
) -> None:
    house = House([*counted, "Hello ", asyncio.Event()], prices=True, turn_s=0.5)
    with capture_logs() as logs:
        assert await house.handle(message()) == "failed"
    (record,) = house.journal.records
    assert (record.run.tokens, record.run.cost) == known
    assert told(line_of(logs)) == record.run.tokens


@pytest.mark.parametrize(("counted", "known"), [([READ], KNOWN), ([], NOTHING_KNOWN)])
async def test_a_turn_that_the_end_of_the_process_breaks_off_is_accounted_for_and_stays_unfinished(
    counted: list[Step], known: tuple[Tokens, Cost]
) -> None:
    house = hanging(*counted)
    turn = await begun(house)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    (run,) = house.usage.runs
    assert (run.tokens, run.cost) == known
    assert (run.task, run.outcome, run.model) == (Task.BROKEN_OFF, "broken_off", "test/scripted")
    assert (house.journal.outcomes, house.journal.records) == ({}, [])


async def test_a_turn_that_cannot_be_accounted_for_is_cancelled_all_the_same_and_the_log_tells() -> None:
    house = hanging(READ)
    turn = await begun(house)
    house.usage.broken = StateError("disk full")
    with capture_logs() as logs:
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
    (told,) = [line for line in logs if line["event"] == RUN_UNACCOUNTED]
    assert (told["reference"], told["reason"]) == (message().reference, "disk full")
    assert house.chat.answer.is_abandoned


async def test_a_turn_that_is_broken_off_before_a_model_was_asked_took_nothing() -> None:
    class Unread(FakeChat):
        async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:
            await asyncio.Event().wait()
            return await super().history(after)

    house = House(["unused"])
    house.chat = Unread()
    turn = asyncio.create_task(house.handle(message(root="1.0", position="1.1")))
    await until(lambda: bool(house.journal.entries))
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert (house.usage.runs, house.provider.requests) == ([], [])


async def test_a_turn_whose_answer_is_still_owed_tells_what_it_took() -> None:
    house = House(prices=True)
    house.chat.finish_failure = DeliveryError("is_archived")
    with capture_logs() as logs:
        assert await house.handle(message()) == "undelivered"
    (record,) = house.journal.records
    assert told(line_of(logs)) == record.run.tokens == Tokens(3, 5)


async def test_a_turn_that_came_to_no_model_tells_of_no_tokens() -> None:
    house = House(["unused"], default_agent="nobody")
    with capture_logs() as logs:
        assert await house.handle(message()) == "failed"
    assert "input_tokens" not in line_of(logs)


async def test_what_an_attempt_took_that_failed_is_added_to_the_one_that_brought_the_answer() -> None:
    end = Completed(StopReason.END, Usage(1_000, 500))
    house = House([READ, ModelUnreachableError("broke off")], ["fine", end], prices=True)
    assert await house.handle(message()) == "ran"
    (record,) = house.journal.records
    assert (record.run.tokens, record.run.cost) == (Tokens(2_000, 501, is_partial=True), Cost(3_002, "at_least"))
    assert record.run.calls == 2
    assert record.prompt_tokens == 1_000, "of the call that brought the answer"


async def test_an_attempt_that_was_turned_away_leaves_the_sum_whole() -> None:
    end = Completed(StopReason.END, Usage(1_000, 500))
    house = House([ModelBusyError("429", 0.0)], ["fine", end], prices=True)
    assert await house.handle(message()) == "ran"
    (record,) = house.journal.records
    assert (record.run.tokens, record.run.cost) == (Tokens(1_000, 500), Cost(2_000, "estimated"))
