"""The process ends at every step of a turn, and the next one leaves one whole answer: never none, never two.

Session lifecycle, section 7; acceptance tests 1 to 3 of a gateway.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest

from app.background import beside
from app.bootstrap import build
from app.dispatch import wording
from app.errors import ConfigurationError
from app.playground.model import Message
from app.playground.server import Playground
from tests.e2e.conftest import ALICE, BOT, GENERAL, MENTION, demo_models, hasty, running, settings_of
from tests.fakes import ScriptedProvider
from tests.forked_processes import ROOT, Forked, forked
from tests.mortal_bot import NO_PROMISES, PIECES, LaterClock

NONE: Mapping[str, str] = {}
LEARNS = {"SWITCHBOARD_MEMORY__ENABLED": "true"}
IN_CHANNEL = {"SWITCHBOARD_SLACK__REPLY_IN_THREAD": "false"}
"""It answers at the top of channels."""
WHOLE = "".join(PIECES)
SIGKILLED = -9


def environment(playground: Playground, state_url: str) -> dict[str, str]:
    app = next(iter(playground.workspace.apps.values()))
    return {
        "PATH": os.defpath,
        "SLACK_API_URL": playground.api_url,
        "SLACK_BOT_TOKEN": app.bot_token,
        "SLACK_APP_TOKEN": app.app_token,
        "SWITCHBOARD_ORGANIZATION": "playground",
        "SWITCHBOARD_DEFAULTS__MODEL": "offline/demo",
        "SWITCHBOARD_HTTP__PORT": "0",
        "SWITCHBOARD_STATE__URL": state_url,
    }


@contextmanager
def started(
    playground: Playground, state_url: str, step: str, later_s: int = 0, settings: Mapping[str, str] = NONE
) -> Generator[tuple[Forked, BinaryIO, BinaryIO]]:
    """A bot that is going to end at ``step``, what it says, and what it is told by."""
    command, environ = ["tests.mortal_bot", step, f"{later_s}"], environment(playground, state_url) | dict(settings)
    (heard, told), (said, says) = os.pipe(), os.pipe()
    with os.fdopen(said, "rb") as output, os.fdopen(told, "wb", buffering=0) as tell:
        with os.fdopen(heard, "rb"), os.fdopen(says, "wb"):
            process = forked(ROOT, command, environ, told=heard, out=says)
        try:
            yield process, output, tell
        finally:
            process.kill()
            process.wait()


@asynccontextmanager
async def mortal_bot(
    playground: Playground,
    state_url: str,
    step: str,
    settings: Mapping[str, str] = NONE,
    *,
    goes_on: Callable[[], bool] | None = None,
) -> AsyncGenerator[Forked]:
    """A bot that is going to end at ``step``, connected. ``goes_on``: when its first answer does, seen by default."""
    with started(playground, state_url, step, settings=settings) as (process, output, tell):
        async with asyncio.timeout(40):
            assert await asyncio.to_thread(output.readline) == b"ready\n"
        async with beside(told_when(playground, tell, goes_on or partial(is_seen, playground)), name="seeing"):
            yield process


def is_seen(playground: Playground) -> bool:
    """Whether some of the bot's words are visible."""
    return any(m.user == BOT for place in playground.workspace.messages.values() for m in place.values())


def is_shown(playground: Playground, root: Message, text: str) -> bool:
    """Whether an answer in the thread has ended with ``text``."""
    answers = [m for m in playground.thread(root.channel, root.ts) if m.user == BOT]
    has_ended = all(m.stream is None or m.stream.state != "in_progress" for m in answers)
    return has_ended and playground.answer_text(root.channel, root.ts).endswith(text)


async def told_when(playground: Playground, tell: BinaryIO, goes_on: Callable[[], bool]) -> None:
    """The bot's model goes on from its first words when ``goes_on`` says so."""
    await playground.wait_for(goes_on, 60.0)
    with suppress(BrokenPipeError):  # it may have ended
        tell.write(b"seen\n")


async def ended(process: Forked) -> None:
    assert await asyncio.to_thread(process.wait, 20) == SIGKILLED


