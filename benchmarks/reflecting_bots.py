"""A bot whose extracting model is slow, in a process of its own, and what a benchmark may ask it."""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.agents.providers.offline_extraction import extraction_answer, is_extraction
from app.logs import configure
from app.playground.seed import ALICE, BOT_USER, GENERAL
from benchmarks.bots import bot_environment
from benchmarks.children import Pipe, answer_questions
from benchmarks.stub_models import ANSWER
from benchmarks.workspaces import Desk
from config.loading import load
from memory.service.process import run, settle

EXTRACTION_S = 5.0


@dataclass(slots=True)
class SlowLearner:
    """Implements ``ModelProvider``, and the catalogue that knows it alone: answers at once, extracts slowly."""

    model: str = "stub"
    begun: int = 0
    """Extractions."""

    @property
    def provider(self) -> "SlowLearner":
        return self

    def resolve(self, reference: str) -> "SlowLearner":  # noqa: ARG002 - every name means this one
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        if is_extraction(request):
            self.begun += 1
            await asyncio.sleep(EXTRACTION_S)
            yield TextDelta(extraction_answer(request))
        else:
            yield TextDelta(ANSWER)
        yield Completed(StopReason.END, Usage())

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Extractions:
    """How many were begun so far."""

    async def ask(self, learner: SlowLearner) -> int:
        return learner.begun


@dataclass(frozen=True, slots=True)
class Taught:
    """Seconds from a mention that teaches something to the whole reply."""

    number: int
    timeout_s: float = 10.0

    async def ask(self, desk: Desk) -> float:
        text = f"<@{BOT_USER}> remember: our service {self.number} listens on port {20_000 + self.number}."
        said_at = time.monotonic()
        root = desk.playground.people.say(ALICE, GENERAL, text).ts
        # The stub's answer is one message; one that is not the whole of it spoils the measurement.
        await desk.all_answered([root], self.timeout_s)
        return desk.answered_at[root] - said_at


def learning_bot(pipe: Pipe, mode: str, api_url: str) -> None:
    """The main function of a bot's process, with ``memory.mode`` as given. Its logs are written, to nowhere."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.chdir(folder)
        configure("json", "info", stream=nowhere)
        run(_serve(pipe, mode, api_url, Path(folder)))


async def _serve(pipe: Pipe, mode: str, api_url: str, folder: Path) -> None:
    learner = SlowLearner()
    async with _switchboard(mode, api_url, folder, learner) as port:
        await answer_questions(pipe, learner, greeting=port)


@asynccontextmanager
async def _switchboard(mode: str, api_url: str, folder: Path, learner: SlowLearner) -> AsyncGenerator[int]:
    """Everything as in production but the model; what is still to be extracted at the end is given up at once."""
    from app.bootstrap import build
    from app.play import with_state

    environ = {
        **bot_environment(api_url, "socket", "offline/demo"),
        "SWITCHBOARD_MEMORY__ENABLED": "true",
        "SWITCHBOARD_MEMORY__STORE": "inprocess",
        "SWITCHBOARD_MEMORY__MODE": mode,
        "SWITCHBOARD_LIMITS__DRAIN_S": "0.1",
    }
    settings = with_state(load(environ=environ), folder)
    async with build(settings, models=learner) as application, application.serving() as port:
        await application.connected()
        settle()
        yield port
