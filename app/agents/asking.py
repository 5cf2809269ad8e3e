"""One call of a model whose answer is wanted as a whole."""

from contextlib import aclosing

from app.agents.metering import Meter, Taken
from app.agents.pricing import tokens_of
from app.agents.providers.base import Completed, Counted, ModelProvider, ModelRequest, StopReason, TextDelta
from app.errors import ModelError, ModelUnreachableError
from app.sessions.entry import Tokens


class WholeAnswer:
    """What one call has brought so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._end: Completed | None = None
        self._meter = Meter()

    async def make(self, provider: ModelProvider, request: ModelRequest) -> None:
        """Returns once the model has ended. Raises ``ModelError``; what it said until then is kept."""
        self._meter.began()
        try:
            await self._make(provider, request)
        except ModelError as fault:
            self._meter.failed(fault, has_text=bool(self._pieces))
            raise

    async def _make(self, provider: ModelProvider, request: ModelRequest) -> None:
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                match event:
                    case Counted(usage):
                        self._meter.counted(usage)
                    case Completed():
                        self._meter.completed(event.usage)
                        self._end = event
                        return
                    case TextDelta(text):
                        self._pieces.append(text)
        raise ModelUnreachableError("the stream ended without an end")

    @property
    def text(self) -> str:
        return "".join(self._pieces).strip()

    @property
    def stop_reason(self) -> StopReason | None:
        """``None`` while it has not ended."""
        return None if self._end is None else self._end.stop_reason

    @property
    def calls(self) -> int:
        """None where it was turned away, or not made at all."""
        return 0 if self._meter.taken is None else self._meter.taken.calls

    def tokens(self) -> Tokens:
        """As many as were counted, of a call that did not end, too."""
        return tokens_of(self._meter.taken or Taken())
