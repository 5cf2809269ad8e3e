"""What came of a compression, and what people are told about it."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """The transcript is changed by the first three alone."""

    SUMMARISED = "summarised"
    SHORTENED = "shortened"
    """The summary was made without a model."""
    CUT = "cut"
    """Only the first and last messages are left."""
    NOTHING = "nothing"
    """There was nothing between the first and last messages that is worth it."""
    COOLING_DOWN = "cooling_down"
    FAILED = "failed"
    """The model did not summarise; there is room for another attempt."""
    OVERTAKEN = "overtaken"
    """The conversation became another one meanwhile."""
    TOO_MUCH_KEPT = "too_much_kept"
    """The turns that were to stay leave no room for a summary."""


CHANGES = frozenset({Result.SUMMARISED, Result.SHORTENED, Result.CUT})


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts are of the active transcript; tokens are estimates."""

    result: Result
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int
    fits: bool = True
    """Whether what is left is estimated to fit into the window."""
    retry_in_s: float | None = None

    @property
    def has_changed(self) -> bool:
        return self.result in CHANGES


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a compression would do; tokens are estimates."""

    messages: int
    """Those that a summary would stand for."""
    tokens: int
    kept_messages: int
    kept_tokens: int


SENTENCES = {
    Result.SUMMARISED: "I summarised the earlier part of this conversation",
    Result.SHORTENED: (
        "The model could not summarise this conversation, so of its earlier part I only kept how each message begins"
    ),
    Result.CUT: (
        "This conversation no longer fits into the model's window, so I go on from its first and last messages alone; "
        "please repeat what else matters"
    ),
    Result.NOTHING: "There is nothing to summarise in this conversation yet.",
    Result.COOLING_DOWN: "The last attempt to summarise this conversation failed",
    Result.FAILED: "The model could not summarise this conversation. Nothing was changed; trying again may help.",
    Result.OVERTAKEN: "This conversation changed while I summarised it. Nothing was changed; please try again.",
    Result.TOO_MUCH_KEPT: "The turns that are to stay leave no room for a summary of the others; keep fewer of them.",
}
TOO_LONG = "Even so it is too long for the model: please begin a new conversation."


def told(outcome: Outcome) -> str:
    """One or two sentences for the person."""
    sentence = SENTENCES[outcome.result]
    if outcome.result is Result.COOLING_DOWN:
        return f"{sentence}; the next one is made in {max(1, round(outcome.retry_in_s or 0))} s at the earliest."
    if not outcome.has_changed:
        return sentence
    counts = f"{_messages(outcome.messages_before)} became {outcome.messages_after:,}"
    tokens = f"about {max(0, outcome.tokens_before - outcome.tokens_after):,} tokens less"
    return f"{sentence} ({counts}, {tokens}).{'' if outcome.fits else f' {TOO_LONG}'}"


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"
