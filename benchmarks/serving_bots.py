"""A bot that remembers in a memory service and one that remembers nothing, each in a process of its own."""

import os
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.logs import configure
from benchmarks.bots import bot_environment
from benchmarks.children import Pipe, answer_questions
from benchmarks.serving_services import TOKEN
from benchmarks.stub_models import ANSWER
from config.loading import load
from memory.render import FENCE_OPEN
from memory.service.process import run, settle


@dataclass(slots=True)
class AttentiveModel:
    """Implements ``ModelProvider``, and the catalogue that knows it alone: answers at once, sees what it is told."""

    model: str = "stub"
    calls: int = 0
    with_memory: int = 0

    @property
    def provider(self) -> "AttentiveModel":
        return self

    def resolve(self, reference: str) -> "AttentiveModel":  # noqa: ARG002 - every name means this one
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.calls += 1
        self.with_memory += any(FENCE_OPEN in part for part in request.system)
        yield TextDelta(ANSWER)
        yield Completed(StopReason.END, Usage())

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class ShareWithMemory:
    """Of the model calls so far."""

    async def ask(self, model: AttentiveModel) -> float:
        return model.with_memory / max(1, model.calls)


def remembering_bot(pipe: Pipe, api_url: str, service_port: int | None) -> None:
    """The main function of a bot's process; without ``service_port`` memory is off. Its logs go nowhere."""
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.chdir(folder)
        configure("json", "info", stream=nowhere)
        run(_serve(pipe, {**bot_environment(api_url, "socket", "offline/demo"), **_memory(service_port)}, Path(folder)))


def _memory(service_port: int | None) -> Mapping[str, str]:
    if service_port is None:
        return {}
    return {
        "MEMORY_TOKEN": TOKEN,
        "SWITCHBOARD_MEMORY__ENABLED": "true",
        "SWITCHBOARD_MEMORY__MODE": "tool",
        "SWITCHBOARD_MEMORY__STORE": "remote",
        "SWITCHBOARD_MEMORY__WORKER__BASE_URL": f"http://127.0.0.1:{service_port}",
    }


async def _serve(pipe: Pipe, environ: Mapping[str, str], folder: Path) -> None:
    model = AttentiveModel()
    async with _switchboard(environ, folder, model) as port:
        await answer_questions(pipe, model, greeting=port)


@asynccontextmanager
async def _switchboard(environ: Mapping[str, str], folder: Path, model: AttentiveModel) -> AsyncGenerator[int]:
    """Everything as in production but the model."""
    from app.bootstrap import build
    from app.play import with_state

    settings = with_state(load(environ=environ), folder)
    async with build(settings, models=model) as application, application.serving() as port:
        await application.connected()
        settle()
        yield port
