"""The end of the process: what could not be written down before is written then, and what is not is told of."""

import asyncio

from structlog.testing import capture_logs

from app.background import Background
from app.continuity import APPLICATION_DRAINED, Continuity
from app.dispatch.recovering import Recovering
from app.errors import StateError
from tests.dispatch_house import House
from tests.fakes import message, until

FULL = StateError("disk full")


def over(house: House, background: Background) -> Continuity:
    recovering = Recovering(house.journal, house.dispatcher, lambda _said, _at: None, house.clock, freshness_s=3600.0)
    return Continuity(house.dispatcher, house.journal, recovering, background, drain_s=1.0)


async def test_a_turn_that_could_not_be_promised_is_written_down_when_the_process_ends() -> None:
    house = House()
    with capture_logs() as logs:
        async with over(house, Background()).kept():
            house.journal.broken_promises = FULL
            assert await house.handle(message()) == "unrecorded"
            house.journal.broken_promises = None
    assert (house.journal.promised, house.journal.outcomes) == ({1: "Hello Alice."}, {1: "ran"})
    assert [(line["cut_short"], line["unwritten"]) for line in logs if line["event"] == APPLICATION_DRAINED] == [(0, 0)]
    assert house.journal.was_clean


async def test_what_cannot_be_written_at_the_end_either_is_counted_and_the_end_is_not_clean() -> None:
    house = House()
    with capture_logs() as logs:
        async with over(house, Background()).kept():
            house.journal.broken_ends = FULL
            await house.handle(message())
    assert [(line["cut_short"], line["unwritten"]) for line in logs if line["event"] == APPLICATION_DRAINED] == [(0, 1)]
    assert house.journal.was_clean is False


async def test_what_a_turn_cannot_write_while_the_process_ends_is_written_after_it() -> None:
    house, background, gate = House(), Background(), asyncio.Event()
    house.provider.play(["Hello ", gate, "Alice."])
    async with over(house, background).kept():
        background.spawn(house.handle(message()), name="turn")
        await until(lambda: house.chat.answer.written == "Hello ")
        house.journal.broken_ends = FULL
        background.spawn(_once_unwritten(house), name="disk")
        gate.set()
    assert house.journal.outcomes == {1: "ran"}
    assert house.journal.was_clean


async def _once_unwritten(house: House) -> None:
    await until(lambda: len(house.dispatcher.outbox.unwritten) == 1)
    house.journal.broken_ends = None
