"""What is known of a conversation between its turns."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType

from app.channel import ThreadKey
from app.sessions.source import ChatType, SessionSource

SessionKey = NewType("SessionKey", str)
"""The lane of a conversation: ``agent:main:slack:channel:C1:1712.55`` (session lifecycle, section 4)."""
SessionId = NewType("SessionId", str)
"""One incarnation of it: ``YYYYMMDD_HHMMSS_<8 hex digits>``."""


class ResumeReason(StrEnum):
    """Why a conversation is to go on by itself after a restart."""

    RESTART_TIMEOUT = "restart_timeout"
    SHUTDOWN_TIMEOUT = "shutdown_timeout"
    RESTART_INTERRUPTED = "restart_interrupted"


class EndReason(StrEnum):
    """Why an incarnation ended."""

    RESET = "session_reset"
    SWITCH = "session_switch"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by kind. ``input`` counts only what was neither read from nor written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    is_partial: bool = field(default=False, kw_only=True)
    """There were more: a call ended before its provider had counted all of them."""

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            is_partial=self.is_partial or other.is_partial,
        )

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Cost:
    """What tokens cost, in millionths of a US dollar; ``None`` when a price is missing, which is not zero."""

    microusd: int | None = None
    status: str = "unknown"
    """``actual``, ``estimated``, ``at_least``, ``included`` or ``unknown``."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """The record of a session key (session lifecycle, section 2)."""

    session_key: SessionKey
    session_id: SessionId
    thread_key: ThreadKey
    created_at: datetime
    updated_at: datetime
    origin: SessionSource | None = None
    display_name: str | None = None
    platform: str | None = None
    chat_type: ChatType = ChatType.DM
    tokens: Tokens = Tokens()
    cost: Cost = Cost()
    last_prompt_tokens: int = 0
    was_auto_reset: bool = False
    auto_reset_reason: str | None = None
    reset_had_activity: bool = False
    is_fresh_reset: bool = False
    expiry_finalized: bool = False
    suspended: bool = False
    resume_pending: bool = False
    resume_reason: ResumeReason | None = None
    last_resume_marked_at: datetime | None = None
    active_turn_token: str | None = None
    active_turn_started_at: datetime | None = None
    interrupted_boots: int = 0
    """Restarts in a row that found a turn of it under way."""
    watermark: str | None = None
    """The thread's last position that the transcript accounts for; nothing before it is read from the platform."""
