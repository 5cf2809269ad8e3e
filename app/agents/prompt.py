"""What a model is shown: the system prompt and the conversation, composed without asking anybody."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from app.agents.providers.base import Turn
from app.channel import ThreadMessage
from app.sessions.summary import shown as summary_shown
from app.sessions.transcript import Kind, TranscriptMessage

OMISSION = "[earlier messages of this thread are left out]"
OPENING = "[the thread begins with your message]"
GOES_ON = "  "
"""Before every further line of a message where messages begin with names: none of them can pass for another message."""


def system_prompt(memory: str | None, agent_prompt: str, *between: str | None) -> tuple[str, ...]:
    """The parts in order: memory first, the agent's own prompt last; a part that has nothing to say is absent."""
    return tuple(part for part in (memory, *between, agent_prompt) if part)


def observed(thread: Sequence[ThreadMessage], max_chars: int, read_at: datetime) -> list[TranscriptMessage]:
    """A thread as lines of a transcript: the newest ones, as many as ``max_chars`` hold, and a note of what is cut."""
    kept = _newest(thread, max_chars)
    lines = [
        TranscriptMessage(
            "assistant" if message.by_bot else "user",
            message.text,
            read_at,
            Kind.OBSERVED,
            author=None if message.by_bot else message.author,
            position=message.position,
            files=message.files,
        )
        for message in kept
    ]
    if len(kept) < len(thread):
        lines.insert(0, TranscriptMessage("user", OMISSION, read_at, Kind.OBSERVED))
    return lines


def conversation(lines: Iterable[TranscriptMessage], *, is_shared: bool) -> tuple[Turn, ...]:
    """The transcript as alternating turns, a person's first, the message that is answered last.

    Lines of people begin with their names wherever several people speak, so that the system prompt need not change
    with who speaks (session lifecycle, section 5). Neighbours of one role become one turn. The same lines always
    give the same turns, so that each request repeats the one before it.
    """
    turns = [_turn(line, is_shared=is_shared) for line in lines]
    if turns and turns[0].role == "assistant":
        turns.insert(0, Turn("user", OPENING))
    return tuple(_merged(turns))


def _newest(history: Sequence[ThreadMessage], room: int) -> Sequence[ThreadMessage]:
    start = len(history)
    while start > 0 and len(history[start - 1].text) <= room:
        start -= 1
        room -= len(history[start].text)
    return history[start:]


def _turn(line: TranscriptMessage, *, is_shared: bool) -> Turn:
    if line.kind is Kind.SUMMARY:
        return Turn("user", summary_shown(line.content))
    return Turn(line.role, words_of(line, is_shared=is_shared))


def words_of(line: TranscriptMessage, *, is_shared: bool) -> str:
    """A line as a model reads it: who speaks where several do, what was said, and what came with it unread."""
    words = line.content if line.files == 0 else "\n\n".join(filter(None, [line.content, _unread(line.files)]))
    if line.role == "assistant" or line.author is None or not (is_shared or line.kind is Kind.OBSERVED):
        return words
    # A colon ends the name.
    name = " ".join(line.author.replace(":", " ").split())
    first, *further = words.splitlines(keepends=True) or [""]
    return "".join([f"{name}: {first}", *(each if each.isspace() else f"{GOES_ON}{each}" for each in further)])


def _unread(files: int) -> str:
    what = "A file" if files == 1 else f"{files} files"
    return f"[{what} came with this message. You cannot read files; where it matters, say so and ask for the text.]"


def _merged(turns: Iterable[Turn]) -> Iterable[Turn]:
    for role, group in groupby((turn for turn in turns if turn.text.strip()), key=attrgetter("role")):
        first, *further = group
        yield Turn(role, "\n\n".join([first.text, *(turn.text for turn in further)])) if further else first
