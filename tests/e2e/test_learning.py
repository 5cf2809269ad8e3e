"""What is said in one thread is known in the next, to those who may know it: the bot with its own demo model."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from app.agents.providers.base import Completed, StopReason, Usage
from app.application import Application
from app.bootstrap import build
from app.play import playing
from app.playground.model import Message
from app.playground.server import Playground
from config.loading import load
from config.settings import Settings
from tests.e2e.conftest import ALICE, BOB, BOT, GENERAL, MENTION, STATES, demo_models, running, with_own_state
from tests.fakes import ScriptedProvider

LEARNING = load(environ={}, playground=True)


def settings_of(playground: Playground, **memory: object) -> Settings:
    settings = with_own_state(playing(LEARNING, playground))
    changed = settings.memory.model_copy(update=memory)
    return settings.model_copy(update={"memory": changed, "data_dir": Path(STATES.name) / uuid4().hex})


@asynccontextmanager
async def learning(settings: Settings) -> AsyncGenerator[Application]:
    async with build(settings, models=demo_models(settings)) as application, application.serving():
        await application.connected()
        yield application


class Talk:
    def __init__(self, playground: Playground, application: Application) -> None:
        self.playground, self.application = playground, application

    async def says(self, text: str, *, user: str = ALICE, channel: str = GENERAL, root: Message | None = None) -> str:
        """The bot's answer, once everything that was said has been learned from."""
        asked = self.playground.people.say(user, channel, text, thread_ts=None if root is None else root.ts)
        before = len(self.answers(asked))
        await self.playground.wait_for(lambda: len(self.answers(asked)) > before)
        await self.rest()
        return self.playground.answer_text(channel, asked.root_ts)

    def answers(self, asked: Message) -> list[Message]:
        return [each for each in self.playground.thread(asked.channel, asked.root_ts) if each.user == BOT]

    async def rest(self) -> None:
        async with asyncio.timeout(15.0):
            while self.application.busy:
                await asyncio.sleep(0.01)


async def test_a_preference_of_one_member_governs_their_next_thread_and_nobody_elses(playground: Playground) -> None:
    """Criterion: Dispatcher end to end: user A's next request carries A's own fact, user B's does not (section 21)."""
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} I always prefer short answers in metric units")
        mine = await talk.says(f"{MENTION} what do you know about short answers?")
        theirs = await talk.says(f"{MENTION} what do you know about short answers?", user=BOB)
    assert "metric units" in mine
    assert "metric units" not in theirs


async def test_a_fact_from_a_public_channel_reaches_everyone_and_the_same_from_a_dm_does_not(
    playground: Playground,
) -> None:
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} We deploy the billing service from the release branch")
        dm = playground.people.open_dm(ALICE, BOT)
        await talk.says("We store the vault secrets in a blue safe", channel=dm.id)
        public = await talk.says(f"{MENTION} where do we deploy the billing service from?", user=BOB)
        private = await talk.says(f"{MENTION} where do we store the vault secrets?", user=BOB)
        own = await talk.says(f"{MENTION} where do we store the vault secrets?")
    assert "release branch" in public
    assert "blue safe" not in private
    assert "blue safe" in own


async def test_what_was_remembered_is_shown_and_can_be_taken_back(playground: Playground) -> None:
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} We store our invoices in the blue bucket")
        call = await playground.calls.wait_for(
            lambda call: call.method == "chat.postEphemeral" and "Remembered" in str(call.args)
        )
        assert call.answer is not None
        await playground.people.click(ALICE, GENERAL, str(call.answer["message_ts"]), "memory_undo")
        await talk.rest()
        assert "blue bucket" not in await talk.says(f"{MENTION} where do we store our invoices?", user=BOB)


async def test_a_conversation_is_shortened_after_what_it_taught_was_looked_at(playground: Playground) -> None:
    plain = settings_of(playground, mode="passive")
    compression = plain.sessions.compression.model_copy(
        update={"context_tokens": 2_000, "protect_first": 1, "protect_last": 1}
    )
    sessions = plain.sessions.model_copy(update={"compression": compression})
    near, words, looking = Completed(StopReason.END, Usage(input_tokens=1_900)), "word " * 300, asyncio.Event()
    provider = ScriptedProvider([words], [words, near], [looking, "{}"], ["The notes."], ["after"])
    async with running(playground, plain.model_copy(update={"sessions": sessions}), provider) as bot:
        root = bot.say(f"{MENTION} 1")
        await bot.answered(root)
        bot.say(f"{MENTION} We store our invoices in the blue bucket", thread_ts=root.ts)
        await bot.answered(root, times=2)
        await playground.wait_for(lambda: len(provider.requests) == 3)
        bot.say(f"{MENTION} 3", thread_ts=root.ts)
        await playground.wait_for(lambda: len(provider.requests) == 4)
        beside = bot.say(f"{MENTION} status show")
        await playground.wait_for(lambda: bool(bot.answers(beside)))
        assert len(provider.requests) == 4, "nobody goes on with the shortened conversation"
        looking.set()
        await bot.answered(root, times=3)
        assert "The notes." in "\n".join(turn.text for turn in provider.requests[4].messages)


async def test_with_learning_off_nothing_is_learned(playground: Playground) -> None:
    async with learning(settings_of(playground, mode="tool")) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} We store our invoices in the blue bucket")
        assert "blue bucket" not in await talk.says(f"{MENTION} where do we store our invoices?", user=BOB)


async def test_a_correction_retires_the_fact_it_corrects(playground: Playground) -> None:
    async with learning(settings_of(playground)) as application:
        talk = Talk(playground, application)
        await talk.says(f"{MENTION} We store our invoices in the blue bucket")
        assert "blue bucket" in await talk.says(f"{MENTION} where do we store our invoices?", user=BOB)
        await talk.says(f"{MENTION} Correction: we store our invoices in the green bucket")
        corrected = await talk.says(f"{MENTION} where do we store our invoices?", user=BOB)
    assert "green bucket" in corrected
    assert "blue bucket" not in corrected
