"""The top of a channel as one conversation (`slack.reply_in_thread: false`): answered there, by the rules of any other.

Gateways, session source and key: without a thread the session is the channel's, each person's own unless shared.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from app.bootstrap import build
from app.clock import SystemClock
from app.dispatch import wording
from app.playground.faults import Fault, FaultKind
from app.playground.model import Message
from app.playground.server import Playground
from config.settings import Settings
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from tests.e2e.conftest import ALICE, BOB, BOT, GENERAL, MENTION, Bot, hasty, running, settings_of
from tests.e2e.test_restarts import IN_CHANNEL, ended, mortal_bot
from tests.fakes import ScriptedProvider
from tests.mortal_bot import PIECES


def at_the_top(settings: Settings, *, is_shared: bool = False, busy_input: str = "queue") -> Settings:
    sessions = {"group_sessions_per_user": not is_shared, "busy_input": busy_input}
    changes = {
        "slack": settings.slack.model_copy(update={"reply_in_thread": False}),
        "sessions": settings.sessions.model_copy(update=sessions),
    }
    return settings.model_copy(update=changes)


@asynccontextmanager
async def talking(
    playground: Playground, provider: ScriptedProvider, *, is_shared: bool = False
) -> AsyncGenerator[Bot]:
    settings = at_the_top(settings_of(playground, "socket"), is_shared=is_shared)
    async with running(playground, settings, provider) as bot:
        yield bot


def own(playground: Playground) -> list[Message]:
    """The bot's messages at the top of the channel, oldest first."""
    found = (playground.workspace.messages[GENERAL][ts] for ts in playground.workspace.timeline(GENERAL))
    return [each for each in found if each.user == BOT]


def shown(playground: Playground) -> list[str]:
    return [message.text for message in own(playground)]


def prompt(bot: Bot) -> list[str]:
    return [turn.text for turn in bot.provider.requests[-1].messages]


async def test_a_mention_at_the_top_is_answered_there_without_a_stream(playground: Playground) -> None:
    gate = asyncio.Event()
    async with talking(playground, ScriptedProvider(["It is ", gate, "ready."])) as bot:
        bot.say(f"{MENTION} is it ready?")
        await playground.wait_for(lambda: shown(playground) == ["It is"])
        gate.set()
        await bot.rest(lambda: shown(playground) == ["It is ready."])
        assert bot.calls("chat.startStream") == bot.calls("assistant.threads.setStatus") == 0
        assert bot.calls("chat.update") >= 1


async def test_each_person_has_a_conversation_with_the_channel_and_a_reply_in_a_thread_another(
    playground: Playground,
) -> None:
    async with talking(playground, ScriptedProvider(["one"], ["two"], ["three"], ["four"])) as bot:
        bot.say(f"{MENTION} the code is 7")
        await bot.rest(lambda: shown(playground) == ["one"])
        bot.say(f"{MENTION} what is it?")
        await bot.rest(lambda: shown(playground) == ["one", "two"])
        assert prompt(bot)[-3:] == ["the code is 7", "one", "what is it?"]
        bot.say(f"{MENTION} and for me?", user=BOB)
        await bot.rest(lambda: shown(playground) == ["one", "two", "three"])
        assert prompt(bot)[-1].endswith("and for me?")
        root = bot.say("a question of its own")
        bot.say(f"{MENTION} who knows?", thread_ts=root.ts)
        assert await bot.answered(root) == "four"
        assert shown(playground) == ["one", "two", "three"], "a thread is answered in the thread"
        assert prompt(bot)[-1].endswith("alice: who knows?")
        assert not any("the code is 7" in text for text in prompt(bot)), "which is another conversation"


async def test_where_the_channel_is_shared_everybody_goes_on_with_it(playground: Playground) -> None:
    async with talking(playground, ScriptedProvider(["one"], ["two"]), is_shared=True) as bot:
        bot.say(f"{MENTION} the code is 7")
        await bot.rest(lambda: shown(playground) == ["one"])
        bot.say("said to nobody", user=BOB)
        bot.say(f"{MENTION} what is it?", user=BOB)
        await bot.rest(lambda: shown(playground) == ["one", "two"])
        *_, first, answer, last = prompt(bot)
        assert first.endswith("alice: the code is 7")
        assert (answer, last) == ("one", "bob: said to nobody\n\nbob: what is it?")


async def test_messages_of_one_conversation_wait_their_turn_and_can_be_stopped(playground: Playground) -> None:
    provider = ScriptedProvider(["Let me think", asyncio.Event()], ["two"])
    async with talking(playground, provider) as bot:
        bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: shown(playground) == ["Let me think"])
        bot.say(f"{MENTION} 2")
        await playground.wait_for(lambda: bot.calls("chat.postEphemeral") == 1)
        told = playground.calls.of("chat.postEphemeral")[-1].args
        assert (told["text"], told.get("thread_ts")) == (wording.waiting(1), None)
        bot.say(f"{MENTION} !status")
        await playground.wait_for(lambda: "a turn is under way, 1 waiting" in shown(playground)[-1])
        bot.say(f"{MENTION} !stop")
        await bot.rest(lambda: shown(playground)[-1] == "two")
        assert "🛑 Stopped 1 turn." not in shown(playground)
        assert shown(playground).count(wording.STOPPED) == 1


