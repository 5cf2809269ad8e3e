"""The real bot, connected to the playground over real sockets, in both of Slack's transports."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from app.agents.providers.base import Completed
from app.agents.providers.catalogue import Catalogue
from app.application import Application
from app.bootstrap import build
from app.bootstrap_models import provider_specs
from app.clock import Clock
from app.play import playing, with_state
from app.playground.delivery import AckTimes
from app.playground.model import Message
from app.playground.server import Playground, open_playground
from app.slack.manifest import EVENTS_PATH
from app.state.opening import FILE_NAME
from config.loading import load
from config.settings import Settings
from tests.fakes import OneModel, ScriptedProvider

ALICE, BOB, ADA, BOT = "U0ALICE001", "U0BOB00001", "U0ADA00001", "U0SWITCH01"
GENERAL, RANDOM, DEPLOYS, LEADS = "C0GENERAL1", "C0RANDOM01", "C0DEPLOYS1", "G0LEADS001"
MENTION = f"<@{BOT}>"

Script = Sequence[str | Exception | Completed | asyncio.Event]


@dataclass(slots=True)
class Bot:
    """A running bot and the workspace it lives in."""

    playground: Playground
    application: Application
    provider: ScriptedProvider
    mode: str

    def say(self, text: str, *, user: str = ALICE, channel: str = GENERAL, thread_ts: str | None = None) -> Message:
        return self.playground.people.say(user, channel, text, thread_ts=thread_ts)

    def answers(self, root: Message) -> list[Message]:
        """The bot's messages in the thread, oldest first."""
        return [m for m in self.playground.thread(root.channel, root.root_ts) if m.user == BOT]

    def text(self, root: Message) -> str:
        return self.playground.answer_text(root.channel, root.root_ts)

    async def answered(self, root: Message, times: int = 1, timeout_s: float = 20.0) -> str:
        """The bot's words in the thread once it has given that many whole answers."""
        await self.rest(lambda: len(self._whole(root)) >= times, timeout_s)
        return self.text(root)

    async def rest(self, condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
        """Until ``condition`` holds and no turn is under way."""
        await self.playground.wait_for(condition, timeout_s)
        async with asyncio.timeout(timeout_s):
            while self.application.dispatcher.conversations:
                await asyncio.sleep(0.005)

    def calls(self, method: str) -> int:
        return len(self.playground.calls.of(method))

    def _whole(self, root: Message) -> list[Message]:
        return [m for m in self.answers(root) if m.stream is None or m.stream.state != "in_progress"]


@asynccontextmanager
async def running(
    playground: Playground, settings: Settings, provider: ScriptedProvider, clock: Clock | None = None
) -> AsyncGenerator[Bot]:
    """The bot, with ``provider`` for its model, until the context ends."""
    async with build(settings, models=OneModel(provider), clock=clock) as application, application.serving() as port:
        await application.connected()
        if settings.slack.mode == "http":
            await playground.delivery.use_http(f"http://127.0.0.1:{port}{EVENTS_PATH}")
        yield Bot(playground, application, provider, settings.slack.mode)


UNTAUGHT = {"SWITCHBOARD_MEMORY__MODE": "tool"}
"""Scripted models answer people; what looks at finished turns would take their lines."""
SETTINGS = {
    mode: load(environ={"SWITCHBOARD_SLACK__MODE": mode, **UNTAUGHT}, playground=True) for mode in ("socket", "http")
}


STATES = TemporaryDirectory(prefix="switchboard-e2e-")


@pytest.fixture(scope="session", autouse=True)
def _migrated(_migrated_file: Path) -> None:
    """Migrating takes as long as all else that a bot does at its start, so all begin with a copy."""
    shutil.copy(_migrated_file, STATES.name)


def with_own_state(settings: Settings) -> Settings:
    """For one bot and those that come after it: every call names a state database of its own, which is empty."""
    folder = Path(STATES.name) / uuid4().hex
    folder.mkdir()
    shutil.copy(Path(STATES.name) / FILE_NAME, folder)
    return with_state(settings, folder)


def settings_of(playground: Playground, mode: str) -> Settings:
    return with_own_state(playing(SETTINGS[mode], playground))


def demo_models(settings: Settings) -> Catalogue:
    """The demo model without the pauses between its words, which nobody watches here."""
    return Catalogue(provider_specs(settings), connect_s=1, idle_s=1, offline_pause_s=0)


def hasty(settings: Settings) -> Settings:
    """Of a bot that is told to stop while a turn goes on that has no end: it is waited for no longer than it takes."""
    return settings.model_copy(update={"limits": settings.limits.model_copy(update={"drain_s": 0.2})})


SOCKET = pytest.param("socket", marks=pytest.mark.unfollowed)
"""The same test goes through the same lines over HTTP, and those of a bot on a socket are what others have."""


@pytest.fixture(params=[SOCKET, "http"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def playground() -> AsyncIterator[Playground]:
    times = AckTimes(timeout_s=2.0, retry_after_s=(0.0, 0.2, 0.2))
    async with open_playground(with_page=False, enforce_rates=False, times=times) as playground:
        yield playground


@pytest.fixture
async def bot(playground: Playground, mode: str) -> AsyncIterator[Bot]:
    """A bot whose model answers “Hello there.” in two pieces until a test gives it another script."""
    async with running(playground, settings_of(playground, mode), ScriptedProvider(["Hello ", "there."])) as bot:
        yield bot
