"""What a command has answered: a turn of its own, in the place in line that the command took when it arrived."""

import asyncio
from dataclasses import replace

import pytest

from app.access.authority import TableAuthority
from app.channel import IncomingFile, IncomingMessage
from app.dispatch import wording
from app.sessions.busy import QUEUE_CAP, BusyInput
from app.state.errors import StateUnreachableError
from commands.errors import BusyError
from commands.registry import Registry
from commands.spec import Argument, Caller, Command, Followup, Reply, Values
from tests.dispatch_house import House
from tests.fakes import FakeChat, access_of, message, until

ROOT = "1.0"


class Later:
    """A command that thinks until ``goes_on`` is set before it has its text answered."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.goes_on = asyncio.Event()
        self._refuses = refuses

    def registry(self, access: TableAuthority | None = None) -> Registry:
        words = (Argument("text", "what to answer", is_rest=True, is_raw=True),)
        command = Command(
            "turn.later",
            "Answers later.",
            "help:read",
            "read",
            self._ask,
            words,
            shorts=("later",),
            leads_on=True,
        )
        return Registry([command], access or access_of())

    async def _ask(self, _caller: Caller, values: Values) -> Reply:
        await self.goes_on.wait()
        if self._refuses:
            raise BusyError("no room")
        return Reply({}, "Later.", then=Followup(str(values["text"])))


def said(text: str, number: int) -> IncomingMessage:
    return message(text, position=f"1.{number}", root=ROOT, event=f"Ev{number}")


def asked(house: House) -> list[str]:
    """What each model call was about, without names."""
    return [call.messages[-1].text.removeprefix("Alice: ") for call in house.provider.requests]


async def test_what_is_said_after_the_command_is_answered_after_what_it_asks_for() -> None:
    """However long it takes to find out whether the one who gave it may."""
    gate, later = asyncio.Event(), Later()
    house = House(["one", gate], ["queued"], ["after"], commands=later.registry())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(house.handle(said("first", 1)))
        await until(lambda: "one" in house.chat.answer.written)
        group.create_task(house.handle(said("!later queued", 2)))
        group.create_task(house.handle(said("after", 3)))
        await until(lambda: wording.waiting(2) in house.chat.whispered)
        gate.set()
        later.goes_on.set()
    await until(lambda: len(house.dispatcher.lines) == 0)
    assert asked(house) == ["first", "queued", "after"]


@pytest.mark.parametrize("mode", BusyInput)
async def test_nothing_joins_it_and_it_joins_nothing_whatever_the_mode(mode: BusyInput) -> None:
    gate, later = asyncio.Event(), Later()
    house = House(["one", gate], ["q1"], ["q2"], ["after"], commands=later.registry(), busy_input=mode)
    later.goes_on.set()
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(house.handle(said("first", 1)))
        await until(lambda: "one" in house.chat.answer.written)
        await house.handle(said("!later q1", 2))
        await house.handle(said("!later q2", 3))
        group.create_task(house.handle(said("after", 4)))
        await until(lambda: house.dispatcher.lines.waiting == 3)
        gate.set()
    await until(lambda: len(house.dispatcher.lines) == 0)
    assert asked(house)[-3:] == ["q1", "q2", "after"]
    assert [text for text in house.chat.said if text == "Later."] == ["Later."] * 2


async def test_a_command_that_comes_to_nothing_holds_nobody_up() -> None:
    later = Later(refuses=True)
    house = House(["after"], commands=later.registry())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(house.handle(said("!later queued", 1)))
        await until(lambda: house.dispatcher.lines.waiting == 1)
        group.create_task(house.handle(said("after", 2)))
        await until(lambda: house.dispatcher.lines.waiting == 2)
        assert asked(house) == []
        later.goes_on.set()
    assert asked(house) == ["after"]
    assert len(house.dispatcher.lines) == 0


async def test_a_command_that_finds_no_place_in_line_is_not_carried_out() -> None:
    """What it would take back, for one, would not be answered once more."""
    later = Later()
    house = House(["one", asyncio.Event()], commands=later.registry())
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(house.handle(said("first", 1)))
        await until(lambda: "one" in house.chat.answer.written)
        waiting = [group.create_task(house.handle(said("waits", number))) for number in range(2, 2 + QUEUE_CAP)]
        await until(lambda: house.dispatcher.lines.waiting == QUEUE_CAP)
        assert await house.handle(said("!later queued", 99)) == "refused"
        assert house.chat.said == [wording.line_full(QUEUE_CAP)]
        for task in waiting:
            task.cancel()
        house.dispatcher.stop(said("first", 1).thread_key)


async def test_a_command_that_breaks_off_holds_nobody_up() -> None:
    house = House(["after"], commands=Later().registry())
    house.journal.broken = StateUnreachableError("unreachable")
    with pytest.raises(StateUnreachableError):
        await house.handle(said("!later queued", 1))
    house.journal.broken = None
    await house.handle(said("after", 2))
    assert asked(house) == ["after"]


async def test_directives_of_what_is_answered_later_count() -> None:
    later = Later()
    later.goes_on.set()
    house = House(commands=later.registry())
    await house.handle(said("!later effort:high what now?", 1))
    await until(lambda: len(house.dispatcher.lines) == 0)
    assert (asked(house), house.provider.requests[0].effort) == (["what now?"], "high")


async def test_a_directive_that_cannot_be_followed_is_told_of_and_its_place_given_back() -> None:
    later = Later()
    later.goes_on.set()
    house = House(commands=later.registry())
    await house.handle(said("!later effort:extreme what now?", 1))
    await until(lambda: len(house.dispatcher.lines) == 0)
    assert "takes low, medium or high" in house.chat.said[-1]
    assert asked(house) == []


async def test_what_was_read_once_is_not_too_long_the_second_time() -> None:
    """Several messages that were answered together come back as one."""
    long = replace(said("x" * 150, 1), part="+")
    house = House()
    await house.handle(replace(long, text=f"{long.text}\n{long.text}"))
    assert asked(house) == [f"{long.text}\n  {long.text}"]


async def test_the_transcript_keeps_what_a_message_asked_for_and_how_many_files_it_had() -> None:
    house, chat = House(), FakeChat()
    files = (IncomingFile("F1", "a.txt", "text/plain", 1), IncomingFile("F2", "b.txt", "text/plain", 1))
    await house.handle(message("model:test/big effort:low which port?", files=files), chat)
    first, answer = house.journal.records[-1].lines
    assert (first.content, first.directives, first.files) == ("which port?", "model:test/big effort:low", 2)
    assert (answer.directives, answer.files) == (None, 0)