@pytest.mark.parametrize("kind", [FaultKind.DROP_AFTER, FaultKind.DROP_BEFORE, FaultKind.SERVER_ERROR])
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
async def test_a_call_whose_answer_is_lost_neither_loses_nor_doubles_text(
    playground: Playground, method: str, kind: FaultKind
) -> None:
    gate = asyncio.Event()
    async with talking(playground, ScriptedProvider(["One two ", gate, "three."])) as bot:
        playground.faults.inject(Fault(method=method, kind=kind))
        bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: shown(playground) == ["One two"])
        gate.set()
        await bot.rest(lambda: shown(playground) == ["One two three."])
        assert playground.faults.pending == 0


@pytest.mark.parametrize(
    "step", ["after accept", "after begin", "after the first words are visible", "after promise", "before end"]
)
async def test_killed_at_any_step_one_whole_answer_is_in_the_channel_after_the_restart(
    playground: Playground, step: str
) -> None:
    settings = at_the_top(settings_of(playground, "socket"))
    assert settings.state.url is not None
    state_url = settings.state.url.get_secret_value()
    async with mortal_bot(playground, state_url, step, IN_CHANNEL) as process:
        playground.people.say(ALICE, GENERAL, f"{MENTION} which port?")
        await ended(process)
    whole = "".join(PIECES)
    async with running(playground, settings, ScriptedProvider([*PIECES])) as bot:
        await bot.rest(lambda: any(whole in text for text in shown(playground)))
        assert [text.removeprefix(wording.RECOVERED).strip() for text in shown(playground)] == [whole]


async def test_an_answer_that_could_not_be_shown_is_shown_later_in_the_channel(playground: Playground) -> None:
    settings = at_the_top(settings_of(playground, "socket"))
    async with running(playground, settings, ScriptedProvider(["one"])) as bot:
        playground.faults.inject(Fault(method="chat.postMessage", kind=FaultKind.REFUSED, error="restricted_action"))
        bot.say(f"{MENTION} 1")
        await bot.rest(lambda: bot.calls("chat.postMessage") == 1)
        assert shown(playground) == []
    async with running(playground, settings, ScriptedProvider(["never asked"])) as bot:
        await bot.rest(lambda: shown(playground) == [wording.recovered("one")])
        assert bot.provider.requests == []


async def test_the_next_process_goes_on_in_the_channel_whatever_its_settings_say(playground: Playground) -> None:
    settings = settings_of(playground, "socket")
    provider = ScriptedProvider(["Let me ", asyncio.Event()], ["Let me see: done."])
    async with running(playground, hasty(at_the_top(settings)), provider) as bot:
        bot.say(f"{MENTION} 1")
        await playground.wait_for(lambda: shown(playground) == ["Let me"])
    async with running(playground, settings, provider) as bot:
        await bot.rest(lambda: "done" in shown(playground)[-1])
        assert shown(playground) == [wording.recovered("Let me see: done.")], "in place of what was there of it"


async def test_what_holds_for_the_whole_channel_is_not_set_as_a_threads(playground: Playground) -> None:
    async with talking(playground, ScriptedProvider(["one"])) as bot:
        bot.say(f"{MENTION} !config set effort low --layer thread")
        await bot.rest(lambda: len(shown(playground)) == 1)
        assert "this is said in no thread" in shown(playground)[0]


async def test_a_long_answer_of_a_command_is_a_file_in_the_channel(playground: Playground) -> None:
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    facts = [f"Alice keeps note number {number} about {'the harbour crane ' * 20}" for number in range(20)]
    candidates = [MemoryCandidate("fact", text, "slack:C0EARLIER1:1.0") for text in facts]
    await store.write(f"user:slack:{ALICE}", candidates)
    settings = at_the_top(settings_of(playground, "socket"))
    async with build(settings, memory=store) as application, application.serving():
        await application.connected()
        playground.people.say(ALICE, GENERAL, f"{MENTION} memory list me")
        await playground.wait_for(lambda: len(shown(playground)) == 1)
        await playground.wait_for(lambda: not application.dispatcher.conversations)
    (message,) = own(playground)
    assert len(message.files) == 1


async def test_a_bare_mention_at_the_top_means_what_was_said_there(playground: Playground) -> None:
    async with talking(playground, ScriptedProvider(["one"])) as bot:
        bot.say("we deploy on Fridays", user=BOB)
        bot.say(MENTION)
        await bot.rest(lambda: shown(playground) == ["one"])
        assert any("we deploy on Fridays" in text for text in prompt(bot))
