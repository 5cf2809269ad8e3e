"""What a conversation was about last, in its own words and without a model."""

from collections.abc import Sequence

from app.sessions.transcript import Kind, TranscriptMessage, last_turns
from commands.conversations import Recap
from commands.quoting import cut, one_line
from memory.redact import redact

RECAP_CHARS = 200
_FENCE = "```"


def recap_of(lines: Sequence[TranscriptMessage]) -> Recap | None:
    """Of the last turn after the last summary: what was asked, and the first line of the last answer to it.

    Without the secrets in them: a thread may be read by more people by now than it was when they were told.
    """
    kept, turn = last_turns(lines, 1)
    question = one_line(turn.target_text or "")
    if not question:
        return None
    answers = [line.content for line in kept if line.role == "assistant" and line.kind is Kind.SAID]
    answer = _first_line(answers[-1] if answers else "")
    return Recap(cut(redact(question), RECAP_CHARS), cut(redact(answer), RECAP_CHARS))


def _first_line(text: str) -> str:
    """That has words: an answer may begin with the fence of a code block."""
    lines = (one_line(line) for line in text.splitlines() if not line.lstrip().startswith(_FENCE))
    return next((line for line in lines if any(map(str.isalnum, line))), "")
