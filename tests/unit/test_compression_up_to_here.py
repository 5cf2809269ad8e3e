"""All of a conversation is compressed but for its last turns, as a person asks for; a preview changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sessions.compression import Cause, CoolDown, Limits, Step, first_step, planned, tokens_in
from app.sessions.compression_outcome import Foreseen, Result
from app.sessions.transcript import Kind, last_turns
from tests.transcripts import signs_of, transcript
from tests.unit.test_compressor import LONG, WHERE, House

WIDE = 200_000
conversations = st.text(alphabet="qqaaos", max_size=60)


def parts(signs: str, turns: int) -> tuple[str, str, str, str]:
    plan = planned(transcript(signs), Limits(WIDE, keep_turns=turns))
    return signs_of(plan.head), signs_of(plan.earlier), signs_of(plan.middle), signs_of(plan.tail)


@pytest.mark.parametrize(
    ("signs", "turns", "middle", "tail"),
    [
        ("qaqaqaqa", 2, "qaqa", "qaqa"),
        ("qaqaqaqa", 1, "qaqaqa", "qa"),
        ("qaqaqaqa", 4, "", "qaqaqaqa"),
        ("qaqaqaqa", 9, "", "qaqaqaqa"),
        ("qaqaoqqa", 1, "qaqa", "oqqa"),  # what was read along before a question is of its turn
        ("qaqaqaoo", 1, "qaqa", "qaoo"),  # what was said since stays with what is last
        ("qaqaq", 1, "qaqa", "q"),
        ("ooa", 1, "", "ooa"),
        ("", 2, "", ""),
    ],
)
def test_all_is_summarised_but_for_the_last_turns(signs: str, turns: int, middle: str, tail: str) -> None:
    assert parts(signs, turns) == ("", "", middle, tail)


def test_an_earlier_summary_becomes_part_of_the_new_one() -> None:
    assert parts("sqaqaqa", 2) == ("", "s", "qa", "qaqa")
    assert parts("qasqaqa", 1) == ("", "s", "qaqa", "qa")
    assert parts("sqaqa", 2) == ("", "s", "", "qaqa")
    assert parts("sqaqa", 3) == ("", "", "", "sqaqa")


@given(signs=conversations, turns=st.integers(min_value=1, max_value=50))
def test_nothing_gets_lost_and_the_last_turns_stay(signs: str, turns: int) -> None:
    messages = transcript(signs)
    plan = planned(messages, Limits(WIDE, keep_turns=turns))
    assert {each.id for each in (*plan.gone(), *plan.ends())} == {each.id for each in messages}
    assert len(plan) == len(messages)
    kept, _ = last_turns(messages, turns)
    assert {each.id for each in kept} <= {each.id for each in plan.tail}
    assert all(each.kind is not Kind.SUMMARY for each in plan.middle)


def step(signs: str, limits: Limits) -> Step:
    return first_step(planned(transcript(signs, LONG), limits), Cause.COMMAND, CoolDown(), 100.0, limits)


def test_fewer_than_four_messages_are_not_worth_a_summary() -> None:
    """Whatever of them would stay."""
    some = Limits(WIDE, protect_first=0, protect_last=1)
    assert [step(signs, some) for signs in ("qaq", "qaqa")] == [Step.NOTHING, Step.ASK]
    here = Limits(WIDE, keep_turns=1)
    assert [step(signs, here) for signs in ("qaq", "qaqa", "qa")] == [Step.NOTHING, Step.ASK, Step.NOTHING]


def test_a_summary_that_would_have_no_room_beside_what_stays_is_not_asked_for() -> None:
    tokens = tokens_in(transcript("qaqa", LONG)[2:])
    windows = (tokens, round(tokens / 0.95) - 1, round(tokens / 0.95) + 2)
    steps = [step("qaqa", Limits(window, keep_turns=1)) for window in windows]
    assert steps == [Step.KEEP_FEWER, Step.KEEP_FEWER, Step.ASK]


async def test_a_summary_takes_the_place_of_all_before_the_last_turns() -> None:
    house = House()
    before = house.store.messages
    outcome = await house.compressor.compress(WHERE, cause=Cause.COMMAND, keep_turns=1)
    assert (outcome.result, house.signs_now) == (Result.SUMMARISED, "sqa")
    assert house.store.messages[1:] == before[6:]
    assert "q0" in house.provider.requests[0].messages[0].text


async def test_turns_that_leave_no_room_for_a_summary_stay_and_nothing_is_changed() -> None:
    house = House("qaqaqaqa", "word " * 900)
    outcome = await house.compressor.compress(WHERE, cause=Cause.COMMAND, keep_turns=3)
    assert (outcome.result, outcome.has_changed) == (Result.TOO_MUCH_KEPT, False)
    assert await house.compressor.foreseen(WHERE, keep_turns=3) is None
    assert (house.signs_now, house.provider.requests) == ("qaqaqaqa", [])


async def test_a_preview_tells_what_comes_of_it_without_a_model_and_changes_nothing() -> None:
    house = House()
    before = house.store.messages
    plain = await house.compressor.foreseen(WHERE)
    assert plain is not None
    here = await house.compressor.foreseen(WHERE, keep_turns=1)
    assert here is not None
    assert (plain.messages, plain.kept_messages) == (4, 4)
    assert (here.messages, here.kept_messages) == (6, 2)
    assert await house.compressor.foreseen(WHERE, keep_turns=4) == Foreseen(0, 0, 8, here.tokens + here.kept_tokens), (
        "there is nothing before them"
    )
    assert (house.store.messages, house.store.rewritten) == (before, 0)
    assert (house.provider.requests, house.usage.runs) == ([], [])
    outcome = await house.compressor.compress(WHERE, cause=Cause.COMMAND, keep_turns=1)
    assert outcome.tokens_before == here.tokens + here.kept_tokens
    assert outcome.messages_before - outcome.messages_after + 1 == here.messages
