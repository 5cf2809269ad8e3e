"""The bot's models as memory's extractor: one call on behalf of one turn, accounted for whatever comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.agents.asking import WholeAnswer
from app.agents.pricing import Price, cost
from app.agents.providers.base import ModelRequest, StopReason, Turn
from app.clock import Clock
from app.errors import ConfigurationError, ModelError
from app.sessions.accounting import account
from app.sessions.entry import SessionId, SessionKey
from app.sessions.summariser import Models
from app.sessions.usage import Run, Task, Usage
from memory.extracted import Answer
from memory.extraction import Prompt
from memory.reflector import ExtractionError
from memory.turn import FinishedTurn

OUTPUT_TOKENS = 2_000
"""Enough for five facts and a summary; an answer that is longer is of no use."""


@dataclass(frozen=True, slots=True)
class Extracting:
    """What every extraction of the bot works with."""

    models: Models
    reference: str
    """``<provider>/<model>``."""
    usage: Usage
    clock: Clock
    prices: Mapping[str, Price]


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """Implements ``memory.reflector.Extractor`` for one turn."""

    extracting: Extracting
    turn: FinishedTurn

    async def __call__(self, prompt: Prompt) -> Answer:
        extracting, call = self.extracting, WholeAnswer()
        started_at = extracting.clock.now()
        outcome = "failed"
        try:
            model = extracting.models.resolve(extracting.reference)
            request = ModelRequest(model.model, (prompt.system,), (Turn("user", prompt.text),), OUTPUT_TOKENS)
            await call.make(model.provider, request)
            outcome = "extracted"
        except (ModelError, ConfigurationError) as fault:
            raise ExtractionError(type(fault).__name__) from fault
        finally:
            await self._account(call, outcome, started_at)
        if call.stop_reason is StopReason.REFUSAL:
            raise ExtractionError("Refusal")
        return Answer(call.text, is_cut=call.stop_reason is StopReason.LENGTH)

    async def _account(self, call: WholeAnswer, outcome: str, started_at: datetime) -> None:
        """A call that cannot be accounted for has been made all the same."""
        extracting, turn, tokens = self.extracting, self.turn, call.tokens()
        run = Run(
            reference=turn.run_id,
            session_key=SessionKey(turn.session_key),
            session_id=SessionId(""),
            user_id=turn.user_id or "",
            channel_id=turn.channel_id or "",
            outcome=outcome,
            tokens=tokens,
            cost=cost(tokens, extracting.prices.get(extracting.reference)),
            started_at=started_at,
            ended_at=extracting.clock.now(),
            calls=call.calls,
            task=Task.REFLECTION,
            model=extracting.reference,
        )
        await account(extracting.usage, run)
