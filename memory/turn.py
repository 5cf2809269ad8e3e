"""A finished turn as the write path sees it: plain values that can be written down and looked at by a later process."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant"]
Source = Literal["said", "file", "web", "tool"]
"""Where words come from: spoken by the author of the line, or shown by a file, a web page or a tool's result."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a conversation."""

    role: Role
    text: str
    at: datetime
    """Aware; with the offset of whoever wrote it where that is known, so that "yesterday" can be told."""
    author: str | None = None
    """The display name, for people."""
    user_id: str | None = None
    """Namespaced by the platform."""
    source: Source = "said"

    @property
    def is_quoted(self) -> bool:
        """Nobody of the conversation stands for these words."""
        return self.source != "said"


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A turn whose answer has been delivered, and whose memory it may become."""

    session_key: str
    thread_key: str
    run_id: str
    started_at: datetime
    ended_at: datetime
    lines: tuple[Line, ...]
    """What was said in this turn, oldest first: by people, by the bot, and what it was shown."""
    organization: str | None = None
    """``None`` when the one who asked may not reach the organisation's memory."""
    user_id: str | None = None
    """The one who asked."""
    user_name: str | None = None
    channel_id: str | None = None
    visibility: str = "unknown"
    """Of the channel: public, private, dm, machine; anything else counts as unknown."""
    repo: str | None = None
    """``owner/name``, when the turn worked in one."""
    agent: str | None = None
    model: str | None = None
    """``<provider>/<model>`` that answered, for an extraction that has no model of its own."""
    recalled_ids: tuple[str, ...] = ()
    """The records that went before the answer."""
    tool_calls: int = 0
    prior_turns: int = 0
    """How many turns the thread had before."""
    is_command: bool = False
    is_answered: bool = True
    """Whether there is an answer that is neither a refusal nor a failure nor cut off at once."""


def heard_since(turn: FinishedTurn, at: datetime) -> FinishedTurn:
    """``turn`` with what was said after ``at`` alone."""
    return replace(turn, lines=tuple(line for line in turn.lines if line.at > at))
