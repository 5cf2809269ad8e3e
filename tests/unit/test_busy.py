"""What an arriving message does to a conversation that is busy (session lifecycle, section 8)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.channel import ThreadKey, UserId
from app.sessions.busy import (
    QUEUE_CAP,
    Admission,
    Arrival,
    BusyInput,
    Held,
    Interrupts,
    Joins,
    Refused,
    Running,
    Runs,
    Standing,
    Steers,
    Tail,
    Waits,
    admit,
)

ALICE, BOB = UserId("slack:U1"), UserId("slack:U2")
HERE, THERE = ThreadKey("slack:C1:1.0"), ThreadKey("slack:C1:2.0")
BUSY = Standing(Running(ALICE, HERE))
STEERABLE = Standing(Running(ALICE, HERE, takes_steering=True))
FOLLOWED = Standing(Running(ALICE, HERE, is_interruptible=False), turns=1, messages=1, tail=Tail(ALICE, HERE))


def by_alice(mode: BusyInput, *, own_turn: bool = False, has_wishes: bool = False) -> Arrival:
    return Arrival(ALICE, HERE, mode, own_turn, has_wishes)


@pytest.mark.parametrize("mode", BusyInput)
def test_a_message_with_nobody_before_it_runs_whatever_the_mode(mode: BusyInput) -> None:
    assert admit(by_alice(mode), None) == Runs()
    assert admit(by_alice(mode, own_turn=True), None) == Runs()


@pytest.mark.parametrize(
    ("mode", "line", "expected"),
    [
        (BusyInput.QUEUE, BUSY, Waits(1)),
        (BusyInput.QUEUE, STEERABLE, Waits(1)),
        (BusyInput.QUEUE, FOLLOWED, Waits(2)),
        (BusyInput.STEER, STEERABLE, Steers()),
        (BusyInput.STEER, replace(STEERABLE, turns=2, messages=2), Steers()),
        (BusyInput.STEER, BUSY, Waits(1)),
        (BusyInput.STEER, Standing(tail=Tail(ALICE, HERE)), Waits(1)),
        (BusyInput.INTERRUPT, BUSY, Interrupts(1)),
        (BusyInput.INTERRUPT, replace(BUSY, turns=3, messages=3, tail=Tail(BOB, HERE)), Interrupts(4)),
        (BusyInput.INTERRUPT, Standing(Running(ALICE, HERE, is_interruptible=False)), Waits(1)),
        (BusyInput.INTERRUPT, Standing(tail=Tail(BOB, HERE)), Waits(1)),
    ],
)
def test_the_mode_decides_what_becomes_of_a_message_in_a_busy_line(
    mode: BusyInput, line: Standing, expected: Admission
) -> None:
    assert admit(by_alice(mode), line) == expected


@pytest.mark.parametrize("mode", BusyInput)
@pytest.mark.parametrize("line", [BUSY, STEERABLE, replace(BUSY, tail=Tail(ALICE, HERE))])
def test_what_was_queued_by_name_always_waits_as_its_own_turn(mode: BusyInput, line: Standing) -> None:
    assert admit(by_alice(mode, own_turn=True), line) == Waits(1)


def test_quick_messages_of_one_person_become_one_turn() -> None:
    assert admit(by_alice(BusyInput.INTERRUPT), FOLLOWED) == Joins(1)
    assert admit(by_alice(BusyInput.INTERRUPT), Standing(tail=Tail(ALICE, HERE))) == Joins(0)


@pytest.mark.parametrize("tail", [Tail(BOB, HERE), Tail(ALICE, THERE), Tail(ALICE, HERE, is_own_turn=True), None])
def test_only_the_same_persons_last_message_to_the_same_place_is_joined(tail: Tail | None) -> None:
    assert admit(by_alice(BusyInput.INTERRUPT), replace(FOLLOWED, tail=tail)) == Waits(2)


def test_what_says_how_it_is_to_be_answered_goes_into_no_other_answer() -> None:
    """A person who chose a model is not answered by another one."""
    assert admit(by_alice(BusyInput.STEER, has_wishes=True), STEERABLE) == Waits(1)
    assert admit(by_alice(BusyInput.INTERRUPT, has_wishes=True), FOLLOWED) == Waits(2)
    assert admit(by_alice(BusyInput.INTERRUPT, has_wishes=True), replace(BUSY, tail=Tail(ALICE, HERE))) == Interrupts(1)


def test_only_interrupting_collapses_bursts() -> None:
    assert admit(by_alice(BusyInput.QUEUE), FOLLOWED) == Waits(2)
    assert admit(by_alice(BusyInput.STEER), FOLLOWED) == Waits(2)


@pytest.mark.parametrize("mode", BusyInput)
def test_a_full_line_refuses_and_says_how_many_wait(mode: BusyInput) -> None:
    line = Standing(Running(ALICE, HERE, takes_steering=True), turns=5, messages=QUEUE_CAP, tail=Tail(ALICE, HERE))
    assert QUEUE_CAP == 32
    assert admit(by_alice(mode), line) == Refused(32)
    assert admit(by_alice(mode), replace(line, messages=31)) != Refused(31)


def test_while_the_process_ends_everything_is_held_up_to_the_cap() -> None:
    for line in (None, BUSY, STEERABLE):
        assert admit(by_alice(BusyInput.STEER), line, is_held=True) == Held()
    assert admit(by_alice(BusyInput.STEER), Standing(messages=2), cap=2, is_held=True) == Refused(2)


PEOPLE, PLACES = st.sampled_from((ALICE, BOB)), st.sampled_from((HERE, THERE))
RUNNING = st.builds(Running, PEOPLE, PLACES, st.booleans(), st.booleans())


@pytest.mark.parametrize("mode", [BusyInput.STEER, BusyInput.INTERRUPT])
def test_nobody_steers_or_ends_what_somebody_else_waits_for(mode: BusyInput) -> None:
    bobs = Standing(Running(BOB, HERE, takes_steering=True))
    assert admit(by_alice(mode), bobs) == Waits(1)
    assert admit(by_alice(mode), replace(bobs, turns=2, messages=2, tail=Tail(BOB, HERE))) == Waits(3)


def test_a_persons_message_to_another_place_steers_nothing_because_its_answer_would_be_missed_there() -> None:
    elsewhere = Standing(Running(ALICE, THERE, takes_steering=True))
    assert admit(by_alice(BusyInput.STEER), elsewhere) == Waits(1)
    assert admit(by_alice(BusyInput.INTERRUPT), elsewhere) == Interrupts(1)


@given(
    arrival=st.builds(Arrival, PEOPLE, PLACES, st.sampled_from(BusyInput), st.booleans(), st.booleans()),
    line=st.builds(
        Standing,
        st.none() | RUNNING,
        st.integers(0, 40),
        st.integers(0, 31),
        st.none() | st.builds(Tail, PEOPLE, PLACES, st.booleans()),
    ),
)
def test_whoever_speaks_another_persons_turns_stay_what_they_are(arrival: Arrival, line: Standing) -> None:
    admission = admit(arrival, line)
    if isinstance(admission, Steers | Interrupts):
        assert line.running is not None
        assert line.running.sender == arrival.sender
    if isinstance(admission, Joins):
        assert line.tail is not None
        assert line.tail.sender == arrival.sender
    queued = admit(replace(arrival, mode=BusyInput.QUEUE), line)
    if line.running is not None and line.running.sender != arrival.sender and not isinstance(admission, Joins):
        assert admission == queued, "beside somebody else's turn, every mode is the queue"


@given(
    mode=st.sampled_from(BusyInput),
    own_turn=st.booleans(),
    running=st.none() | RUNNING,
    turns=st.integers(0, 40),
    messages=st.integers(0, 40),
    is_held=st.booleans(),
)
def test_a_line_below_its_cap_never_refuses_and_one_at_it_always_does(
    *, mode: BusyInput, own_turn: bool, running: Running | None, turns: int, messages: int, is_held: bool
) -> None:
    line = Standing(running, turns, messages, Tail(ALICE, HERE))
    admission = admit(by_alice(mode, own_turn=own_turn), line, is_held=is_held)
    assert isinstance(admission, Refused) is (messages >= QUEUE_CAP)
