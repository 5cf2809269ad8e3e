"""Statuses of many threads at one time: as many calls as Slack takes, and who waits longest first."""

import asyncio
import itertools
from bisect import bisect_left
from collections.abc import Mapping
from heapq import heappop, heappush
from typing import Any

from app.background import Background
from app.buckets import Rate
from app.playground.tiers import Tier
from app.slack.calls import SlackCalls, web_client
from app.slack.posting import Thread
from app.slack.status import RATE, REFRESH_S, SHOW_AFTER_S, SlackStatus, Statuses
from tests.fakes import ManualClock, until

_MINUTE_S = 60.0


class TimedCalls(SlackCalls):
    """Notes when each was made, of which thread, and what it says."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(web_client(None, api_url="http://127.0.0.1:1/", token=None))
        self._clock = clock
        self.made: list[tuple[float, str, str]] = []

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        self.made.append((self._clock.elapsed_s, str(arguments["thread_ts"]), str(arguments["status"])))
        return {"ok": True}

    def threads(self) -> list[str]:
        return [thread for _, thread, _ in self.made]


class SteppedClock(ManualClock):
    """Who sleeps wakes when the test has moved time that far, together with all whose time has come by then."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._numbers = itertools.count()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        heappush(self._sleepers, (self.elapsed_s + seconds, next(self._numbers), woken))
        await woken.wait()

    async def run(self, for_s: float) -> None:
        end_s = self.elapsed_s + for_s
        while self._sleepers and self._sleepers[0][0] <= end_s:
            self.elapsed_s = max(self.elapsed_s, self._sleepers[0][0])
            self._wake()
            for _ in range(5):
                await asyncio.sleep(0)
        self.elapsed_s = end_s

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self.elapsed_s:
            heappop(self._sleepers)[2].set()


class Crowd:
    """Threads that all show something at one moment."""

    def __init__(self, size: int, rate: Rate = RATE) -> None:
        self.clock = SteppedClock()
        self.calls = TimedCalls(self.clock)
        self.background = Background()
        statuses = Statuses(self.calls, self.clock, self.background.spawn, rate)
        self.cards = [SlackStatus(statuses, Thread("C1", f"{number}.0", "T1", "U1", "1.0")) for number in range(size)]

    async def show(self) -> None:
        for card in self.cards:
            await card.show("thinking")
        await asyncio.sleep(0)


def fullest_minute(moments: list[float]) -> int:
    """Of moments in order."""
    return max(bisect_left(moments, start + _MINUTE_S) - before for before, start in enumerate(moments))


async def test_nearly_as_many_as_slack_takes_in_a_minute_are_shown_in_one() -> None:
    size = Tier.SPECIAL.value.per_minute - 10
    crowd = Crowd(size)
    await crowd.show()
    await crowd.clock.run(_MINUTE_S)
    assert crowd.calls.threads() == [f"{number}.0" for number in range(size)]


async def test_no_minute_has_more_calls_than_slack_takes_whatever_goes_on() -> None:
    crowd = Crowd(1_000)
    await crowd.show()
    await crowd.clock.run(2.5 * _MINUTE_S)
    for card in crowd.cards[:500]:
        card.replied()
    await crowd.clock.run(_MINUTE_S)
    moments = [at for at, _, _ in crowd.calls.made]
    most = Tier.SPECIAL.value.per_minute
    assert most - 30 <= fullest_minute(moments) <= most


async def test_who_waits_longest_is_shown_first() -> None:
    crowd = Crowd(100, Rate(burst=10, per_s=1.0))
    await crowd.show()
    await crowd.clock.run(SHOW_AFTER_S)
    assert crowd.calls.threads() == [f"{number}.0" for number in range(10)]
    await crowd.clock.run(20.0)
    assert crowd.calls.threads() == [f"{number}.0" for number in range(30)]


async def test_who_is_answered_meanwhile_takes_no_call_from_the_others() -> None:
    crowd = Crowd(1_000, Rate(burst=10, per_s=1.0))
    await crowd.show()
    for card in crowd.cards[:990]:
        card.replied()
        await card.clear()
    await crowd.clock.run(SHOW_AFTER_S)
    assert crowd.calls.threads() == [f"{number}.0" for number in range(990, 1_000)]


async def test_nothing_waits_any_more_once_everybody_is_answered() -> None:
    crowd = Crowd(1_000)
    await crowd.show()
    for card in crowd.cards:
        card.replied()
    await until(lambda: len(crowd.background) == 0)
    await crowd.clock.run(REFRESH_S)
    assert crowd.calls.made == []


async def test_what_comes_after_a_crowd_is_shown_as_ever() -> None:
    crowd = Crowd(2)
    await crowd.cards[0].show("thinking")
    crowd.cards[0].replied()
    await crowd.cards[1].show("thinking")
    await asyncio.sleep(0)
    await crowd.clock.run(SHOW_AFTER_S)
    assert crowd.calls.made == [(SHOW_AFTER_S, "1.0", "thinking")]


async def test_a_status_is_cleared_at_once_however_many_wait() -> None:
    crowd = Crowd(100, Rate(burst=1, per_s=0.001))
    await crowd.show()
    await crowd.clock.run(SHOW_AFTER_S)
    await crowd.cards[0].clear()
    await until(lambda: len(crowd.calls.made) == 2)
    assert crowd.calls.made == [(SHOW_AFTER_S, "0.0", "thinking"), (SHOW_AFTER_S, "0.0", "")]


async def test_keeping_statuses_alive_is_counted_as_well() -> None:
    crowd = Crowd(10, Rate(burst=10, per_s=0.1))
    await crowd.show()
    await crowd.clock.run(SHOW_AFTER_S)
    assert len(crowd.calls.made) == 10
    await crowd.clock.run(REFRESH_S)
    assert len(crowd.calls.made) == 16


async def test_another_word_takes_the_place_of_one_that_was_not_shown_yet() -> None:
    crowd = Crowd(1)
    await crowd.show()
    await crowd.clock.run(SHOW_AFTER_S / 2)
    await crowd.cards[0].show("summarising")
    await crowd.clock.run(SHOW_AFTER_S)
    assert [said for _, _, said in crowd.calls.made] == ["summarising"]
