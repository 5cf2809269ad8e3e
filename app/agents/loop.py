"""Runs one turn of an agent: asks the model, passes its words on as they come, tries again where that is harmless."""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

import structlog

from app.agents.metering import Meter
from app.agents.providers.base import Completed, Counted, ModelProvider, ModelRequest, StopReason, TextDelta, Usage
from app.agents.turn import GiveUp, Retry, after_failure, closing_note
from app.channel import Reply
from app.clock import Clock
from app.errors import ModelError, ModelUnreachableError

MODEL_CALL_FAILED = "model_call_failed"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TurnResult:
    text: str
    stop_reason: StopReason
    usage: Usage
    """Of the call that brought the answer."""
    first_text_s: float | None
    """From the start of the first call; ``None`` when there was no text."""


class Boundary(Protocol):
    """The moments of a turn at which what was said meanwhile can still go into it."""

    async def before_call(self, request: ModelRequest) -> ModelRequest:
        """The request with whatever came in; nothing more is taken until ``between_calls``."""
        ...

    def between_calls(self) -> None:
        """Another call follows."""
        ...


class AgentLoop:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def run(
        self,
        provider: ModelProvider,
        request: ModelRequest,
        reply: Reply,
        meter: Meter,
        boundary: Boundary | None = None,
    ) -> TurnResult:
        """The whole answer, which is also in ``reply``. Raises ``ModelError`` when there is none to be had.

        With text already in ``reply`` the error still rises; what is shown stays shown. What all calls took, those that
        failed and the one that is cancelled included, is in ``meter``.
        """
        call = _Call(self._clock, reply, meter)
        attempt = 1
        while True:
            try:
                if boundary is not None:
                    request = await boundary.before_call(request)
                done = await call.make(provider, request)
            except ModelError as fault:
                decision = after_failure(fault, attempt, has_text=bool(call.text))
                _log.warning(MODEL_CALL_FAILED, error=type(fault).__name__, attempt=attempt, model=request.model)
                if isinstance(decision, GiveUp):
                    raise
                if boundary is not None:
                    boundary.between_calls()
                await self._wait(decision)
                attempt += 1
            else:
                return call.result(done)

    async def _wait(self, decision: Retry) -> None:
        await self._clock.sleep(decision.after_s)


class _Call:
    """What has come of the model so far, over all attempts."""

    def __init__(self, clock: Clock, reply: Reply, meter: Meter) -> None:
        self._clock = clock
        self._reply = reply
        self._meter = meter
        self._started = clock.monotonic()
        self._first_text_s: float | None = None
        self.text = ""

    async def make(self, provider: ModelProvider, request: ModelRequest) -> Completed:
        self._meter.began()
        try:
            return await self._made(provider, request)
        except ModelError as fault:
            self._meter.failed(fault, has_text=bool(self.text))
            raise

    async def _made(self, provider: ModelProvider, request: ModelRequest) -> Completed:
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                match event:
                    case Counted(usage):
                        self._meter.counted(usage)
                    case Completed():
                        self._meter.completed(event.usage)
                        return event
                    case TextDelta(text):
                        self._pass_on(text)
        raise ModelUnreachableError("the stream ended without an end")

    def result(self, done: Completed) -> TurnResult:
        note = closing_note(done.stop_reason, has_text=bool(self.text.strip()))
        if note:
            self._reply.write(f"\n\n{note}" if self.text.strip() else note)
        return TurnResult(self.text, done.stop_reason, done.usage, self._first_text_s)

    def _pass_on(self, text: str) -> None:
        if self._first_text_s is None:
            self._first_text_s = self._clock.monotonic() - self._started
        self.text += text
        self._reply.write(text)
