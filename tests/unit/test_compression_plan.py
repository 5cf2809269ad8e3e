"""What is compressed and when: first and last messages stay, turns stay whole, summaries do not pile up."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sessions.compression import (
    FORGOTTEN_S,
    HEAD_SHARE,
    MOST_SCALE,
    TAIL_SHARE,
    Cause,
    CoolDown,
    Limits,
    Step,
    added_since,
    first_step,
    fits,
    planned,
    scale_of,
    should_compress,
    step_after_failure,
    tokens_in,
)
from app.sessions.transcript import Kind, TranscriptMessage
from tests.transcripts import signs_of, transcript

WIDE = Limits(window=200_000, protect_first=3, protect_last=4)
LONG = "{sign}{number} " + "word " * 100

conversations = st.text(alphabet="qqaaos", max_size=60)
bounds = st.builds(
    Limits,
    window=st.sampled_from([1_000, 20_000, 200_000]),
    protect_first=st.integers(min_value=0, max_value=8),
    protect_last=st.integers(min_value=1, max_value=30),
    scale=st.sampled_from([1.0, 2.5, 4.0]),
)


def parts(signs: str, limits: Limits = WIDE) -> tuple[str, str, str, str]:
    plan = planned(transcript(signs), limits)
    return signs_of(plan.head), signs_of(plan.earlier), signs_of(plan.middle), signs_of(plan.tail)


def is_part_of_a_turn(before: TranscriptMessage, after: TranscriptMessage) -> bool:
    return after.role == "assistant" and before.kind is not Kind.SUMMARY


@pytest.mark.parametrize(
    ("tokens", "count", "is_due"),
    [
        (170_000, 4, True),
        (169_999, 4, False),
        (170_000, 3, False),
        (0, 400, False),
        (500_000, 4, True),
    ],
)
def test_a_conversation_is_compressed_at_its_threshold_with_at_least_four_messages(
    tokens: int, count: int, *, is_due: bool
) -> None:
    """Session lifecycle, section 2: ``last_prompt_tokens`` is what the check goes by."""
    assert should_compress(tokens, 200_000, 0.85, count) is is_due


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ("", ("", "", "", "")),
        ("qa", ("", "", "", "qa")),
        ("qaqaqaqaqaqa", ("qaqa", "", "qaqa", "qaqa")),
        ("qaqaqaqaqaqaq", ("qaqa", "", "qaqa", "qaqaq")),  # a question that waits for its answer stays with it
        ("qaqaqaoooooqa", ("qaqa", "", "qaooo", "ooqa")),
        ("qooaqaqaqaqaqa", ("qooa", "", "qaqaqa", "qaqa")),  # what others say while an answer is made is part of it
        ("qaqasqaqaqaqa", ("qaqa", "s", "qaqa", "qaqa")),
        ("qaqasqaqa", ("qaqa", "s", "", "qaqa")),
        ("sqaqaqaqa", ("", "s", "qaqa", "qaqa")),
        ("qaqasqassqaqaqa", ("qaqa", "sss", "qaqa", "qaqa")),
        ("qaqas", ("qaqa", "s", "", "")),
        ("qaqaqaqasa", ("qaqa", "s", "qaqa", "a")),
        ("qqqqqqqqqqqqqqqa", ("", "", "", "qqqqqqqqqqqqqqqa")),
        ("aaaaaaaaaa", ("", "", "", "aaaaaaaaaa")),
        ("oooooooooo", ("ooo", "", "ooo", "oooo")),
    ],
)
def test_the_middle_is_whole_turns(signs: str, expected: tuple[str, str, str, str]) -> None:
    assert parts(signs) == expected


def test_a_summary_takes_the_place_of_the_middle() -> None:
    plan = planned(transcript("qaqaqasqaqaqa"), WIDE)
    assert signs_of(plan.with_summary(transcript("s")[0])) == "qaqasqaqa"
    assert signs_of(plan.ends()) == "qaqaqaqa"


def test_at_least_one_question_of_a_person_stays() -> None:
    assert parts("qaqaqaqaqaqaoooooo") == ("qaqa", "", "qaqaqa", "qaoooooo")


def test_long_ends_do_not_fill_the_window() -> None:
    plan = planned(transcript("qa" * 30, LONG), Limits(window=10_000, protect_first=4, protect_last=40))
    assert signs_of(plan.head) == "qaqa"
    assert tokens_in(plan.head) <= 10_000 * HEAD_SHARE
    assert signs_of(plan.tail) == "qa" * 7
    assert tokens_in(plan.tail) <= 10_000 * TAIL_SHARE


def test_the_last_turn_stays_whatever_its_length() -> None:
    plan = planned(transcript("qaqaqa", "x" * 40_000), Limits(window=10_000))
    assert (signs_of(plan.head), signs_of(plan.middle), signs_of(plan.tail)) == ("", "qaqa", "qa")


@given(signs=conversations, limits=bounds)
def test_no_message_is_lost_or_moved_and_no_turn_is_split(signs: str, limits: Limits) -> None:
    messages = transcript(signs, LONG)
    plan = planned(messages, limits)
    between = sorted((*plan.earlier, *plan.middle), key=lambda message: message.id or 0)
    assert (*plan.head, *between, *plan.tail) == messages
    for before, after in pairwise(messages):
        if before in plan.head and after not in plan.head:
            assert not is_part_of_a_turn(before, after)
        if before not in plan.tail and after in plan.tail:
            assert not is_part_of_a_turn(before, after)


@given(signs=conversations, limits=bounds)
def test_one_summary_is_left_in_the_end(signs: str, limits: Limits) -> None:
    messages = transcript(signs)
    plan = planned(messages, limits)
    if plan.middle:
        after = plan.with_summary(transcript("s")[0])
        assert signs_of(after).count("s") == 1
        again = planned(after, limits)
        assert signs_of(again.earlier) == "s"


@given(signs=conversations, limits=bounds)
def test_a_question_stays_whenever_something_is_taken_out(signs: str, limits: Limits) -> None:
    plan = planned(transcript(signs), limits)
    if "q" in signs[signs.rfind("s") + 1 :] and plan.middle:
        assert "q" in signs_of(plan.tail)


@given(signs=conversations, limits=bounds)
def test_compressing_again_at_once_finds_nothing_new(signs: str, limits: Limits) -> None:
    plan = planned(transcript(signs), limits)
    if plan.middle:
        after = plan.with_summary(transcript("s", "notes")[0])
        assert planned(after, limits).middle == ()


@pytest.mark.parametrize(("window", "tokens"), [(200_000, 10_000), (1_000_000, 12_000), (8_000, 400), (10, 1)])
def test_a_summary_is_a_twentieth_of_the_window_and_twelve_thousand_tokens_at_most(window: int, tokens: int) -> None:
    assert Limits(window).summary_tokens == tokens


def test_estimates_are_scaled_by_what_the_provider_counted() -> None:
    messages = transcript("qa", "x" * 2_000)
    assert tokens_in(messages) == 1_000
    assert scale_of(messages, 0, 200_000, Cause.THRESHOLD) == 1.0
    assert scale_of(messages, 2_500, 200_000, Cause.THRESHOLD) == 2.5
    assert scale_of(messages, 900_000, 200_000, Cause.THRESHOLD) == MOST_SCALE
    assert scale_of(messages, 0, 3_000, Cause.OVERFLOW) == 3.0  # a refused prompt was longer than the window
    assert scale_of((), 0, 200_000, Cause.COMMAND) == 1.0


def test_what_fits_is_measured_with_the_scale() -> None:
    messages = transcript("qa", "x" * 2_000)
    assert fits(messages, Limits(window=1_000))
    assert not fits(messages, Limits(window=1_000, scale=1.1))


def step(signs: str, cause: Cause, cool_down: CoolDown | None = None, content: str = LONG) -> Step:
    limits = Limits(window=4_000, protect_first=2, protect_last=2)
    return first_step(planned(transcript(signs, content), limits), cause, cool_down or CoolDown(), 100.0, limits)


@pytest.mark.parametrize("cause", list(Cause))
def test_a_model_is_asked_for_a_summary_of_a_long_middle(cause: Cause) -> None:
    assert step("qaqaqaqa", cause) is Step.ASK


def test_a_middle_shorter_than_a_summary_is_left_alone_unless_somebody_insists() -> None:
    assert [step("qaqaqaqa", cause, content="short") for cause in Cause] == [Step.NOTHING, Step.ASK, Step.ASK]


def test_nothing_is_done_when_there_is_no_middle() -> None:
    assert [step("qaqa", cause) for cause in Cause] == [Step.NOTHING] * 3


def test_a_summary_is_given_up_when_a_provider_refuses_what_was_compressed_before() -> None:
    """The terminal state: a conversation never stays wedged between compressing and being refused."""
    assert [step("qasqa", cause) for cause in Cause] == [Step.NOTHING, Step.CUT, Step.NOTHING]


def test_cool_downs_grow_and_end_with_time() -> None:
    cool_down, ends = CoolDown(), list[float]()
    for _ in range(4):
        cool_down = cool_down.failed(1_000.0)
        ends.append(cool_down.until_s - 1_000.0)
    assert ends == [60.0, 300.0, 900.0, 900.0]
    assert not cool_down.lets_through(Cause.THRESHOLD, 1_899.9)
    assert cool_down.lets_through(Cause.THRESHOLD, 1_900.0)
    assert [cool_down.is_stale(1_900.0 + FORGOTTEN_S + late_s) for late_s in (-0.1, 0.0)] == [False, True]


def test_in_a_cool_down_a_person_is_let_through_always_and_a_refused_prompt_once() -> None:
    cool_down = CoolDown().failed(90.0)
    assert step("qaqaqaqa", Cause.THRESHOLD, cool_down) is Step.WAIT
    assert step("qaqaqaqa", Cause.COMMAND, cool_down.asked(Cause.COMMAND, 100.0)) is Step.ASK
    assert step("qaqaqaqa", Cause.OVERFLOW, cool_down) is Step.ASK
    assert step("qaqaqaqa", Cause.OVERFLOW, cool_down.asked(Cause.OVERFLOW, 100.0)) is Step.FALL_BACK
    again = cool_down.asked(Cause.OVERFLOW, 100.0).failed(100.0)
    assert step("qaqaqaqa", Cause.OVERFLOW, again) is Step.FALL_BACK
    assert CoolDown().asked(Cause.OVERFLOW, 100.0) == CoolDown()  # without a cool-down there is nothing to bypass


@pytest.mark.parametrize(
    ("cause", "failures", "was_too_long", "expected"),
    [
        (Cause.THRESHOLD, 1, False, Step.GIVE_UP),  # there is room left: better a whole conversation than a poor one
        (Cause.THRESHOLD, 2, False, Step.FALL_BACK),
        (Cause.THRESHOLD, 1, True, Step.FALL_BACK),
        (Cause.COMMAND, 1, False, Step.GIVE_UP),
        (Cause.OVERFLOW, 1, False, Step.FALL_BACK),
    ],
)
def test_after_a_failure_a_summary_is_made_without_a_model_where_waiting_does_not_help(
    cause: Cause, failures: int, *, was_too_long: bool, expected: Step
) -> None:
    assert step_after_failure(cause, CoolDown(failures), was_too_long=was_too_long) is expected


def test_what_was_said_meanwhile_is_told_from_a_transcript_that_is_another_one() -> None:
    before: Sequence[TranscriptMessage] = transcript("qa")
    assert added_since(before, transcript("qaoq")) == transcript("qaoq")[2:]
    assert added_since(before, before) == ()
    assert added_since(before, before[:1]) is None
    assert added_since(before, transcript("qq")) is None
