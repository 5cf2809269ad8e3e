"""What is told of conversations: their sessions, how they stand, what they took, and what became of a change."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from commands.preferences import Name


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens by kind; ``input`` counts what came from no cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    is_partial: bool = field(default=False, kw_only=True)
    """There were more: some calls ended before all of their tokens were counted."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What turns took."""

    tokens: TokenCounts = TokenCounts()
    cost_microusd: int | None = None
    """Millionths of a US dollar; ``None`` when a price is missing, which is not zero."""
    cost_status: str = "unknown"
    """``actual``, ``estimated``, ``at_least``, ``included`` or ``unknown``."""
    turns: int = 0
    compressions: int = 0
    calls: int = 0
    """Of models, for whatever: also those that looked for what to remember."""


class Whose(StrEnum):
    """Whose turns are summed up."""

    CONVERSATION = "conversation"
    ME = "me"
    """The caller's own, anywhere."""
    CHANNEL = "channel"
    """All in the channel; for a program, which sees nothing of others, its own there."""


@dataclass(frozen=True, slots=True)
class Used:
    """A sum, and each model's part of it: most known cost first."""

    total: Spent
    by_model: tuple[tuple[str, Spent], ...] = ()
    """``<provider>/<model>`` and what it took; turns and compressions are not told apart here."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One incarnation of a conversation, for a list."""

    session_id: str
    created_at: datetime
    last_active_at: datetime
    title: str | None = None
    opening: str = ""
    """The first thing a person said in it."""
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class Recap:
    """What a conversation was about last: people's words, and the bot's, each one line that is cut short."""

    question: str
    answer: str
    """How it begins; empty where there was none."""


@dataclass(frozen=True, slots=True)
class ConversationStatus:
    """How a conversation stands."""

    session: SessionSummary
    agent: str
    model: str
    spent: Spent
    context_tokens: int
    context_limit_tokens: int | None
    """``None`` where the model's window is not known."""
    is_running: bool
    waiting: int
    """Messages in line behind what runs."""
    recap: Recap | None = None
    """``None`` for those who have not spoken in it, and where there is nothing to tell."""
    repo: str | None = None
    """The repository it is about."""


@dataclass(frozen=True, slots=True)
class Restarted:
    """What a reset did."""

    session: SessionSummary
    stopped: int
    """Turns that were under way."""
    dropped: int
    """Messages that waited and are no longer answered; each of them was told so."""
    cleared: tuple[Name, ...] = ()
    """What was set for the conversation and is no more."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a stop did."""

    turns: int
    is_told: bool = False
    """Whether each of them says so itself, below what it has written, in the very thread of a chat message."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What going back took out of sight; ``turns`` is 0 when there was nothing."""

    turns: int
    messages: int
    opening: str
    """What the person had said in the earliest turn that is gone."""


@dataclass(frozen=True, slots=True)
class Compressing:
    """How a conversation is to be compressed."""

    focus: str | None = None
    """What the summary must keep."""
    keep_turns: int | None = None
    """How many of the last turns stay as they are and all else is summarised; else the first and last messages stay."""


@dataclass(frozen=True, slots=True)
class Compressible:
    """What compressing would do; tokens are estimates."""

    messages: int = 0
    """Those that a summary would stand for; 0 when there is too little to compress."""
    tokens: int = 0
    kept_messages: int = 0
    kept_tokens: int = 0


class Instead(StrEnum):
    """What stands for the messages that a conversation is compressed by."""

    SUMMARY = "summary"
    BEGINNINGS = "beginnings"
    """How each of them begins, the newest ones if there is no room for all: no model could summarise them."""
    NOTHING = "nothing"
    """Beside what stays there is no room for a summary."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """What compressing did; tokens are estimates."""

    messages: int = 0
    """Those that are gone; 0 when there was too little to compress."""
    tokens_before: int = 0
    tokens_after: int = 0
    kept: int = 0
    """Messages that stay as they were."""
    instead: Instead = Instead.SUMMARY
    fits: bool = True
    """Whether the model's window is estimated to hold what is left."""
