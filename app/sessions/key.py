"""Which conversation a message belongs to. The one place where session keys are built."""

import re
from dataclasses import dataclass
from typing import Protocol

from app.channel import ChannelId, ThreadKey, UserId, WorkspaceId
from app.sessions.entry import SessionKey
from app.sessions.source import ChatType, SessionSource

MACHINES = frozenset({"cli", "http", "mcp"})
"""Platforms of programs: one subject never sees what another one said, whatever the settings."""
SLACK, WHATSAPP = "slack", "whatsapp"
_NAMESPACE = "agent:main"
_SEPARATING = re.compile(r"[%:\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What would end a part of a key, start an escape, or could not be kept by the database."""
_PUNCTUATION = re.compile(r"[\s().+-]")
_NUMBER = re.compile(r"[1-9][0-9]{6,14}")
"""E.164: a country code that starts with no zero, fifteen digits at most."""


class Said(Protocol):
    """What of a message decides about its key; ``IncomingMessage`` has it."""

    @property
    def workspace_id(self) -> WorkspaceId: ...

    @property
    def channel_id(self) -> ChannelId: ...

    @property
    def user_id(self) -> UserId: ...

    @property
    def thread_key(self) -> ThreadKey: ...

    @property
    def position(self) -> str: ...

    @property
    def starts_thread(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class KeyRules:
    """What the operator decides about keys, and whether several workspaces are installed."""

    group_sessions_per_user: bool = True
    thread_sessions_per_user: bool = False
    with_scope: bool = False

    def key(self, source: SessionSource) -> SessionKey:
        return session_key(
            source,
            group_sessions_per_user=self.group_sessions_per_user,
            thread_sessions_per_user=self.thread_sessions_per_user,
            with_scope=self.with_scope,
        )

    def is_shared(self, source: SessionSource) -> bool:
        return is_shared_multi_user_session(
            source,
            group_sessions_per_user=self.group_sessions_per_user,
            thread_sessions_per_user=self.thread_sessions_per_user,
        )


def session_key(
    source: SessionSource,
    *,
    group_sessions_per_user: bool,
    thread_sessions_per_user: bool,
    with_scope: bool = False,
) -> SessionKey:
    """``agent:main:{platform}:{chat_type}[:{scope}][:{chat_id}][:{thread_id}][:{participant}]`` (section 4).

    Parts that are not there are left out, so a thread alone and a participant alone stand in the same place; on
    every platform the two look different. Programs choose their names freely, so their parts all have their place.
    """
    is_shared = is_shared_multi_user_session(
        source,
        group_sessions_per_user=group_sessions_per_user,
        thread_sessions_per_user=thread_sessions_per_user,
    )
    head = [_NAMESPACE, _part(source.platform), source.chat_type.value]
    chat, participant = _canonical(source, source.chat_id), _canonical(source, source.participant)
    if source.platform in MACHINES:
        return SessionKey(":".join([*head, *map(_part, (chat, source.thread_id or "", participant))]))
    names_participant = not chat if source.chat_type is ChatType.DM else not is_shared
    parts = (
        (source.scope_id or "") if with_scope else "",
        chat,
        source.thread_id or "",
        participant if names_participant else "",
    )
    return SessionKey(":".join([*head, *(_part(part) for part in parts if part)]))


def is_shared_multi_user_session(
    source: SessionSource, *, group_sessions_per_user: bool, thread_sessions_per_user: bool
) -> bool:
    """Whether several people talk with the bot in one conversation (session lifecycle, section 5)."""
    if source.platform in MACHINES or source.chat_type is ChatType.DM:
        return False
    if source.thread_id:
        return not thread_sessions_per_user
    return not group_sessions_per_user


def source_of(message: Said, *, dm_top_level_threads_as_sessions: bool = True) -> SessionSource:
    """The source of a message, names and topic left for whoever knows them.

    Slack's direct messages are known by their channel's id, since not every event tells what its channel is. With
    ``dm_top_level_threads_as_sessions`` off, what is said at the top of a DM is one long session, and each of its
    threads a session of its own. A thread key that is the channel's id belongs to the whole channel.
    """
    platform, _, chat_id = message.channel_id.partition(":")
    is_dm = platform == SLACK and chat_id.startswith("D")
    # What belongs to no thread belongs to the channel as a whole.
    thread_key = "" if message.thread_key == message.channel_id else message.thread_key
    thread_id = thread_key.removeprefix(f"{message.channel_id}:")
    is_rolling = is_dm and message.starts_thread and not dm_top_level_threads_as_sessions
    return SessionSource(
        platform=platform,
        chat_id=chat_id,
        chat_type=ChatType.DM if is_dm else ChatType.CHANNEL,
        user_id=_bare(platform, message.user_id) or None,
        thread_id=None if is_rolling else thread_id or None,
        scope_id=None if platform in MACHINES else _bare(platform, message.workspace_id) or None,
        message_id=message.position,
    )


def canonical_whatsapp_id(identifier: str) -> str:
    """The one spelling of a WhatsApp id: a phone number as ``+`` and digits (E.164), a group by its bare id.

    An id of another server (``…@lid``) is no phone number and stays as it is; so does what is no number at all.
    """
    name, _, server = identifier.strip().partition("@")
    name = name.strip()
    if server == "g.us":
        return name
    if server not in ("", "s.whatsapp.net", "c.us"):
        return f"{name}@{server}"
    device_free = name.partition(":")[0]
    digits = _PUNCTUATION.sub("", device_free).removeprefix("00")
    return f"+{digits}" if _NUMBER.fullmatch(digits) else name


def _canonical(source: SessionSource, identifier: str | None) -> str:
    if not identifier or source.platform != WHATSAPP:
        return identifier or ""
    return canonical_whatsapp_id(identifier)


def _part(identifier: str) -> str:
    """An id as one part of a key: what would separate parts is escaped."""
    return _SEPARATING.sub(lambda found: f"%{ord(found[0]):02X}", identifier)


def _bare(platform: str, identifier: str) -> str:
    return identifier.removeprefix(f"{platform}:")
