"""Models that cost nothing, so that a measurement shows the bot alone."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage

ANSWER = "This is the whole answer."
HELD_S = 90.0
"""The longest a held call waits, so that nothing hangs when nobody lets it go."""


@dataclass(slots=True)
class Hold:
    """Calls in which the model thinks until it is let go; ``running`` says how many do."""

    is_closed: bool
    running: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)

    def let_go(self) -> None:
        self._open.set()

    async def pass_through(self) -> None:
        """Returns at once when nothing is held. Raises ``TimeoutError`` after ``HELD_S``."""
        if not self.is_closed:
            return
        self.running += 1
        try:
            async with asyncio.timeout(HELD_S):
                await self._open.wait()
        finally:
            self.running -= 1


@dataclass(frozen=True, slots=True)
class StubProvider:
    """Implements ``ModelProvider``: one piece of text and the end, as soon as ``hold`` lets it through."""

    hold: Hold

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:  # noqa: ARG002 - the port's signature
        await self.hold.pass_through()
        yield TextDelta(ANSWER)
        yield Completed(StopReason.END, Usage())

    async def aclose(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class StubModel:
    """A model, and the catalogue that knows no other."""

    provider: StubProvider
    model: str = "stub"

    def resolve(self, reference: str) -> "StubModel":  # noqa: ARG002 - every name means this one
        return self
