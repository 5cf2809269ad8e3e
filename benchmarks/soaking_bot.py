"""The bot of a soak in a process of its own: the real one over a real state database, with a model that echoes.

``python -m benchmarks.soaking_bot`` takes its settings from the environment, logs to stderr, and ends in order on
SIGTERM or when its standard input is closed, so that it does not outlive whoever started it.
"""

import asyncio
import random
import signal
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.bootstrap import build
from app.logs import configure
from benchmarks.soaking_accounts import answer_text, asked_number
from config.loading import load
from memory.service.process import run, settle

THINKS_S = (0.02, 0.4)
PAUSE_S = (0.05, 0.3)
"""Between the pieces of a long answer."""
LONG, VERY_LONG = 0.1, 0.01
"""Shares of the answers."""
PIECES, VERY_LONG_PIECES = 8, 30
FILLING = "These words only make the answer longer, so that it is shown while it grows. " * 5
"""A very long answer needs more than one of Slack's messages."""


@dataclass(frozen=True, slots=True)
class EchoModel:
    """A model, its provider, and the catalogue that knows no other: says the number it is asked for last."""

    chance: random.Random = field(default_factory=random.Random)
    model: str = "echo"

    @property
    def provider(self) -> "EchoModel":
        return self

    def resolve(self, reference: str) -> "EchoModel":  # noqa: ARG002 - every name means this one
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        number = asked_number(request.messages[-1].text) or 0
        await asyncio.sleep(self.chance.uniform(*THINKS_S))
        pieces = self._pieces()
        text = answer_text(number, FILLING * pieces)
        step = len(text) // max(1, pieces) + 1
        for start in range(0, len(text), step):
            yield TextDelta(text[start : start + step])
            if pieces:
                await asyncio.sleep(self.chance.uniform(*PAUSE_S))
        yield Completed(StopReason.END, Usage(input_tokens=3, output_tokens=5))

    async def aclose(self) -> None:
        """Nothing is open."""

    def _pieces(self) -> int:
        """How many more than one; 0 for an answer that comes at once."""
        drawn = self.chance.random()
        return VERY_LONG_PIECES if drawn < VERY_LONG else PIECES if drawn < LONG else 0


async def main() -> None:
    configure("json", "info", stream=sys.stderr)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGINT, lambda: None)  # Ctrl-C reaches every process; the soak says what it means
    loop.add_reader(sys.stdin, stop.set)
    async with build(load(), models=EchoModel()) as application:
        settle()
        await application.serve(stop, _nobody_waits)


async def _nobody_waits(_port: int) -> None:
    """The playground sees the connection."""


if __name__ == "__main__":
    run(main())
