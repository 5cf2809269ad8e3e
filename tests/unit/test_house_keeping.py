"""The small parts: inbox, lanes, background, memory's first steps, the registry."""

import asyncio
import gc

import structlog

from app.background import Background
from app.clock import SystemClock
from app.dispatch.entrance import Entrance
from memory.service.process import STARTING_OBJECTS, YOUNG_OBJECTS, collecting_rarely, run, settle
from tests.fakes import until


async def test_background_work_that_fails_ends_as_a_log_line() -> None:
    async def fail() -> None:
        raise RuntimeError("boom")

    with structlog.testing.capture_logs() as lines:
        await Background().spawn(fail(), name="doomed")
    assert [(line["event"], line["task"]) for line in lines] == [("task_failed", "doomed")]


async def test_a_drain_waits_then_cancels_and_lets_last_words_be_said() -> None:
    background = Background()
    said: list[str] = []
    writer_gate = asyncio.Event()

    async def writer() -> None:
        await writer_gate.wait()
        said.append("last words")

    async def turn() -> None:
        writing = background.spawn(writer(), name="writer", last=True)
        try:
            await asyncio.Event().wait()
        finally:
            writer_gate.set()
            await asyncio.shield(writing)

    background.spawn(turn(), name="turn")
    await asyncio.sleep(0)
    async with asyncio.timeout(20):
        assert await background.drain(0.01) == 1
    assert said == ["last words"]
    assert len(background) == 0


async def test_a_drain_ends_even_when_last_words_never_come() -> None:
    background = Background()
    background.spawn(asyncio.Event().wait(), name="stuck", last=True)
    async with asyncio.timeout(20):
        await background.drain(0.01, last_words_s=0.01)
    assert len(background) == 0


def test_system_time_is_aware_and_grows() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is not None
    assert clock.monotonic() <= clock.monotonic()


async def test_the_entrance_lets_a_few_in_at_a_time_and_everybody_in_turn() -> None:
    entrance = Entrance(width=2)
    inside: list[int] = []
    most = 0
    gate = asyncio.Event()

    async def enter(number: int) -> None:
        nonlocal most
        async with entrance:
            inside.append(number)
            most = max(most, len(inside))
            await gate.wait()
            inside.remove(number)

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(enter(number))
        await until(lambda: inside == [0, 1])
        gate.set()
    assert most == 2


def test_a_settled_process_collects_rarely_and_still_runs() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    lasting = [[each] for each in range(1_000)]
    try:
        settle()
        assert gc.get_threshold()[0] == YOUNG_OBJECTS
        assert gc.get_freeze_count() >= frozen + len(lasting)
    finally:
        gc.set_threshold(*before)


def test_a_process_that_starts_collects_rarely_and_leaves_what_ends_with_it_alone() -> None:
    before = gc.get_threshold()
    try:
        with collecting_rarely():
            frozen, lasting = gc.get_freeze_count(), [[each] for each in range(1_000)]
            assert gc.get_threshold()[0] == STARTING_OBJECTS
        assert gc.get_freeze_count() >= frozen + len(lasting)
    finally:
        gc.set_threshold(*before)


def test_work_runs_to_its_end_on_the_fast_loop() -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append(type(asyncio.get_running_loop()).__module__)

    run(work())
    assert seen == ["uvloop"]


async def test_who_comes_in_gives_way_to_a_burst_that_is_being_written_down_but_not_for_ever() -> None:
    entrance, entered = Entrance(1, crowd=0, patience_s=60.0), list[str]()

    async def enter(name: str) -> None:
        async with entrance:
            entered.append(name)

    with entrance.arriving():
        waiting = asyncio.create_task(enter("first"))
        await asyncio.sleep(0)
        assert entered == []
        given_up = asyncio.create_task(enter("second"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    await given_up
    assert entered == ["second"], "whoever gives up leaves the place to the next"
    hasty = Entrance(1, crowd=0, patience_s=0.0)
    with hasty.arriving():
        async with hasty:
            entered.append("third")
    assert entered[-1] == "third"


async def test_messages_that_are_always_being_written_down_hold_nobody_up_until_they_are_a_burst() -> None:
    entrance, entered = Entrance(1, crowd=2, patience_s=60.0), asyncio.Event()

    async def enter() -> None:
        async with entrance:
            entered.set()

    with entrance.arriving(), entrance.arriving():
        await enter()
        assert entered.is_set()
        entered.clear()
        with entrance.arriving():
            waiting = asyncio.create_task(enter())
            await asyncio.sleep(0)
            assert not entered.is_set()
        await waiting
    assert entered.is_set()
