"""What a model is told about where it is: the same text for every turn of a session, so that prompts stay cached."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.source import ChatType, SessionSource

HEADING = "## Current Session Context"
NAME_CHARS = 240
"""Of a name or a topic, which anybody may have written."""
PII_SAFE_PLATFORMS = frozenset({"bluebubbles", "cli", "http", "mcp", "signal", "slack", "telegram", "whatsapp"})
"""Where ids may be replaced. With Slack's replaced the model can mention nobody, which its operator decides."""
_PLAIN_ID = re.compile(r"[A-Za-z0-9._@/#+-]{1,240}")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, those that turn the direction of writing, and halves of characters."""
_IN_QUOTES = json.JSONEncoder(ensure_ascii=False)
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Where a conversation takes place, and what else can be reached from it (session lifecycle, section 9)."""

    source: SessionSource
    connected_platforms: tuple[str, ...]
    home_channels: tuple[tuple[str, str], ...]
    """Platform and chat id."""
    shared_multi_user_session: bool
    session_key: SessionKey | None = None
    session_id: SessionId | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


def build_session_context(
    source: SessionSource,
    *,
    connected_platforms: Collection[str],
    home_channels: Mapping[str, str],
    shared_multi_user_session: bool,
    entry: SessionEntry | None = None,
) -> SessionContext:
    return SessionContext(
        source=source,
        connected_platforms=tuple(sorted(set(connected_platforms))),
        home_channels=tuple(sorted(home_channels.items())),
        shared_multi_user_session=shared_multi_user_session,
        session_key=None if entry is None else entry.session_key,
        session_id=None if entry is None else entry.session_id,
        created_at=None if entry is None else entry.created_at,
        updated_at=None if entry is None else entry.updated_at,
    )


def session_context_prompt(
    context: SessionContext,
    *,
    redact_pii: bool = False,
    pii_safe_platforms: Collection[str] = PII_SAFE_PLATFORMS,
) -> str:
    """The block for the system prompt. Names and topics in it are quoted; nothing in it changes with the turn.

    Redaction puts hashes in the place of the ids of people and chats, and leaves their names out. It touches this
    text only.
    """
    voice = _Voice(pii_safe_platforms if redact_pii else ())
    return "\n".join([HEADING, "", *_lines(context, voice)])


@dataclass(frozen=True, slots=True)
class _Voice:
    """How ids and names are told."""

    redacted: Collection[str]
    """Platforms whose ids and names are not told."""

    def chat(self, platform: str, chat_id: str, name: str | None = None) -> str:
        if platform in self.redacted:
            return f"{platform}:{_hash(chat_id)}"
        return _named(chat_id, name)

    def user(self, source: SessionSource) -> str:
        user_id = source.user_id or source.user_id_alt or ""
        if source.platform in self.redacted:
            return f"user_{_hash(user_id or source.user_name or '')}"
        return _named(user_id, source.user_name)


def _lines(context: SessionContext, voice: _Voice) -> Iterator[str]:
    source = context.source
    yield f"- Platform: {_id(source.platform)}"
    yield f"- Place: {_place(source, voice)}"
    if source.chat_topic:
        yield f"- Topic: {quoted(source.chat_topic)}"
    if context.shared_multi_user_session:
        where = "thread" if source.thread_id else "session"
        told = "each message begins with its sender's name and goes on indented"
        yield f"- People: several may take part in this {where}; {told}."
    elif source.participant or source.user_name:
        yield f"- Person: {voice.user(source)}"
    if context.connected_platforms:
        yield f"- Connected platforms: {', '.join(_id(platform) for platform in context.connected_platforms)}"
    if context.home_channels:
        homes = (f"{_id(platform)} {voice.chat(platform, chat)}" for platform, chat in context.home_channels)
        yield f"- Home channels: {', '.join(homes)}"


def _place(source: SessionSource, voice: _Voice) -> str:
    kind = "direct messages" if source.chat_type is ChatType.DM else source.chat_type.value
    place = f"{kind} {voice.chat(source.platform, source.chat_id, source.chat_name)}".rstrip()
    return f"{place}, thread {_id(source.thread_id)}" if source.thread_id else place


def _named(identifier: str, name: str | None) -> str:
    if not name:
        return _id(identifier) if identifier else ""
    return f"{quoted(name)} ({_id(identifier)})" if identifier else quoted(name)


def quoted(text: str) -> str:
    """Text that anybody may have written, as one JSON string: white space collapsed, cut at ``NAME_CHARS``.

    An angle bracket is escaped as well: it could open or close a fence around another part of the prompt.
    """
    line = " ".join(_UNSEEN.sub(" ", text).split())
    cut = line if len(line) <= NAME_CHARS else f"{line[: NAME_CHARS - 1]}…"
    return _IN_QUOTES.encode(cut).replace("<", "\\u003c")


def _id(identifier: str) -> str:
    return identifier if _PLAIN_ID.fullmatch(identifier) else quoted(identifier)


def _hash(identifier: str) -> str:
    return sha256(identifier.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