TURN_STEPS = (
    "before accept",
    "after accept",
    "before begin",
    "after begin",
    "before the first word",
    "after the first words are visible",
    "after the last word",
    "before promise",
    "after promise",
    "before end",
    "after end",
)


@pytest.mark.parametrize("step", TURN_STEPS)
async def test_killed_at_any_step_of_a_turn_one_whole_answer_is_there_after_the_restart(
    playground: Playground, step: str
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    async with mortal_bot(playground, settings.state.url.get_secret_value(), step) as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} which port?")
        await ended(process)
    async with running(playground, settings, ScriptedProvider([*PIECES])) as bot:
        await bot.rest(lambda: WHOLE in bot.text(root))
        assert len(bot.answers(root)) == 1
        assert bot.text(root).count(WHOLE) == 1
        assert bot.text(root).removeprefix(f"{wording.RECOVERED}\n\n").strip() == WHOLE
        bot.say(f"{MENTION} again?", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        prompt = bot.provider.requests[-1].messages
        assert [turn.role for turn in prompt] == ["user", "assistant", "user"], (
            "the first turn is in the transcript, once"
        )
        assert prompt[-1].text.endswith("again?")


@pytest.mark.parametrize("step", ["after begin command", "after promise", "before end"])
async def test_a_command_that_was_cut_off_is_told_of_and_never_given_twice(playground: Playground, step: str) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    async with mortal_bot(playground, settings.state.url.get_secret_value(), step) as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} status show")
        await ended(process)
    async with running(playground, settings, ScriptedProvider(["never asked"])) as bot:
        await bot.answered(root)
        assert len(bot.answers(root)) == 1
        is_known = step != "after begin command"
        assert ("version" in bot.text(root)) is is_known
        assert ("Look whether it took effect" in bot.text(root)) is not is_known
        assert bot.provider.requests == []


@pytest.mark.parametrize("step", ["before promise", "after promise"])
async def test_what_a_command_has_answered_is_answered_or_the_command_is_told_of_and_never_both(
    playground: Playground, step: str
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    async with mortal_bot(playground, settings.state.url.get_secret_value(), step) as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} session queue which port?")
        await ended(process)
    async with running(playground, settings, ScriptedProvider([*PIECES])) as bot:
        is_kept = step == "after promise"
        await bot.rest(lambda: len(bot.answers(root)) == 1 + is_kept)
        assert ("In line" in bot.text(root), bot.text(root).count(WHOLE)) == (is_kept, int(is_kept))
        assert ("Look whether it took effect" in bot.text(root)) is not is_kept
        assert len(bot.provider.requests) == int(is_kept)


@pytest.mark.parametrize("step", ["before promise", "after promise"])
async def test_a_turn_that_is_answered_once_more_is_known_once_wherever_the_process_ends(
    playground: Playground, step: str
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    async with running(playground, settings, ScriptedProvider(["one"])) as bot:
        root = bot.say(f"{MENTION} which port?")
        await bot.answered(root)
    async with mortal_bot(playground, settings.state.url.get_secret_value(), step) as process:
        playground.people.say(ALICE, GENERAL, f"{MENTION} !retry", thread_ts=root.ts)
        await ended(process)
    async with running(playground, settings, ScriptedProvider(["two"])) as bot:
        is_accepted = step == "after promise"
        await bot.rest(lambda: ("two" if is_accepted else "Look whether it took effect") in bot.text(root))
        bot.provider.play(["three"])
        bot.say(f"{MENTION} and then?", thread_ts=root.ts)
        await bot.rest(lambda: "three" in bot.text(root))
        prompt = [turn.text for turn in bot.provider.requests[-1].messages]
    assert prompt == ["alice: which port?", "two" if is_accepted else "one", "alice: and then?"]


async def test_messages_that_were_answered_together_are_not_answered_again_though_nobody_could_write_that_down(
    playground: Playground,
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    crowded = {"SWITCHBOARD_LIMITS__CONCURRENT_TURNS": "1", "SWITCHBOARD_SESSIONS__BUSY_INPUT": "interrupt"}
    url, joined = settings.state.url.get_secret_value(), partial(playground.calls.of, "chat.postEphemeral")
    async with mortal_bot(playground, url, NO_PROMISES, crowded, goes_on=lambda: bool(joined())) as process:
        first = playground.people.say(ALICE, GENERAL, f"{MENTION} which host?")
        await playground.wait_for(lambda: is_seen(playground), 20.0)
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} which port?")
        playground.people.say(ALICE, GENERAL, f"{MENTION} of staging?", thread_ts=root.ts)
        await playground.wait_for(lambda: is_shown(playground, root, wording.UNRECORDED), 20.0)
        process.kill()
        await ended(process)
    async with running(playground, settings, ScriptedProvider(["again"])) as bot:
        await bot.rest(lambda: True)
        assert bot.provider.requests == []
        assert [bot.text(each) for each in (first, root)] == [f"{WHOLE}\n\n{wording.UNRECORDED}"] * 2


async def test_a_message_that_ends_the_process_three_times_is_given_up_and_its_session_starts_anew(
    playground: Playground,
) -> None:
    settings = settings_of(playground, "socket")
    assert settings.state.url is not None
    url = settings.state.url.get_secret_value()
    async with mortal_bot(playground, url, "after begin") as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} which port?")
        await ended(process)
    for later_s in (120, 240):
        with started(playground, url, "after begin", later_s) as (process, _, _):
            await ended(process)
    async with running(playground, settings, ScriptedProvider([*PIECES]), LaterClock(360)) as bot:
        await bot.answered(root)
        assert "I stop trying" in bot.text(root)
        assert bot.provider.requests == []
        bot.say(f"{MENTION} and now?", thread_ts=root.ts)
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        assert WHOLE in bot.text(root)


