"""What the dispatcher does with its records: what is promised, kept and told when they cannot be used."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from app.agents.providers.base import Completed, StopReason, Usage
from app.channel import Remains
from app.dispatch import wording
from app.dispatch.journal import Promise
from app.dispatch.redelivery import PAUSES_S
from app.dispatch.work import Work
from app.errors import ChannelUnavailableError, DeliveryError, ModelKeyError, StateError, StoppedByUserError
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.restart import KEPT
from app.sessions.transcript import Kind
from commands.preferences import Layer, Name, Slot
from tests.dispatch_house import House
from tests.fakes import FakeChat, FakeReply, ManualClock, message, until


async def test_the_answer_is_promised_before_it_is_finished_and_kept_after() -> None:
    house = House()
    assert await house.handle(message("which port?")) == "ran"
    assert house.journal.promised == {1: "Hello Alice."}
    (record,) = house.journal.records
    assert [(line.role, line.kind, line.content) for line in record.lines] == [
        ("user", Kind.SAID, "which port?"),
        ("assistant", Kind.SAID, "Hello Alice."),
    ]
    assert (record.is_success, record.watermark, record.prompt_tokens) == (True, "1700000000.000100", 3)
    assert (record.run.agent, record.run.model, record.run.outcome) == ("general", "test/scripted", "ran")
    assert record.run.cost.status == "unknown", "a model without a price costs nobody knows what, not nothing"


async def test_the_next_turn_repeats_the_prompt_of_the_one_before_it() -> None:
    house = House(["one"], ["two"])
    await house.handle(message("first", root="1.0", position="1.1", event="Ev1"))
    await house.handle(message("second", root="1.0", position="1.2", event="Ev2"))
    first, second = house.provider.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert [turn.text for turn in second.messages] == ["Alice: first", "one", "Alice: second"]
    assert second.system == first.system


async def test_a_turn_that_fails_keeps_what_was_said_and_what_was_visible() -> None:
    house = House(["Let me ", ModelKeyError("no key")], ["fine"])
    assert await house.handle(message("first", root="1.0", position="1.1", event="Ev1")) == "failed"
    await house.handle(message("second", root="1.0", position="1.2", event="Ev2"))
    said = [turn.text for turn in house.provider.requests[1].messages]
    assert said[0] == "Alice: first"
    assert said[1].startswith("Let me")
    assert said[2] == "Alice: second"


async def test_a_reply_that_cannot_be_shown_stays_owed_and_is_tried_again_in_its_place() -> None:
    """Acceptance test 9 of a gateway; the pauses are those of the delivery ledger."""
    house = House()
    house.chat.answer.failure = None
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None
    house.chat.finish_failure = DeliveryError("is_archived")
    assert await house.dispatcher.handle(accepted, house.chat) == "undelivered"
    assert house.journal.outcomes == {}
    house.chat.finish_failure = None
    house.chat.left = Remains(("1.5",))
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "redelivered"})
    rounds.cancel()
    assert house.clock.slept[0] == PAUSES_S[0]
    assert house.chat.reused == ("1.5",)
    assert house.chat.answer.written.endswith(wording.late("Hello Alice."))


class Away(FakeChat):
    """A platform that takes no answer until ``back_s``."""

    clock: ManualClock
    back_s: float

    def reply(self) -> FakeReply:
        self.finish_failure = DeliveryError("unreachable") if self.clock.elapsed_s < self.back_s else None
        return super().reply()


def away(house: House, back_s: float) -> Away:
    chat = house.chat = Away()
    chat.clock, chat.back_s = house.clock, back_s
    return chat


async def test_an_answer_is_shown_when_the_platform_takes_it_again_however_long_that_took() -> None:
    house = House()
    chat = away(house, 20 * 3600.0)
    assert await house.handle(message()) == "undelivered"
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "redelivered"})
    rounds.cancel()
    assert chat.answer.written.endswith(wording.late("Hello Alice."))
    assert house.clock.slept[:5] == [*PAUSES_S, PAUSES_S[-1]]
    assert len(house.clock.slept) < 30, "a platform that is away is not asked all the time"


async def test_an_answer_that_nobody_could_be_shown_for_a_day_is_given_up() -> None:
    house = House()
    away(house, 48 * 3600.0)
    await house.handle(message())
    rounds = asyncio.create_task(house.dispatcher.redelivery.run())
    await until(lambda: house.journal.outcomes == {1: "abandoned"})
    rounds.cancel()
    assert len(house.dispatcher.redelivery) == 0
    assert timedelta(seconds=house.clock.elapsed_s) > KEPT


async def test_an_answer_that_is_whole_in_the_thread_is_not_shown_again() -> None:
    house = House()
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None
    house.chat.left = Remains(("1.5",), is_whole=True)
    promise = Promise("Hello", None, 1, accepted.accepted_at)
    assert await house.dispatcher.redeliver(Work(accepted, house.chat), promise) == "redelivered"
    assert house.chat.answer.written == ""


async def test_a_thread_that_cannot_be_read_leaves_the_answer_owed() -> None:
    house = House()
    accepted = await house.dispatcher.accept(message())
    assert accepted is not None
    house.chat.unreadable = ChannelUnavailableError("timeout")
    promise = Promise("Hello", None, 1, accepted.accepted_at)
    assert await house.dispatcher.redeliver(Work(accepted, house.chat), promise) == "undelivered"
    assert house.journal.outcomes == {}


async def test_records_that_cannot_be_written_are_told_of_and_the_conversation_stays_at_hand() -> None:
    """Acceptance test 10 of a gateway."""
    house = House(["one"], ["two"])
    house.journal.broken_promises = StateError("disk full")
    assert await house.handle(message("first", root="1.0", position="1.1", event="Ev1")) == "unrecorded"
    assert house.chat.answer.written == f"one\n\n{wording.UNRECORDED}"
    house.journal.broken_promises = None
    await house.handle(message("second", root="1.0", position="1.2", event="Ev2"))
    assert [turn.text for turn in house.provider.requests[1].messages] == ["Alice: first", "one", "Alice: second"]


async def test_records_that_cannot_even_be_read_are_told_of_before_a_model_is_asked() -> None:
    house = House()
    house.journal.broken = StateError("locked")
    assert await house.handle(message()) == "unrecorded"
    assert "cannot reach my own records" in house.chat.answer.written
    assert house.provider.requests == []


@pytest.mark.parametrize("fault", [TranscriptUnreadableError("line 7"), StateError("damaged")])
async def test_a_transcript_that_cannot_be_read_is_an_error_and_never_an_empty_history(fault: Exception) -> None:
    """Acceptance test 11 of a gateway."""
    house = House()
    house.journal.unreadable = fault
    await house.handle(message())
    assert house.provider.requests == []
    assert "so I" in house.chat.answer.written


async def test_a_reply_stopped_by_its_reader_while_it_ends_is_closed_with_a_word_below() -> None:
    house = House()
    house.chat.finish_failure = StoppedByUserError()
    assert await house.handle(message()) == "stopped"
    assert house.chat.said == [wording.STOPPED]
    assert house.journal.promised == {1: f"Hello Alice.\n\n{wording.STOPPED}"}


async def test_a_word_that_cannot_be_said_below_a_stopped_answer_still_ends_it() -> None:
    house = House()
    house.chat.finish_failure = StoppedByUserError()
    house.chat.unspeakable = DeliveryError("is_archived")
    assert await house.handle(message()) == "stopped"
    assert house.journal.outcomes == {1: "stopped"}


async def test_what_a_message_asks_for_goes_before_what_is_set_and_leaves_the_text_alone() -> None:
    house = House()
    for layer, subject in ((Layer.USER, "slack:U1"), (Layer.CHANNEL, "slack:C1")):
        slot = Slot(layer, subject, Name.EFFORT)
        await house.preferences.set(slot, "low", expected_version=0, by="slack:U1")
    advice = Slot(Layer.CHANNEL, "slack:C1", Name.INSTRUCTIONS)
    await house.preferences.set(advice, "Answer in German.", expected_version=0, by="slack:U1")
    await house.handle(message("effort:high two\nlines"))
    (request,) = house.provider.requests
    assert request.effort == "high"
    assert request.messages[-1].text == "Alice: two\n  lines"
    assert any("Answer in German." in part for part in request.system)
    await house.handle(message("hello", position="2.1", event="Ev2"))
    assert house.provider.requests[1].effort == "low"


async def test_a_wish_that_cannot_be_followed_is_refused_in_a_sentence() -> None:
    house = House()
    assert await house.handle(message("agent:nobody hello")) == "refused"
    assert "no such agent" in house.chat.said[0]
    assert house.provider.requests == []


async def test_messages_that_programs_bring_with_their_history_are_kept_nowhere() -> None:
    house = House()
    await house.handle(replace(message("hello"), brings_history=True))
    assert house.journal.records[0].lines == ()
    assert house.journal.lines == {}


async def test_usage_of_a_turn_is_priced_where_a_price_is_known() -> None:
    end = Completed(StopReason.END, Usage(input_tokens=1_000, output_tokens=1_000))
    house = House(["fine", end], prices=True)
    await house.handle(message())
    (record,) = house.journal.records
    assert (record.run.cost.microusd, record.run.cost.status) == (3_000, "estimated")
