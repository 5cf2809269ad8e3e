"""What goes wrong with calls during a soak is bounded, the seed's, and counted as what it was."""

import asyncio
import random

from app.playground.calls import ApiCall
from app.playground.faults import Faults
from benchmarks.soaking_mishaps import METHODS, WAITING_MOST, Mishaps, met, order_now_and_then
from tests.fakes import ManualClock, until


async def ordered(seed: int) -> list[str]:
    """What is ordered with this seed while no call comes, and is gone when nobody orders any more."""
    faults, clock = Faults(), ManualClock()
    chance = random.Random(seed)  # noqa: S311 - a soak keeps no secrets
    ordering = asyncio.create_task(order_now_and_then(faults, chance, clock))
    await until(lambda: len(clock.slept) > 5 * WAITING_MOST)
    assert faults.pending == WAITING_MOST
    taken = [str(fault) for method in METHODS for _ in range(WAITING_MOST) if (fault := faults.take(method))]
    ordering.cancel()
    await asyncio.gather(ordering, return_exceptions=True)
    assert faults.pending == 0
    return taken


async def test_the_same_seed_orders_the_same_and_never_more_than_a_few_at_one_time() -> None:
    assert await ordered(1) == await ordered(1)
    assert await ordered(1) != await ordered(2)


def call(status: int, *, is_handled: bool) -> ApiCall:
    return ApiCall("chat.postMessage", {}, {"ok": True} if is_handled else None, 0.0, status)


def test_calls_count_as_what_became_of_them() -> None:
    handled = [call(200, is_handled=True), call(0, is_handled=True)]
    calls = [*handled, call(0, is_handled=False), call(429, is_handled=False), call(503, is_handled=False)]
    assert met(calls) == Mishaps(lost=1, limited=1, failed=1)
    assert met(handled) == Mishaps(lost=1)
