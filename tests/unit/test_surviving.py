"""Whatever goes wrong with a message, however it came to be answered, its author hears of it and the bot goes on."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from app.background import Background
from app.channel import Chat, IncomingMessage
from app.dispatch import wording
from app.dispatch.journal import Promise, Unfinished
from app.dispatch.recovering import Recovering
from app.dispatch.surviving import TURN_CRASHED
from app.errors import ChannelUnavailableError, DeliveryError, StateError, StoppedByUserError
from app.sessions.busy import BusyInput
from commands.registry import Registry
from commands.spec import Caller, Command, Followup, Reply, Values
from tests.dispatch_house import House
from tests.fakes import EPOCH, FakeChat, FakeReply, FakeStatus, access_of, message, until

BUG = RuntimeError("a bug")
SORRY = wording.apology(BUG, message().reference)


def again() -> Registry:
    """One command, which has a text answered after it."""

    async def ask(_caller: Caller, _values: Values) -> Reply:
        return Reply({}, "Again:", then=Followup("which port?"))

    return Registry([Command("turn.again", "Answers again.", "help:read", "read", ask)], access_of())


def pinging() -> Registry:
    async def ping(_caller: Caller, _values: Values) -> Reply:
        return Reply({}, "pong")

    return Registry([Command("turn.ping", "Answers.", "help:read", "read", ping)], access_of())


class Restart:
    """A process that finds one message an earlier one left."""

    def __init__(self, script: Sequence[str | Exception], chat: FakeChat) -> None:
        self.house = House(script)
        self.chat = chat
        self.background = Background()

    def reopened(self, _said: IncomingMessage, _address: str) -> Chat:
        return self.chat

    async def run(self, promise: str | None = None) -> None:
        accepted = await self.house.dispatcher.accept(message(), "here")
        assert accepted is not None
        owed = None if promise is None else Promise(promise, None, 0, EPOCH)
        self.house.journal.left_over = [Unfinished(accepted, 1, is_command=False, promise=owed)]
        journal, dispatcher = self.house.journal, self.house.dispatcher
        recovering = Recovering(journal, dispatcher, self.reopened, self.house.clock, freshness_s=3600.0)
        await recovering.run(self.background.spawn)
        await until(lambda: len(self.background) == 0)


async def serve(house: House, text: str = "hello") -> None:
    await serve_one(house, message(text))


async def serve_one(house: House, said: IncomingMessage) -> None:
    accepted = await house.dispatcher.accept(said)
    assert accepted is not None
    await house.dispatcher.surviving(accepted, house.chat, lambda: house.dispatcher.handle(accepted, house.chat))


async def test_a_message_that_nobody_could_foresee_is_apologised_for_and_dismissed() -> None:
    house = House([BUG])
    await serve(house)
    assert house.chat.said == [SORRY]
    assert house.journal.outcomes == {1: "dismissed"}
    assert house.dispatcher.conversations == 0


async def test_an_apology_that_cannot_be_said_still_ends_the_message() -> None:
    house = House([BUG])
    house.chat.unspeakable = DeliveryError("is_archived")
    await serve(house)
    assert house.journal.outcomes == {1: "dismissed"}


async def test_an_apology_for_records_that_cannot_be_used_is_the_last_that_is_tried() -> None:
    house = House(commands=again())
    house.journal.broken = fault = StateError("disk full")
    accepted = await house.dispatcher.accept(message("!turn again"))
    assert accepted is not None
    await house.dispatcher.surviving(accepted, house.chat, lambda: house.dispatcher.handle(accepted, house.chat))
    assert house.chat.said == [wording.apology(fault, message().reference)]
    assert house.journal.outcomes == {}


async def test_what_a_command_asks_for_is_not_answered_when_its_own_answer_cannot_be_written_down() -> None:
    """Both are written in one step: its author hears that nothing came of it, and nothing does."""
    house = House(["never asked"], commands=again())
    house.journal.broken_promises = fault = StateError("disk full")
    await serve(house, "!turn again")
    assert house.chat.said == [wording.apology(fault, message().reference)]
    assert (house.provider.requests, house.journal.outcomes) == ([], {1: "dismissed"})
    assert house.dispatcher.conversations == 0


async def test_what_a_command_asks_for_is_answered_although_its_own_answer_cannot_be_shown() -> None:
    house = House(["5433"], commands=again())
    house.chat.unspeakable = DeliveryError("is_archived")
    assert await house.handle(message("!turn again")) == "undelivered"
    await until(lambda: house.journal.outcomes == {2: "ran"})
    assert house.chat.answer.written == "5433"


async def test_what_a_command_asks_for_is_apologised_for_when_it_fails() -> None:
    house = House([BUG], commands=again())
    await house.handle(message("!turn again"))
    await until(lambda: house.journal.outcomes == {1: "command", 2: "dismissed"})
    assert house.chat.said == ["Again:", SORRY]


async def test_a_turn_that_is_made_again_after_a_restart_is_apologised_for_when_it_fails() -> None:
    restart = Restart([BUG], FakeChat())
    await restart.run()
    assert restart.chat.said == [SORRY]
    assert restart.house.journal.outcomes == {1: "dismissed"}


async def test_a_turn_that_is_looked_at_again_later_is_apologised_for_when_it_fails() -> None:
    restart = Restart([BUG], FakeChat(unreadable=ChannelUnavailableError("timeout")))
    await restart.run()
    restart.chat.unreadable = None
    rounds = asyncio.create_task(restart.house.dispatcher.redelivery.run())
    await until(lambda: restart.house.journal.outcomes == {1: "dismissed"})
    rounds.cancel()
    assert restart.chat.said == [SORRY]


async def test_an_answer_that_is_shown_again_after_a_restart_is_apologised_for_when_that_fails() -> None:
    class Buggy(FakeChat):
        def reply(self) -> FakeReply:
            raise BUG

    restart = Restart(["unused"], Buggy())
    await restart.run(promise="5433")
    assert restart.chat.said == [SORRY]
    assert restart.house.journal.outcomes == {1: "dismissed"}


@pytest.mark.parametrize("bug", [BUG, TimeoutError("a bug")])
@pytest.mark.parametrize(("said", "spoken"), [("which port?", []), ("!turn ping", ["pong"])])
async def test_below_an_answer_that_is_shown_a_bug_is_told_nobody_but_the_log(
    said: str, spoken: list[str], bug: Exception
) -> None:
    house = House(commands=pinging())
    house.journal.broken_ends = bug
    with capture_logs() as logs, suppress(type(bug)):
        await serve(house, said)
    assert house.chat.said == spoken
    assert house.chat.answer.written == ("" if spoken else "Hello Alice.")
    (told,) = [line for line in logs if line["event"] == TURN_CRASHED]
    assert (told["reference"], told["exc_info"]) == (message().reference, bug)
    assert house.journal.outcomes == {}, "the next process finds the answer and ends the message"


async def test_a_bug_behind_the_end_of_an_answer_leaves_that_as_it_is() -> None:
    class Buggy(FakeStatus):
        async def clear(self) -> None:
            raise BUG

    house = House()
    house.chat.card = Buggy()
    await serve(house)
    assert (house.chat.said, house.journal.outcomes) == ([], {1: "ran"})


async def test_a_bug_behind_the_word_that_ends_a_stopped_answer_is_told_nobody() -> None:
    house = House()
    house.chat.finish_failure = StoppedByUserError()
    house.journal.broken_ends = BUG
    with suppress(RuntimeError):
        await serve(house)
    assert house.chat.said == [wording.STOPPED]


async def test_a_bug_behind_an_answer_that_a_restart_has_shown_is_told_nobody() -> None:
    restart = Restart(["unused"], FakeChat())
    restart.house.journal.broken_ends = BUG
    await restart.run(promise="5433")
    assert (restart.chat.answer.written, restart.chat.said) == (wording.recovered("5433"), [])


async def test_an_answer_that_a_bug_breaks_off_is_closed_where_it_stands() -> None:
    house = House(["Hello ", BUG])
    await serve(house)
    assert (house.chat.answer.written, house.chat.answer.is_abandoned) == ("Hello ", True)
    assert house.chat.said == [SORRY]


async def test_a_message_that_goes_with_a_turn_that_a_bug_ends_ends_with_it() -> None:
    gate = asyncio.Event()
    house = House(["Hello ", gate, BUG], ["Now."], busy_input=BusyInput.INTERRUPT)
    first, second, third = (message(f"{n}?", root="1.0", position=f"1.{n}", event=f"Ev{n}") for n in range(1, 4))
    async with asyncio.TaskGroup() as group:
        group.create_task(serve_one(house, first))
        await until(lambda: house.chat.answer.written == "Hello ")
        house.provider.play([BUG])
        group.create_task(serve_one(house, second))
        group.create_task(serve_one(house, third))
    assert house.chat.said.count(SORRY) == 1
    assert house.journal.outcomes == {1: "interrupted", 2: "dismissed", 3: "carried"}
