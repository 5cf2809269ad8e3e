"""Housekeeping: what is done every minute and every hour, and what never is (session lifecycle, sections 6 and 10)."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

import pytest
import structlog

from app.sessions.cache import IDLE_TTL_S, ConversationCache
from app.sessions.entry import SessionId, SessionKey
from app.sessions.housekeeping import (
    HOUSE_KEPT,
    HOUSEKEEPING_FAILED,
    PASS_S,
    PRUNE_S,
    Housekeeping,
    Job,
    pruning,
    sweeping,
)
from app.state.errors import StateBusyError
from tests.fakes import ManualClock, until

KEY = SessionKey("agent:main:slack:dm:D1")
SESSION = SessionId("20261129_120000_00000001")


@dataclass
class Store:
    """A store that can be asked to prune, and keeps every other wish as well."""

    pruned: list[tuple[int, Collection[SessionKey]]] = field(default_factory=list[tuple[int, Collection[SessionKey]]])
    other_calls: list[str] = field(default_factory=list[str])
    count: int = 2

    async def prune(self, max_age_days: int, *, keep: Collection[SessionKey] = ()) -> int:
        self.pruned.append((max_age_days, keep))
        return self.count

    def __getattr__(self, name: str) -> object:
        self.other_calls.append(name)
        raise AttributeError(name)


@dataclass
class Chore:
    """A job that counts its runs and does what it is told."""

    results: list[int | Exception]
    began_at_s: list[float] = field(default_factory=list[float])
    clock: ManualClock = field(default_factory=ManualClock)

    async def run(self) -> int:
        self.began_at_s.append(self.clock.elapsed_s)
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        return result


async def passes(house: Housekeeping, clock: ManualClock, count: int) -> None:
    """Let the loop run for that many passes; the manual clock moves whenever it sleeps."""
    task = asyncio.create_task(house.run())
    before = len(clock.slept)
    await until(lambda: len(clock.slept) > before + count or task.done())
    task.cancel()
    await asyncio.wait([task], timeout=20)
    assert task.cancelled()


async def test_each_job_runs_in_the_first_pass_and_then_at_its_own_pace() -> None:
    clock = ManualClock()
    often, seldom = Chore([0], clock=clock), Chore([0], clock=clock)
    jobs = [Job("often", PASS_S, often.run), Job("seldom", PRUNE_S, seldom.run)]
    await passes(Housekeeping(jobs, clock), clock, 62)
    assert (PASS_S, PRUNE_S) == (60.0, 3_600.0)
    assert often.began_at_s == [60.0 * number for number in range(1, 63)]
    assert seldom.began_at_s == [60.0, 3_660.0]


async def test_a_pass_that_did_something_is_one_log_line_and_one_that_did_not_is_none() -> None:
    clock = ManualClock()
    jobs = [
        Job("receipts", 60, Chore([3, 0, 0]).run),
        Job("inbox", 60, Chore([0]).run),
        Job("runs", 60, Chore([1, 0]).run),
    ]
    house = Housekeeping(jobs, clock)
    with structlog.testing.capture_logs() as lines:
        await house.tidy()
        clock.elapsed_s += 60
        await house.tidy()
    assert lines == [{"event": HOUSE_KEPT, "log_level": "info", "receipts": 3, "runs": 1}]


async def test_a_failing_job_is_a_log_line_and_neither_ends_the_loop_nor_stops_the_others() -> None:
    clock = ManualClock()
    failing, other = Chore([StateBusyError("locked"), 0], clock=clock), Chore([0], clock=clock)
    jobs = [Job("failing", PASS_S, failing.run), Job("other", PASS_S, other.run)]
    with structlog.testing.capture_logs() as lines:
        await passes(Housekeeping(jobs, clock), clock, 3)
    assert failing.began_at_s == other.began_at_s == [60.0, 120.0, 180.0]
    assert [(line["event"], line["job"], line["error"]) for line in lines] == [
        (HOUSEKEEPING_FAILED, "failing", "StateBusyError")
    ]


async def test_an_error_that_is_none_of_ours_is_not_hidden() -> None:
    house = Housekeeping([Job("broken", 60, Chore([ZeroDivisionError()]).run)], ManualClock())
    with pytest.raises(ZeroDivisionError):
        await house.tidy()


async def test_old_routes_are_pruned_hourly_except_those_in_use() -> None:
    clock, store, busy = ManualClock(), Store(), [KEY]
    house = Housekeeping(pruning(store, 30, keep=lambda: frozenset(busy)), clock)
    await house.tidy()
    clock.elapsed_s += PRUNE_S - 1
    await house.tidy()
    clock.elapsed_s += 1
    busy.clear()
    with structlog.testing.capture_logs() as lines:
        await house.tidy()
    assert store.pruned == [(30, {KEY}), (30, frozenset())], "who is in use is asked anew each time"
    assert [line["routes_pruned"] for line in lines] == [2]


def test_an_age_of_zero_prunes_nothing() -> None:
    assert pruning(Store(), 0, keep=frozenset) == []


async def test_idle_conversations_leave_the_cache() -> None:
    clock = ManualClock()
    cache = ConversationCache(clock)
    cache.put(KEY, SESSION, ())
    with structlog.testing.capture_logs() as lines:
        await passes(Housekeeping([sweeping(cache)], clock), clock, int(IDLE_TTL_S / PASS_S) + 1)
    assert cache.get(KEY, SESSION) is None
    assert [line["conversations_idle"] for line in lines] == [1]


async def test_neither_age_nor_silence_ever_ends_a_conversation() -> None:
    """A month without a word: the store is asked for nothing but pruned routes."""
    clock, store = ManualClock(), Store()
    cache = ConversationCache(clock)
    cache.put(KEY, SESSION, ())
    house = Housekeeping([sweeping(cache), *pruning(store, 7, keep=frozenset)], clock)
    for _ in range(31 * 24):
        await house.tidy()
        clock.elapsed_s += PRUNE_S
    assert len(store.pruned) == 31 * 24
    assert store.other_calls == []
