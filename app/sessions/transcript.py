"""What was said in a session, as it is kept."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class Kind(StrEnum):
    """Where a line of the transcript comes from."""

    SAID = "said"
    """To the bot, or by it."""
    OBSERVED = "observed"
    """Said by others in the thread, read along."""
    SUMMARY = "summary"
    """Stands for what was compressed."""


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One line. Lines of a session are ordered by their ``id``, which the store gives."""

    role: Literal["user", "assistant"]
    content: str
    at: datetime
    kind: Kind = Kind.SAID
    author: str | None = None
    """The display name, for people."""
    user_id: str | None = None
    position: str | None = None
    """The platform's name for the message, where it has one."""
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Rewound:
    """What going back took away."""

    turns: int
    messages: int
    target_text: str | None = None
    """What the person had said in the earliest turn that is gone."""


@dataclass(frozen=True, slots=True)
class Found:
    """A line that a search found."""

    session_id: str
    message: TranscriptMessage


@dataclass(frozen=True, slots=True)
class PastSession:
    """One incarnation of a conversation, for a list."""

    session_id: str
    session_key: str
    title: str | None
    created_at: datetime
    last_active_at: datetime
    ended_at: datetime | None = None
    opening: str = ""
    """The first thing a person said in it, cut short."""
