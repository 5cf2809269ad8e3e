"""Answers that are owed are tried again when they are due, whatever becomes of the others."""

import asyncio

from app.background import Background
from app.dispatch.redelivery import PAUSES_S, Redelivery
from app.errors import StateError
from tests.fakes import ManualClock, until


class HeldClock(ManualClock):
    """Time that moves only when a test says so, however long somebody sleeps."""

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        due_s = self.elapsed_s + seconds
        while self.elapsed_s < due_s:
            await asyncio.sleep(0)


async def test_redeliveries_come_in_the_order_they_are_due_and_the_later_the_more_often_they_failed() -> None:
    clock, made = ManualClock(), list[str]()
    redelivery = Redelivery(clock, Background().spawn)

    async def attempt(name: str) -> None:
        made.append(name)

    redelivery.later(2, lambda: attempt("late"))
    redelivery.later(1, lambda: attempt("soon"))
    redelivery.later(99, lambda: attempt("at last"))
    assert len(redelivery) == 3
    rounds = asyncio.create_task(redelivery.run())
    await until(lambda: len(made) == 3)
    redelivery.after(5.0, lambda: attempt("more"))
    await until(lambda: len(made) == 4)
    rounds.cancel()
    assert made == ["soon", "late", "at last", "more"]
    assert clock.elapsed_s == PAUSES_S[-1] + 5.0


async def test_an_attempt_that_fails_or_hangs_holds_up_no_other_one() -> None:
    made, background = list[str](), Background()
    redelivery = Redelivery(ManualClock(), background.spawn)

    async def failing() -> None:
        raise StateError("disk full")

    async def hanging() -> None:
        await asyncio.Event().wait()

    async def working() -> None:
        made.append("shown")

    for pause_s, attempt in ((1.0, failing), (2.0, hanging), (3.0, working)):
        redelivery.after(pause_s, attempt)
    rounds = asyncio.create_task(redelivery.run())
    await until(lambda: made == ["shown"])
    assert not rounds.done()
    await until(lambda: len(background) == 1)  # What hangs, which the drain counts.
    rounds.cancel()
    await background.drain(0.0, 1.0)


async def test_what_is_due_earlier_does_not_wait_for_a_longer_pause_to_end() -> None:
    clock, made, background = HeldClock(), list[str](), Background()
    redelivery = Redelivery(clock, background.spawn)

    async def attempt(name: str) -> None:
        made.append(name)

    redelivery.after(300.0, lambda: attempt("late"))
    rounds = asyncio.create_task(redelivery.run())
    await until(lambda: clock.slept == [300.0])
    clock.elapsed_s = 10.0
    redelivery.after(30.0, lambda: attempt("soon"))
    await until(lambda: clock.slept == [300.0, 30.0])
    clock.elapsed_s = 40.0
    await until(lambda: made == ["soon"])
    await until(lambda: clock.slept == [300.0, 30.0, 260.0])
    clock.elapsed_s = 300.0
    await until(lambda: made == ["soon", "late"])
    rounds.cancel()
    await background.drain(0.0, 1.0)
    assert clock.slept[:3] == [300.0, 30.0, 260.0]
