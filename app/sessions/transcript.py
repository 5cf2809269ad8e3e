"""What was said in a session, as it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
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
    directives: str | None = None
    """What the message asked for about its own answer, as it is typed before a text."""
    files: int = 0
    """How many came with it; they stay with the platform."""


@dataclass(frozen=True, slots=True)
class Rewound:
    """What going back took away."""

    turns: int
    messages: int
    target_text: str | None = None
    """What the person had said in the earliest turn that is gone."""
    directives: str | None = None
    """That it was asked with; where several messages came to one turn, the last ones that counted."""
    files: int = 0
    """That came with messages of it."""


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


def last_turns(lines: Sequence[TranscriptMessage], turns: int) -> tuple[Sequence[TranscriptMessage], Rewound]:
    """The lines of the last ``turns`` turns, and what that comes to; fewer when there are no more of them.

    A turn is what people said to the bot since its last answer, what was read along before it, and the answer. Nothing
    goes back behind a summary, and what was read along after the last answer belongs to no turn yet.
    """
    starts, end = _turns(lines)
    first = starts[-turns:][:1] if turns > 0 else []
    if not first:
        return [], Rewound(0, 0)
    gone = lines[first[0] : end]
    opening = _opening(gone)
    asked = [line.directives for line in opening if line.directives]
    return gone, Rewound(
        turns=min(turns, len(starts)),
        messages=len(gone),
        target_text="\n".join(line.content for line in opening),
        directives=asked[-1] if asked else None,
        files=sum(line.files for line in opening),
    )


def turn_starts(lines: Sequence[TranscriptMessage]) -> Sequence[int]:
    """Where each turn after the last summary begins."""
    return _turns(lines)[0]


def _turns(lines: Sequence[TranscriptMessage]) -> tuple[list[int], int]:
    """Where each turn after the last summary begins, and where the last one ends."""
    starts: list[int] = []
    after_answer = end = 0
    for index, line in enumerate(lines):
        if line.kind is Kind.SUMMARY:
            starts, after_answer = [], index + 1
        elif line.kind is Kind.SAID:
            end = index + 1
            if line.role == "assistant":
                after_answer = end
            elif after_answer not in starts[-1:]:
                starts.append(after_answer)
    return starts, end


def _opening(lines: Sequence[TranscriptMessage]) -> Sequence[TranscriptMessage]:
    """What people said to the bot before its first answer."""
    return list(takewhile(lambda line: line.role == "user", (line for line in lines if line.kind is Kind.SAID)))
