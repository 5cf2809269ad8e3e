"""One call of a model whose answer is wanted as a whole."""

from contextlib import aclosing

from app.agents.pricing import tokens_of
from app.agents.providers.base import Completed, ModelProvider, ModelRequest, StopReason, Usage
from app.errors import ModelUnreachableError
from app.sessions.entry import Tokens


class WholeAnswer:
    """What one call has brought so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._end: Completed | None = None

    async def make(self, provider: ModelProvider, request: ModelRequest) -> None:
        """Returns once the model has ended. Raises ``ModelError``; what it said until then is kept."""
        async with aclosing(provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    self._end = event
                    return
                self._pieces.append(event.text)
        raise ModelUnreachableError("the stream ended without an end")

    @property
    def text(self) -> str:
        return "".join(self._pieces).strip()

    @property
    def stop_reason(self) -> StopReason | None:
        """``None`` while it has not ended."""
        return None if self._end is None else self._end.stop_reason

    def tokens(self) -> Tokens:
        """None at all when the call did not end: nobody knows how many it took."""
        return tokens_of(self._end.usage if self._end is not None else Usage())
