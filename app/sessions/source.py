"""Where a message came from: what routing, isolation and the prompt's context need to know of it."""

from dataclasses import dataclass
from enum import StrEnum


class ChatType(StrEnum):
    """What kind of place a conversation is in."""

    DM = "dm"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"


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
