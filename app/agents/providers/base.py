"""The port every model provider is reached through, and the values that cross it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

Role = Literal["user", "assistant"]
Effort = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the conversation a model is shown."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. ``messages`` is never empty, starts and ends with a user turn, and roles alternate."""

    model: str
    """The provider's own model id, without the provider's name."""
    system: tuple[str, ...]
    """Parts of the system prompt, most stable last part included; adapters may cache up to the end of it."""
    messages: tuple[Turn, ...]
    max_output_tokens: int
    effort: Effort | None = None


class StopReason(StrEnum):
    """Why a model stopped."""

    END = "end"
    LENGTH = "length"
    """The answer hit ``max_output_tokens`` or the context window and is cut."""
    REFUSAL = "refusal"
    """The provider's safety system ended the answer."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. ``input_tokens`` counts only what was neither read from nor written to a cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Counted:
    """What the provider has counted of a call so far, in place of what it said before; there is more to come."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Completed:
    """The last event of every call that did not raise."""

    stop_reason: StopReason
    usage: Usage


ModelEvent = TextDelta | Counted | Completed


class ModelProvider(Protocol):
    """One configured provider. Adapters: anthropic, openai (and everything compatible), offline.

    Every adapter maps its vendor's errors to ``ModelError``'s tree in ``app.errors`` with ``from exc``, makes no
    retry of its own, and bounds the wait for the connection and for each next event.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Any number of ``TextDelta`` in order, then exactly one ``Completed``.

        ``Counted`` comes between them as soon as the provider tells a count, because nobody hears the end of a call
        that is stopped. Raises ``ModelError``, before or between deltas. Closing the iterator ends the call at the
        provider.
        """
        ...

    async def aclose(self) -> None: ...
