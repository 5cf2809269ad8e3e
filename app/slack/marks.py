"""How the bot's messages tell what they are part of: marks in their metadata, and the names of its files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

MARK_EVENT = "switchboard_reply"
"""Message metadata's event type. Its payload carries the nonce of a post, so that a lost post can be recognised, the
turn the message belongs to, and whether the answer ends with it and is that of further messages, so that a restart can
tell what became of each."""

FILE_PREFIX = "answer-"

Message = Mapping[str, Any]


def mark(turn: str, *, is_last: bool, others: Collection[str] = (), nonce: str | None = None) -> dict[str, object]:
    """The argument of a call that marks its message. ``others``: the ts of what else the answer is to, at its end."""
    payload: dict[str, object] = {"turn": turn, "is_last": is_last}
    if is_last and others:
        payload["others"] = " ".join(others)
    if nonce:
        payload["nonce"] = nonce
    return {"metadata": {"event_type": MARK_EVENT, "event_payload": payload}}


def is_marked(message: Message) -> bool:
    return bool(_payload(message))


def nonce_of(message: Message) -> str | None:
    return _payload(message).get("nonce")


def turn_of(message: Message) -> str | None:
    """The turn that its mark names."""
    return _payload(message).get("turn")


def ends_for(message: Message, ts: str) -> bool:
    """Whether the message at ``ts`` was answered along with another one, by the answer that ends here."""
    return ts in str(_payload(message).get("others") or "").split()


def is_end(message: Message) -> bool:
    """A file is one message, and its answer's only one."""
    return bool(_payload(message).get("is_last")) or bool(message.get("files"))


def file_name(turn: str) -> str:
    """Of the one file that a turn makes: a file cannot be marked otherwise."""
    return f"{FILE_PREFIX}{sha256(turn.encode()).hexdigest()[:12]}.md"


def names_of_files(message: Message) -> Iterator[str]:
    return (str(file.get("name")) for file in _files(message))


def holds(message: Message, file_id: str) -> bool:
    return any(file.get("id") == file_id for file in _files(message))


def _files(message: Message) -> Sequence[Message]:
    return cast("Sequence[Message]", message.get("files") or ())


def _payload(message: Message) -> Message:
    metadata = cast("Message", message.get("metadata") or {})
    if metadata.get("event_type") != MARK_EVENT:
        return {}
    return cast("Message", metadata.get("event_payload") or {})
