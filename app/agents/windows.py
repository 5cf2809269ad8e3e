"""How much a model can read at once, and how much of that a conversation takes up."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.providers.base import Usage


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows in tokens, by model reference; ``default`` for a model of which nothing is known."""

    known: Mapping[str, int]
    default: int

    def of(self, reference: str) -> int:
        return self.known.get(reference, self.default)


@dataclass(frozen=True, slots=True)
class ContextUsage:
    """What a conversation's last prompt took of its model's window."""

    prompt_tokens: int
    window: int

    @property
    def share(self) -> float:
        return self.prompt_tokens / self.window


def prompt_tokens(last_call: Usage) -> int:
    """The length of the last prompt as the provider counted it, whichever way its tokens were paid for.

    Of the last call alone: a turn of several calls has read its beginning several times. 0: the provider did not say.
    """
    kinds = (last_call.input_tokens, last_call.cache_read_tokens, last_call.cache_write_tokens)
    return sum(max(0, count) for count in kinds)


def described(usage: ContextUsage) -> str:
    """``84,120 of 200,000 tokens (42 %)``."""
    if usage.prompt_tokens == 0:
        return f"unknown (of {usage.window:,} tokens)"
    return f"{usage.prompt_tokens:,} of {usage.window:,} tokens ({usage.share:.0%})".replace("%)", " %)")
