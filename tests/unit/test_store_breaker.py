"""When a memory service that does not answer is left alone: specification, section 19, beyond the timeout."""

from hypothesis import given
from hypothesis import strategies as st

from memory.stores.breaker import FAILURES, FIRST_REST_S, LONGEST_REST_S, Breaker


def quick(breaker: Breaker, now_s: float = 0.0) -> Breaker:
    """A request of this moment that was refused at once."""
    return breaker.admitted().failed(breaker.moment, now_s, is_timeout=False)


def slow(breaker: Breaker, now_s: float = 0.0) -> Breaker:
    return breaker.admitted().failed(breaker.moment, now_s, is_timeout=True)


def test_a_working_service_is_always_asked() -> None:
    breaker = Breaker().admitted().answered()
    assert not breaker.is_open
    assert breaker.admits(0.0)
    assert breaker.admitted().admits(0.0)


def test_a_timeout_opens_it_at_once() -> None:
    breaker = slow(Breaker(), 100.0)
    assert breaker.is_open
    assert not breaker.admits(100.0 + FIRST_REST_S - 0.01)
    assert breaker.admits(100.0 + FIRST_REST_S)


def test_quick_failures_open_it_when_they_come_in_a_row() -> None:
    twice = quick(quick(Breaker()))
    assert twice.admits(0.0)
    assert quick(twice).is_open
    assert not quick(quick(twice.answered())).is_open
    assert FAILURES == 3


def test_failures_of_one_moment_are_one_failure() -> None:
    breaker = Breaker()
    for _ in range(4):
        breaker = breaker.failed(0, 5.0, is_timeout=False)
    assert (breaker.failures, breaker.is_open) == (1, False)
    late = slow(breaker, 6.0)
    assert late.failed(0, 9.0, is_timeout=True) == late


def test_an_open_one_lets_exactly_one_request_find_out() -> None:
    probing = slow(Breaker()).admitted()
    assert probing.is_probing
    assert not probing.admits(1_000.0)


def test_a_probe_that_fails_doubles_the_rest_up_to_half_a_minute() -> None:
    breaker = slow(Breaker())
    rests: list[float] = []
    for _ in range(8):
        rests.append(breaker.rest_s)
        breaker = quick(breaker)
    assert rests == [1, 2, 4, 8, 16, 30, 30, 30]
    assert rests[-1] == LONGEST_REST_S


def test_a_probe_that_is_answered_closes_it_and_forgets_everything() -> None:
    breaker = quick(slow(Breaker())).admitted().answered()
    assert breaker == Breaker(moment=2)
    assert slow(breaker).rest_s == FIRST_REST_S


def test_an_answer_to_a_request_from_before_closes_it_too() -> None:
    assert not slow(Breaker()).answered().is_open


def test_a_probe_whose_caller_left_makes_room_for_another() -> None:
    probing = slow(Breaker()).admitted()
    assert not probing.left(0).admits(1.0)
    assert probing.left(probing.moment).admits(1.0)


@given(
    st.lists(st.tuples(st.sampled_from(["quick", "slow", "answered", "left"]), st.floats(0, 100)), max_size=40),
)
def test_it_never_stays_shut_longer_than_the_longest_rest(steps: list[tuple[str, float]]) -> None:
    breaker, now_s = Breaker(), 0.0
    for step, passed_s in steps:
        now_s += passed_s
        if not breaker.admits(now_s):
            continue
        moment, breaker = breaker.moment, breaker.admitted()
        match step:
            case "answered":
                breaker = breaker.answered()
            case "left":
                breaker = breaker.left(moment)
            case _:
                breaker = breaker.failed(moment, now_s, is_timeout=step == "slow")
        assert breaker.admits(now_s + LONGEST_REST_S)
