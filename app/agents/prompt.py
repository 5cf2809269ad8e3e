"""What a model is shown: the system prompt and the conversation, composed without asking anybody."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from app.agents.providers.base import Turn
from app.channel import ThreadMessage

OMISSION = "[earlier messages of this thread are left out]"


def system_prompt(memory: str | None, agent_prompt: str) -> tuple[str, ...]:
    """The parts in order: memory first, the agent's own prompt last; a part that has nothing to say is absent."""
    return (agent_prompt,) if memory is None else (memory, agent_prompt)


def conversation(history: Sequence[ThreadMessage], asker: str, text: str, max_chars: int) -> tuple[Turn, ...]:
    """The thread as alternating turns, the message that is answered last.

    People's lines begin with their names; the newest messages are kept when the thread is longer than
    ``max_chars``. Neighbours of one role become one turn, and a thread that the bot opened begins with a note,
    because providers want a user's turn first.
    """
    kept = _newest(history, max_chars - len(text))
    turns = [_turn(message) for message in kept]
    if len(kept) < len(history):
        turns.insert(0, Turn("user", OMISSION))
    elif turns and turns[0].role == "assistant":
        turns.insert(0, Turn("user", "[the thread begins with your message]"))
    return tuple(_merged([*turns, Turn("user", f"{asker}: {text}")]))


def _newest(history: Sequence[ThreadMessage], room: int) -> Sequence[ThreadMessage]:
    start = len(history)
    while start > 0 and len(history[start - 1].text) <= room:
        start -= 1
        room -= len(history[start].text)
    return history[start:]


def _turn(message: ThreadMessage) -> Turn:
    if message.by_bot:
        return Turn("assistant", message.text)
    return Turn("user", f"{message.author}: {message.text}")


def _merged(turns: Iterable[Turn]) -> Iterable[Turn]:
    for _, group in groupby((turn for turn in turns if turn.text.strip()), key=lambda turn: turn.role):
        members = list(group)
        yield Turn(members[0].role, "\n\n".join(turn.text for turn in members))