async def test_what_an_orderly_stop_cuts_short_says_so_and_is_finished_in_the_same_message(
    playground: Playground,
) -> None:
    settings = settings_of(playground, "socket")
    async with running(playground, hasty(settings), ScriptedProvider(["Let me ", asyncio.Event()])) as bot:
        root = bot.say(f"{MENTION} which port?")
        await playground.wait_for(lambda: "Let me" in bot.text(root))
        bot.say(f"{MENTION} and which host?", thread_ts=root.ts)
        await playground.wait_for(lambda: bot.calls("chat.postEphemeral") == 1)
    (message,) = [m for m in playground.thread(GENERAL, root.ts) if m.user == BOT]
    assert wording.UNFINISHED in playground.answer_text(GENERAL, root.ts)
    async with running(playground, settings, ScriptedProvider([*PIECES], ["It is db1."])) as bot:
        await bot.rest(lambda: len(bot.answers(root)) == 2)
        first, second = bot.answers(root)
        assert first.ts == message.ts
        assert bot.text(root) == f"{wording.RECOVERED}\n\n{WHOLE}It is db1."
        assert second.ts > first.ts


async def test_a_second_bot_on_the_same_records_is_refused_in_a_sentence(playground: Playground) -> None:
    settings = settings_of(playground, "socket")
    async with running(playground, settings, ScriptedProvider(["hi"])):
        with pytest.raises(ConfigurationError, match="another"):
            async with running(playground, settings, ScriptedProvider(["hi"])):
                pass


async def test_a_turn_that_was_answered_and_not_yet_learned_from_is_learned_from_after_the_restart(
    playground: Playground, tmp_path: Path
) -> None:
    """Nothing is lost when the process ends between the reply and its reflection."""
    plain = settings_of(playground, "socket")
    assert plain.state.url is not None
    memory = plain.memory.model_copy(update={"enabled": True, "store": "sqlite", "mode": "passive"})
    settings = plain.model_copy(update={"memory": memory, "data_dir": tmp_path})
    async with mortal_bot(playground, plain.state.url.get_secret_value(), "after end", LEARNS) as process:
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} We store our invoices in the blue bucket")
        await ended(process)
    assert playground.answer_text(GENERAL, root.ts) == WHOLE
    async with build(settings, models=demo_models(settings)) as application, application.serving():
        await application.connected()
        async with asyncio.timeout(15.0):
            while application.busy:
                await asyncio.sleep(0.01)
        asked = playground.people.say(ALICE, GENERAL, f"{MENTION} where do we store our invoices?")
        assert "blue bucket" in await playground.answer(GENERAL, asked.ts)
