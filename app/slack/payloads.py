"""Slack's event payloads, checked where they come in and turned into our own values at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.channel import IncomingFile

Json = Mapping[str, Any]

MESSAGE_EVENTS = ("message", "app_mention")
"""Events that tell what somebody said; a mention in a channel comes as both."""
_QUOTING = ("rich_text_preformatted", "rich_text_quote")


class MalformedEventError(ValueError):
    """A payload lacks what every event of its kind has. Its text names fields only, never their values."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is in a workspace, as auth.test tells."""

    user_id: str
    bot_id: str
    team_id: str


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """A ``message`` or ``app_mention`` event."""

    event_id: str
    team_id: str
    channel: str
    channel_type: str | None
    """``channel``, ``group``, ``im``, ``mpim``; app_mention events carry none."""
    ts: str
    thread_ts: str | None
    parent_user_id: str | None
    user: str | None
    user_team: str | None
    bot_id: str | None
    subtype: str | None
    is_hidden: bool
    is_edited: bool
    """True for the app_mention event that Slack sends when an edit adds the mention."""
    text: str = ""
    mentioned_users: frozenset[str] = frozenset()
    """Users named in the message's rich text, which may name one that ``text`` does not."""
    files: tuple[IncomingFile, ...] = ()

    @property
    def root_ts(self) -> str:
        return self.thread_ts or self.ts

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def sent_at(self) -> datetime:
        return datetime.fromtimestamp(float(self.ts), UTC)


@dataclass(frozen=True, slots=True)
class SlackStop:
    """An ``agent_session_stopped`` event: a person pressed Stop."""

    channel: str
    thread_ts: str
    user: str | None


class _File(BaseModel):
    id: str
    name: str | None = None
    mimetype: str | None = None
    size: int | None = None


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    channel: str = Field(min_length=1)
    ts: str = Field(pattern=r"^\d+\.\d+$")
    channel_type: str | None = None
    thread_ts: str | None = None
    parent_user_id: str | None = None
    user: str | None = None
    user_team: str | None = None
    team: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    hidden: bool = False
    edited: dict[str, Any] | None = None
    text: str | None = None
    blocks: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    attachments: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    files: list[_File] = Field(default_factory=list[_File])


class _Stop(BaseModel):
    channel: str
    thread_ts: str
    user: str | None = None


class Envelope(BaseModel):
    """What every event callback has around its event."""

    event_id: str = Field(min_length=1)
    team_id: str | None = None
    event: dict[str, Any]


Event = TypeVar("Event", bound=BaseModel)


def opened(body: Json, kind: type[Event]) -> tuple[Envelope, Event]:
    """The envelope of an event callback, and the event inside, of its ``kind``. Raises ``MalformedEventError``."""
    try:
        envelope = Envelope.model_validate(body)
        return envelope, kind.model_validate(envelope.event)
    except ValidationError as fault:
        raise MalformedEventError(_fields(fault)) from None


def is_message(body: Json) -> bool:
    """Whether it is an event callback with a ``message`` or ``app_mention`` event inside."""
    event: object = body.get("event")
    return (
        body.get("type") == "event_callback"
        and isinstance(event, Mapping)
        and cast("Json", event).get("type") in MESSAGE_EVENTS
    )


def message_event(body: Json) -> SlackMessage:
    """The message inside an event callback. Raises ``MalformedEventError``."""
    envelope, message = opened(body, _Message)
    return SlackMessage(
        event_id=envelope.event_id,
        team_id=envelope.team_id or message.team or "",
        channel=message.channel,
        channel_type=message.channel_type,
        ts=message.ts,
        thread_ts=message.thread_ts,
        parent_user_id=message.parent_user_id,
        user=message.user,
        user_team=message.user_team or message.team,
        bot_id=message.bot_id,
        subtype=message.subtype,
        is_hidden=message.hidden,
        is_edited=message.edited is not None,
        text=whole_text(message.text, message.attachments),
        mentioned_users=_users(message.blocks),
        files=tuple(_file(file) for file in message.files),
    )


def stop_event(body: Json) -> SlackStop:
    """The stop inside an event callback. Raises ``MalformedEventError``."""
    _, stop = opened(body, _Stop)
    return SlackStop(stop.channel, stop.thread_ts, stop.user)


def whole_text(text: str | None, attachments: Sequence[Json]) -> str:
    """A message's text, followed by what it forwards: shared messages keep theirs in attachments."""
    parts = [text or ""]
    parts.extend(str(a.get("text") or a.get("fallback") or "") for a in attachments)
    return "\n".join(part for part in parts if part)


def _users(blocks: object) -> frozenset[str]:
    """Ids of every ``user`` element anywhere in the blocks' rich text, code and quotes left out."""
    found: set[str] = set()
    left: list[Any] = [blocks]
    while left:
        node = left.pop()
        shape = node.__class__
        if shape is list:
            left.extend(node)
        elif shape is dict and (kind := node.get("type")) not in _QUOTING:
            if kind == "user" and isinstance(user := node.get("user_id"), str):
                found.add(user)
            left.append(node.get("elements"))
    return frozenset(found)


def _file(file: _File) -> IncomingFile:
    return IncomingFile(file.id, file.name or file.id, file.mimetype or "application/octet-stream", file.size or 0)


def _fields(fault: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['type']}" for e in fault.errors(include_input=False))
