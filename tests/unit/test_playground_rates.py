"""Rate limits by tier, triggers, and the record of calls."""

import pytest

from app.playground.rates import RateGate
from app.playground.refusal import SlackRefusal
from app.playground.seed import BOT_TOKEN
from app.playground.tiers import TIERS, Tier, tier_of
from app.playground.triggers import Triggers
from app.playground.webapi.methods import METHODS
from tests.fakes import ManualClock


def admitted(gate: RateGate, method: str, channel: str = "C1", token: str = BOT_TOKEN) -> int:
    """How many calls pass before the first that must wait."""
    count = 0
    while gate.admit(method, token, channel) == 0:
        count += 1
    return count


@pytest.mark.parametrize(
    ("method", "burst", "wait_s"),
    [
        ("apps.connections.open", 5, 60),
        ("chat.startStream", 20, 3),
        ("chat.update", 50, 2),
        ("chat.appendStream", 100, 1),
        ("assistant.threads.setStatus", 600, 1),
        ("chat.postMessage", 10, 1),
    ],
)
def test_a_burst_passes_and_then_the_tier_says_how_long_to_wait(method: str, burst: int, wait_s: int) -> None:
    clock = ManualClock()
    gate = RateGate(clock=clock)
    assert admitted(gate, method) == burst
    assert gate.admit(method, BOT_TOKEN, "C1") == wait_s
    clock.elapsed_s += wait_s
    assert gate.admit(method, BOT_TOKEN, "C1") == 0


def test_methods_tokens_and_channels_are_limited_apart() -> None:
    gate = RateGate(clock=ManualClock())
    assert admitted(gate, "chat.postMessage") == 10
    assert admitted(gate, "chat.postMessage", channel="C2") == 10
    assert admitted(gate, "chat.postMessage", token="other") == 10
    assert admitted(gate, "chat.startStream") == 20


def test_posting_is_also_limited_over_the_whole_workspace() -> None:
    gate = RateGate(clock=ManualClock())
    assert sum(admitted(gate, "chat.postMessage", channel=f"C{number}") for number in range(40)) == 300


def test_a_minute_lets_no_more_through_than_the_burst_and_the_tier() -> None:
    clock = ManualClock()
    gate = RateGate(clock=clock)
    passed = 0
    for _ in range(600):
        passed += gate.admit("reactions.remove", "t") == 0
        clock.elapsed_s += 0.1
    assert passed == pytest.approx(20 + 20, abs=1)


def test_a_gate_that_is_off_lets_everything_pass() -> None:
    gate = RateGate(enabled=False)
    assert all(gate.admit("chat.startStream", "t") == 0 for _ in range(100))


def test_every_limited_method_exists() -> None:
    assert set(TIERS) <= set(METHODS)
    assert tier_of("auth.test") is Tier.SPECIAL


def test_a_trigger_works_once_and_for_three_seconds() -> None:
    clock = ManualClock()
    triggers = Triggers(clock)
    first, second, third = (triggers.issue(user) for user in ("U1", "U2", "U3"))
    assert len({first, second, third}) == 3
    assert triggers.redeem(first) == "U1"
    clock.elapsed_s = 3.0
    assert triggers.redeem(second) == "U2"
    clock.elapsed_s = 3.1
    for trigger_id, error in (
        (first, "exchanged_trigger_id"),
        (third, "expired_trigger_id"),
        ("x", "invalid_trigger_id"),
    ):
        with pytest.raises(SlackRefusal, match=error):
            triggers.redeem(trigger_id)
