"""The console channel: a message without a platform through the real dispatcher, and what is made of its end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from io import StringIO

import pytest

from app.agents.providers.base import ModelRequest
from app.background import Background
from app.channel import ThreadMessage
from app.cli_commands import Streams, ask
from app.clock import SystemClock
from app.console import Asked, Console, ConsoleChat, Place
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.ports import Limits
from app.errors import ModelKeyError
from tests.fakes import OneModel, ScriptedProvider, ports_of
from tests.surfaces import FakeDispatch, Kept, console_of, registry_of

HTTP = Place("http", "ci", "builds", "7")


def dispatcher_of(provider: ScriptedProvider) -> Dispatcher:
    ports = ports_of(OneModel(provider), SystemClock(), commands=registry_of(Kept()))
    return Dispatcher(ports, Limits(5.0, 1_000))


def console(provider: ScriptedProvider) -> Console:
    return Console(dispatcher_of(provider), Background().spawn, SystemClock())


def said(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)


async def test_a_machines_message_goes_through_the_same_dispatcher() -> None:
    provider = ScriptedProvider(["Hello ", "machine."])
    turn = await console(provider).ask(Asked(HTTP, "hi", (ThreadMessage("0", "ci", False, "earlier words"),)))
    assert (turn.text, turn.status, turn.is_crashed) == ("Hello machine.", "completed", False)
    assert "earlier words" in said(provider.requests[0])


async def test_a_command_is_answered_without_a_model() -> None:
    """Specification, section 24: never a model turn."""
    provider = ScriptedProvider(["never"])
    turn = await console(provider).ask(Asked(HTTP, "echo show two words"))
    assert (turn.text, turn.status) == ("echo of `http:ci`", "completed")
    assert provider.requests == []


async def test_a_turn_that_fails_is_told_with_what_there_was_of_it() -> None:
    provider = ScriptedProvider(["Half an ", ModelKeyError("no")])
    turn = await console(provider).ask(Asked(HTTP, "hi"))
    assert turn.status == "failed"
    assert turn.text.startswith("Half an")
    assert turn.reference in turn.text
    assert not turn.is_crashed


async def test_a_turn_has_begun_when_its_agent_is_at_work() -> None:
    held = asyncio.Event()
    dispatch = FakeDispatch(held=held)
    async with console_of(dispatch) as at_console:
        turn = at_console.begin(Asked(HTTP, "long work"))
        async with asyncio.timeout(5):
            assert not await turn.end_or_beginning(patience_s=10)
            held.set()
            await turn.end()
            assert await turn.end_or_beginning(patience_s=10)


async def test_a_message_that_waits_in_line_is_not_waited_for() -> None:
    provider = ScriptedProvider([asyncio.Event()])
    at_console = console(provider)
    turns = [at_console.begin(Asked(HTTP, "one after the other")) for _ in range(2)]
    async with asyncio.timeout(20):
        assert not await turns[0].end_or_beginning(patience_s=1)
        assert not await turns[1].end_or_beginning(patience_s=0.05)
        for turn in turns:
            ending = asyncio.ensure_future(turn.end())
            await asyncio.sleep(0)
            ending.cancel()
            await asyncio.gather(ending, return_exceptions=True)
    assert turns[0].status == turns[1].status == "failed"


async def test_answers_are_joined_by_a_blank_line_and_empty_ones_left_out() -> None:
    """Reference bot, 17."""
    chat = ConsoleChat("ci")
    await chat.say("first")
    chat.reply().write("")
    reply = chat.reply()
    reply.write("sec")
    reply.write("ond\n")
    await reply.abandon()
    assert chat.text == "first\n\nsecond"


@pytest.mark.parametrize(("outcome", "status"), [("ran", 0), ("failed", 1), ("refused", 1), ("stopped", 1)])
async def test_ask_answers_on_standard_output_only_when_the_answer_is_complete(outcome: str, status: int) -> None:
    """Reference bot, 9.13."""
    streams, dispatch = Streams(StringIO(), StringIO()), FakeDispatch(outcome=outcome)
    assert await ask("hello", None, lambda _: opened(dispatch), streams) == status
    out, err = read(streams)
    (message,) = dispatch.messages
    assert (message.user_id, message.thread_key) == ("cli:local", "cli:default:default")
    if status == 0:
        assert (out, err) == ("you said: hello\n", "")
    else:
        assert out == ""
        assert "you said: hello\n" in err
        assert err.endswith(f"error (failed): no complete answer (reference {message.reference})\n")


async def test_ask_that_crashes_ends_with_one_line() -> None:
    streams, dispatch = Streams(StringIO(), StringIO()), FakeDispatch(crash=RuntimeError("inside"))
    assert await ask("hello", "k-1", lambda _: opened(dispatch), streams) == 1
    out, err = read(streams)
    assert (out, err.count("\n")) == ("", 1)
    assert "inside" not in err
    assert dispatch.messages[0].thread_key == "cli:default:k-1"


@pytest.mark.parametrize(("text", "thread"), [("", None), (" \n", None), ("x", "a:b"), ("x", ""), ("x", "a\nb")])
async def test_ask_takes_words_and_a_thread_that_can_be_named(text: str, thread: str | None) -> None:
    streams, dispatch = Streams(StringIO(), StringIO()), FakeDispatch()
    assert await ask(text, thread, lambda _: opened(dispatch), streams) == 2
    assert read(streams)[1].startswith("error (invalid_input): ")
    assert dispatch.messages == []


@asynccontextmanager
async def opened(dispatch: FakeDispatch) -> AsyncGenerator[FakeDispatch]:
    """A dispatcher that is there already."""
    yield dispatch


def read(streams: Streams) -> tuple[str, str]:
    assert isinstance(streams.out, StringIO)
    assert isinstance(streams.err, StringIO)
    return streams.out.getvalue(), streams.err.getvalue()
