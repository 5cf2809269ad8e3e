"""What a team may demand of a gateway's sessions (acceptance tests 9, 13 and 15), and what its models hear of people.

Other files name the tests 1 to 5, 10 to 12 and 20; 14 is about keys alone, since one bot serves one workspace.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from app.dispatch import wording
from app.playground.faults import Fault, FaultKind
from app.playground.model import Message
from app.playground.server import Playground
from app.state.opening import file_of
from config.settings import Settings
from tests.e2e.conftest import ALICE, BOT, GENERAL, MENTION, Bot, running, settings_of
from tests.fakes import ScriptedProvider


def keys_in(settings: Settings) -> Sequence[str]:
    """Of all conversations that there ever were."""
    assert settings.state.url is not None
    file = file_of(settings.state.url.get_secret_value())
    assert file is not None
    with closing(sqlite3.connect(Path(file))) as connection:
        return [key for (key,) in connection.execute("SELECT DISTINCT session_key FROM sessions ORDER BY 1")]


async def test_an_edit_that_is_refused_for_its_rate_doubles_nothing(playground: Playground) -> None:
    """Acceptance test 9."""
    gate = asyncio.Event()
    async with running(
        playground, settings_of(playground, "socket"), ScriptedProvider(["One two ", gate, "three."])
    ) as bot:
        playground.faults.inject(Fault("chat.startStream", FaultKind.REFUSED, error="not_allowed_token_type"))
        playground.faults.inject(Fault("chat.update", FaultKind.RATE_LIMITED, retry_after_s=1))
        root = bot.say(f"{MENTION} hello")
        await playground.wait_for(lambda: bot.text(root) == "One two")
        gate.set()
        await bot.rest(lambda: bot.text(root) == "One two three.")
        assert len(bot.answers(root)) == 1
        assert playground.calls.of("chat.update")[0].status == 429


async def test_a_turn_is_stopped_from_outside_of_its_thread(playground: Playground) -> None:
    """Acceptance test 13: there is one worker, and a slash command reaches it by another way than the thread."""
    provider = ScriptedProvider(["Let me think", asyncio.Event()])
    async with running(playground, settings_of(playground, "socket"), provider) as bot:
        root = bot.say(f"{MENTION} hello")
        await playground.wait_for(lambda: "Let me think" in bot.text(root))
        await playground.people.slash(ALICE, GENERAL, "/switchboard", "stop")
        await bot.rest(lambda: wording.STOPPED in bot.text(root))
        assert len(bot.answers(root)) <= 2, "what there was of the answer, and that it ends here"


async def given(bot: Bot, root: Message, words: str, answers: int) -> None:
    """A message in the thread of ``root`` that so many messages of the bot follow."""
    before = len(bot.answers(root))
    bot.say(words, channel=root.channel, thread_ts=root.ts)
    await bot.rest(lambda: len(bot.answers(root)) == before + answers)


@pytest.mark.parametrize("is_dm", [False, True])
async def test_commands_lead_to_the_conversation_that_messages_lead_to(playground: Playground, *, is_dm: bool) -> None:
    """Acceptance test 15: every path has the key of the inbound message."""
    settings = settings_of(playground, "socket")
    channel = playground.people.open_dm(ALICE, BOT).id if is_dm else GENERAL
    async with running(playground, settings, ScriptedProvider(["yes"])) as bot:
        root = bot.say("hello" if is_dm else f"{MENTION} hello", channel=channel)
        await bot.answered(root)
        begun = await asyncio.to_thread(keys_in, settings)
        for words, answers in (("!title plan", 1), ("!retry", 2), ("!queue more", 2), ("!new", 1), ("!resume 1", 1)):
            await given(bot, root, words, answers)
        await given(bot, root, "and then?", 1)
        assert await asyncio.to_thread(keys_in, settings) == begun
    kind = "dm" if is_dm else "channel"
    assert begun == [f"agent:main:slack:{kind}:{channel}:{root.ts}"]


async def test_a_model_hears_of_nobodys_id_where_the_operator_wants_that(playground: Playground) -> None:
    """Session lifecycle, section 9: in the prompt alone; the conversation is where it was."""
    plain = settings_of(playground, "socket")
    settings = plain.model_copy(update={"privacy": plain.privacy.model_copy(update={"redact_pii": True})})
    provider = ScriptedProvider(["yes"])
    async with running(playground, settings, provider) as bot:
        here = bot.say(f"{MENTION} hello")
        await bot.answered(here)
        alone = bot.say("hello", channel=playground.people.open_dm(ALICE, BOT).id)
        await bot.answered(alone)
        told = "\n".join(part for request in provider.requests for part in request.system)
        assert "Place: channel slack:" in told
        assert "Person: user_" in told
        for identifier in (ALICE, GENERAL, alone.channel, "alice", "general"):
            assert identifier not in told.replace("general purpose", "")
        keys = await asyncio.to_thread(keys_in, settings)
        assert any(GENERAL in key for key in keys)
