"""The two bots with a model that takes its time, each in a process of its own."""

import asyncio
import os
import resource
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.logs import configure
from benchmarks.bare_bolt import bare_bolt
from benchmarks.bots import Side, bot_environment
from benchmarks.children import Pipe, answer_questions
from benchmarks.soaking_accounts import answer_text, asked_number
from config.loading import load
from memory.service.process import run, settle

MODEL_S = 2.0
_BYTES = 1 if sys.platform == "darwin" else 1024
"""What ``ru_maxrss`` counts in."""


@dataclass(frozen=True, slots=True)
class SlowModel:
    """A model, its provider, and the catalogue that knows no other: thinks for ``MODEL_S`` and answers in one piece."""

    model: str = "slow"

    @property
    def provider(self) -> "SlowModel":
        return self

    def resolve(self, reference: str) -> "SlowModel":  # noqa: ARG002 - every name means this one
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        await asyncio.sleep(MODEL_S)
        yield TextDelta(answer_text(asked_number(request.messages[-1].text) or 0))
        yield Completed(StopReason.END, Usage(input_tokens=3, output_tokens=5))

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class PeakMemory:
    """Bytes the process has had resident at its most."""

    async def ask(self, _host: object) -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES


def slow_bot(pipe: Pipe, side: Side, api_url: str) -> None:
    """The main function of a bot's process. Its logs go nowhere, its records into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="switchboard-bench-") as folder, Path(os.devnull).open("w") as nowhere:
        os.chdir(folder)
        configure("json", "info", stream=nowhere)
        start = asyncio.run if side is Side.BARE else run
        start(_serve(pipe, side, api_url))


async def _serve(pipe: Pipe, side: Side, api_url: str) -> None:
    async with _bare(api_url) if side is Side.BARE else _switchboard(api_url):
        await answer_questions(pipe, None, greeting=None)


@asynccontextmanager
async def _bare(api_url: str) -> AsyncGenerator[None]:
    async def think() -> None:
        await asyncio.sleep(MODEL_S)

    async with bare_bolt(api_url, "socket", think):
        yield


@asynccontextmanager
async def _switchboard(api_url: str) -> AsyncGenerator[None]:
    """Everything as in production but the model, with places for everybody."""
    from app.bootstrap import build

    settings = load(
        environ={
            **bot_environment(api_url, "socket", "offline/demo"),
            "SWITCHBOARD_STATE__URL": "sqlite:///state.db",
            "SWITCHBOARD_LIMITS__CONCURRENT_TURNS": "5000",
        }
    )
    async with build(settings, models=SlowModel()) as application, application.serving():
        await application.connected()
        settle()
        yield
