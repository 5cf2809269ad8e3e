"""The two bots that are compared, each in a process of its own, and what a benchmark may ask them."""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from app.logs import configure
from app.playground.seed import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from benchmarks.bare_bolt import bare_bolt
from benchmarks.children import Pipe, answer_questions
from benchmarks.stub_models import Hold, StubModel, StubProvider
from config.loading import load
from memory.service.process import run, settle


class Side(StrEnum):
    BARE = "bare Bolt"
    OURS = "Switchboard"


@dataclass(frozen=True, slots=True)
class Bot:
    """What a bot's process answers questions with."""

    hold: Hold


@dataclass(frozen=True, slots=True)
class CpuTime:
    """Seconds of CPU the process has used."""

    async def ask(self, _host: object) -> float:
        return time.process_time()


@dataclass(frozen=True, slots=True)
class RunningCalls:
    """How many model calls are under way."""

    async def ask(self, bot: Bot) -> int:
        return bot.hold.running


@dataclass(frozen=True, slots=True)
class LetGo:
    """Let every model call answer, those to come as well."""

    async def ask(self, bot: Bot) -> None:
        bot.hold.let_go()


def bot_environment(api_url: str, mode: str, model: str) -> Mapping[str, str]:
    """An operator's settings for the real bot against a playground."""
    return {
        "SLACK_API_URL": api_url,
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_APP_TOKEN": APP_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "SWITCHBOARD_ORGANIZATION": "benchmarks",
        "SWITCHBOARD_DEFAULTS__MODEL": model,
        "SWITCHBOARD_HTTP__PORT": "0",
        "SWITCHBOARD_SLACK__MODE": mode,
    }


def bot(pipe: Pipe, side: Side, api_url: str, mode: str, *, is_held: bool) -> None:
    """The main function of a bot's process; its greeting is its HTTP port.

    Its logs are written, to nowhere; its files, if it keeps any, go into a folder that is gone afterwards.
    """
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.chdir(folder)
        configure("json", "info", stream=nowhere)
        start = asyncio.run if side is Side.BARE else run
        start(_serve(pipe, side, api_url, mode, Hold(is_held)))


async def _serve(pipe: Pipe, side: Side, api_url: str, mode: str, hold: Hold) -> None:
    running = bare_bolt(api_url, mode, hold.pass_through) if side is Side.BARE else _switchboard(api_url, mode, hold)
    async with running as port:
        await answer_questions(pipe, Bot(hold), greeting=port)
        hold.let_go()


@asynccontextmanager
async def _switchboard(api_url: str, mode: str, hold: Hold) -> AsyncGenerator[int]:
    """Everything as in production but the model."""
    from app.bootstrap import build
    from app.play import with_state

    environ = {**bot_environment(api_url, mode, "offline/demo"), "SWITCHBOARD_LIMITS__CONCURRENT_TURNS": "5000"}
    with TemporaryDirectory(prefix="switchboard-bench-") as folder:
        settings, models = with_state(load(environ=environ), Path(folder)), StubModel(StubProvider(hold))
        async with build(settings, models=models) as application, application.serving() as port:
            await application.connected()
            settle()
            yield port
