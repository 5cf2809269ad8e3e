"""Asks a model for a summary: one call with a deadline, accounted for whatever comes of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import structlog

from app.agents.asking import WholeAnswer
from app.agents.pricing import Price, cost
from app.agents.providers.base import ModelProvider, ModelRequest, StopReason
from app.clock import Clock
from app.errors import ModelError, PromptTooLongError
from app.sessions.accounting import account
from app.sessions.entry import SessionId, SessionKey
from app.sessions.usage import Run, Task, Usage

SUMMARY_FAILED = "summary_failed"

_log = structlog.stdlib.get_logger(__name__)


class Model(Protocol):
    """A model that can be called: who to ask and by which name."""

    @property
    def provider(self) -> ModelProvider: ...

    @property
    def model(self) -> str: ...


class Models(Protocol):
    def resolve(self, reference: str) -> Model:
        """The model behind ``<provider>/<model>``. Raises ``ConfigurationError``."""
        ...


@dataclass(frozen=True, slots=True)
class Conversation:
    """Which one, with which model, and on whose behalf."""

    session_key: SessionKey
    session_id: SessionId
    user_id: str
    channel_id: str
    reference: str
    """The turn's or command's own, for the account."""
    model: str
    """``<provider>/<model>``."""
    window: int
    """The model's, in tokens."""


@dataclass(frozen=True, slots=True)
class NoSummary:
    """The model did not give one."""

    error: str
    was_too_long: bool = False


class Summariser:
    """``prices`` are by model reference; ``timeout_s`` bounds the whole call."""

    def __init__(
        self, models: Models, usage: Usage, clock: Clock, *, prices: Mapping[str, Price], timeout_s: float
    ) -> None:
        self._models = models
        self._usage = usage
        self._clock = clock
        self._prices = prices
        self._timeout_s = timeout_s

    async def summarise(self, model: Model, request: ModelRequest, where: Conversation) -> str | NoSummary:
        """What the model wrote, never empty. Raises ``StateError``'s tree when the call cannot be accounted for."""
        started_at = self._clock.now()
        call = WholeAnswer()
        try:
            async with asyncio.timeout(self._timeout_s):
                await call.make(model.provider, request)
            found = _summary(call)
        except asyncio.CancelledError:
            # Whoever ends the call waits for that, and is told of nothing that could take the end's place.
            await account(self._usage, self._run(where, "stopped", call, started_at))
            raise
        except (ModelError, TimeoutError) as fault:
            found = NoSummary(type(fault).__name__, was_too_long=isinstance(fault, PromptTooLongError))
        if isinstance(found, NoSummary):
            _log.warning(SUMMARY_FAILED, error=found.error, model=where.model)
        outcome = "failed" if isinstance(found, NoSummary) else "summarised"
        await self._usage.record(self._run(where, outcome, call, started_at))
        return found

    def resolve(self, reference: str) -> Model:
        """Raises ``ConfigurationError``."""
        return self._models.resolve(reference)

    def _run(self, where: Conversation, outcome: str, call: WholeAnswer, started_at: datetime) -> Run:
        tokens = call.tokens()
        return Run(
            reference=where.reference,
            session_key=where.session_key,
            session_id=where.session_id,
            user_id=where.user_id,
            channel_id=where.channel_id,
            outcome=outcome,
            tokens=tokens,
            cost=cost(tokens, self._prices.get(where.model)),
            started_at=started_at,
            ended_at=self._clock.now(),
            calls=call.calls,
            task=Task.COMPRESSION,
            model=where.model,
        )


def _summary(call: WholeAnswer) -> str | NoSummary:
    """A summary that was cut at its limit is one; what a safety system ended is none."""
    if call.stop_reason is StopReason.REFUSAL:
        return NoSummary("Refusal")
    return call.text or NoSummary("NoText")
