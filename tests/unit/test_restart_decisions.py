"""What a new process does about what the last one left (session lifecycle, section 7)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dispatch import wording
from app.sessions.restart import (
    BEGINS_MOST,
    KEPT,
    Abandon,
    AfterRestart,
    GivenUp,
    Left,
    Redeliver,
    Resume,
    Run,
    Tell,
    after_restart,
    is_looping,
)

FRESH_S = 3600.0
SOON, LATE, TOO_LATE = timedelta(seconds=5), timedelta(hours=2), KEPT + timedelta(seconds=1)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def left(
    age: timedelta = SOON,
    begins: int = 1,
    *,
    is_command: bool = False,
    is_promised: bool = False,
    is_reachable: bool = True,
) -> Left:
    return Left(age, begins, is_command=is_command, is_promised=is_promised, is_reachable=is_reachable)


@pytest.mark.parametrize(
    ("found", "decision"),
    [
        (left(begins=0), Run()),
        (left(LATE, begins=0), Run()),
        (left(TOO_LATE, begins=0), Tell(GivenUp.STALE)),
        (left(), Resume()),
        (left(begins=BEGINS_MOST - 1), Resume()),
        (left(begins=BEGINS_MOST), Tell(GivenUp.STUCK)),
        (left(LATE), Tell(GivenUp.STALE)),
        (left(timedelta(seconds=FRESH_S)), Resume()),
        (left(is_command=True), Tell(GivenUp.COMMAND)),
        (left(is_promised=True), Redeliver()),
        (left(LATE, is_promised=True), Redeliver()),
        (left(KEPT, begins=BEGINS_MOST, is_promised=True), Redeliver()),
        (left(TOO_LATE, is_promised=True), Abandon()),
        (left(is_command=True, is_promised=True), Redeliver()),
        (left(is_reachable=False), Abandon()),
        (left(begins=0, is_reachable=False), Abandon()),
    ],
)
def test_what_becomes_of_a_message_depends_on_how_far_it_came(found: Left, decision: AfterRestart) -> None:
    assert after_restart(found, FRESH_S) == decision


@given(
    st.builds(
        Left,
        age=st.timedeltas(timedelta(0), KEPT * 3),
        begins=st.integers(0, 10),
        is_command=st.booleans(),
        is_promised=st.booleans(),
        is_reachable=st.booleans(),
    )
)
def test_an_answer_that_was_made_is_never_made_again_and_a_command_never_given_again(found: Left) -> None:
    decision = after_restart(found, FRESH_S)
    if found.is_promised or (found.is_command and found.begins):
        assert not isinstance(decision, Run | Resume)


@pytest.mark.parametrize("reason", list(GivenUp))
def test_whoever_waits_is_told_in_a_sentence_what_to_do(reason: GivenUp) -> None:
    assert wording.gave_up(reason).startswith("⚠️ I was")


def test_three_starts_within_a_minute_are_a_loop_and_fewer_or_slower_ones_are_none() -> None:
    assert is_looping([NOW, NOW - timedelta(seconds=20), NOW - timedelta(seconds=60)])
    assert not is_looping([NOW, NOW - timedelta(seconds=20), NOW - timedelta(seconds=61)])
    assert not is_looping([NOW, NOW - timedelta(seconds=20)])
    assert not is_looping([])


def test_starts_before_the_clock_was_set_back_are_no_loop() -> None:
    assert not is_looping([NOW, NOW + timedelta(hours=2), NOW + timedelta(hours=1)])
    assert is_looping([NOW, NOW - timedelta(seconds=5), NOW + timedelta(seconds=1)]), "set back by a little"
