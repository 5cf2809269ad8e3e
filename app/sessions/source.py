"""Where a message came from: what routing, isolation and the prompt's context need to know of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any
from urllib.parse import unquote

_UNFIT_ID = re.compile(r"\.\.|[/\\]")
_ESCAPED = re.compile(r"[%/\\]|\.(?=\.)")
_IDS = frozenset(
    {"chat_id", "user_id", "thread_id", "user_id_alt", "chat_id_alt", "scope_id", "parent_chat_id", "message_id"}
)
_FLAGS = frozenset({"is_bot", "role_authorized"})
_REQUIRED = frozenset({"platform", "chat_id"})


class ChatType(StrEnum):
    """What kind of place a conversation is in."""

    DM = "dm"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"


class SourceError(ValueError):
    """What was kept of a source makes none. Its text names fields only, never their values."""


@dataclass(frozen=True, slots=True)
class SessionSource:
    """The origin of a message, without the platform's prefix in its ids (session lifecycle, section 1)."""

    platform: str
    chat_id: str
    chat_name: str | None = None
    chat_type: ChatType = ChatType.DM
    user_id: str | None = None
    user_name: str | None = None
    thread_id: str | None = None
    chat_topic: str | None = None
    user_id_alt: str | None = None
    """A stable id beside one that changes; it goes before ``user_id`` where people are told apart."""
    chat_id_alt: str | None = None
    is_bot: bool = False
    scope_id: str | None = None
    """The workspace."""
    parent_chat_id: str | None = None
    message_id: str | None = None
    role_authorized: bool = False

    @property
    def participant(self) -> str | None:
        """Who is told apart from others: the stable id where there is one (session lifecycle, section 4)."""
        return self.user_id_alt or self.user_id or None

    @property
    def description(self) -> str:
        """``DM with Alice``; ``group: My Group, thread: 12345``. For lists and logs of ours, not for prompts."""
        if self.chat_type is ChatType.DM:
            place = f"DM with {self.user_name or self.user_id or 'somebody'}"
        else:
            place = f"{self.chat_type}: {self.chat_name or self.chat_id}"
        return f"{place}, thread: {self.thread_id}" if self.thread_id else place

    def to_dict(self) -> dict[str, str | bool]:
        """What ``from_dict`` reads: the core fields, and of the others those that say something.

        Ids are escaped so that none holds ``..``, a slash or a backslash, which names of programs may.
        """
        core = {"platform": self.platform, "chat_id": _escaped(self.chat_id), "chat_type": self.chat_type.value}
        rest = ((name, getattr(self, name)) for name in _NAMES if name not in core)
        return core | {name: _escaped(value) if name in _IDS else value for name, value in rest if value}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "SessionSource":
        """Raises ``SourceError``; fields that are not known are let be."""
        if absent := sorted(name for name in _REQUIRED if not isinstance(kept.get(name), str)):
            raise SourceError(f"a source lacks {', '.join(absent)}")
        return cls(**{name: _read(name, value) for name, value in kept.items() if name in _NAMES and value is not None})


_NAMES = tuple(field.name for field in fields(SessionSource))


def _escaped(identifier: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", identifier)


def _read(name: str, value: object) -> Any:
    if name in _FLAGS:
        return value is True
    if not isinstance(value, str):
        raise SourceError(f"{name} of a source is no text")
    if name == "chat_type":
        return _chat_type(value)
    if name not in _IDS:
        return value
    if _UNFIT_ID.search(value):
        raise SourceError(f"{name} of a source is no id")
    return unquote(value)


def _chat_type(value: str) -> ChatType:
    try:
        return ChatType(value)
    except ValueError:
        raise SourceError("chat_type of a source is not known") from None
