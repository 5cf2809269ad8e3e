"""What a Slack workspace is made of, as the playground keeps it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]
"""A JSON object in Slack's own shape: blocks, views and payloads cross the playground as they are."""


class ChannelKind(StrEnum):
    """Slack's own words for the four kinds (``channel_type`` of a message event)."""

    PUBLIC = "channel"
    PRIVATE = "group"
    DM = "im"
    GROUP_DM = "mpim"


@dataclass(slots=True)
class Team:
    id: str
    name: str
    domain: str


@dataclass(slots=True)
class Member:
    """A person or a bot user."""

    id: str
    name: str
    """The handle, without the @."""
    real_name: str
    is_admin: bool = False
    is_owner: bool = False
    is_restricted: bool = False
    """A guest."""
    bot_id: str | None = None
    """Set for bot users only."""
    app_id: str | None = None
    color: str = "4bbe2e"
    tz: str = "Europe/Amsterdam"
    title: str = ""


@dataclass(slots=True)
class SlackApp:
    """An installed app: its bot user, its secrets and what it may do."""

    id: str
    name: str
    bot_id: str
    bot_user_id: str
    bot_token: str
    app_token: str
    signing_secret: str
    scopes: set[str]
    events: set[str]
    """Subscribed bot events by their manifest names: ``app_mention``, ``message.channels``, …"""
    commands: tuple[str, ...] = ()
    """Slash commands with the slash: ``/memory``."""
    request_url: str | None = None
    """Where events and interactions are posted; ``None`` while the app uses Socket Mode."""


@dataclass(slots=True)
class Channel:
    id: str
    name: str
    kind: ChannelKind
    creator: str
    created: int
    """Seconds since the epoch."""
    members: set[str] = field(default_factory=set[str])
    topic: str = ""
    purpose: str = ""
    is_archived: bool = False


@dataclass(slots=True)
class Stream:
    """What makes a message a streaming one (chat.startStream)."""

    started_at: float
    """Monotonic seconds; Slack closes a stream about five minutes after this."""
    state: str = "in_progress"
    """``in_progress``, ``completed``, ``expired`` or ``stopped``."""
    task_display_mode: str = "timeline"
    mode: str | None = None
    """``text`` or ``chunks``, whichever came first: Slack takes no other kind afterwards."""
    markdown: str = ""
    chunks: list[Json] = field(default_factory=list[Json])
    """Every chunk in the order it came; task updates with one id replace each other when shown."""
    blocks: list[Json] = field(default_factory=list[Json])
    """What chat.stopStream put below the streamed content."""
    recipient_user_id: str | None = None
    recipient_team_id: str | None = None


@dataclass(slots=True)
class File:
    id: str
    name: str
    mimetype: str
    size: int
    user: str
    created: int
    content: bytes
    title: str = ""
    channels: list[str] = field(default_factory=list[str])
    alt_txt: str = ""
    shares: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Channel id → message ts it was shared in."""


@dataclass(slots=True)
class Message:
    ts: str
    channel: str
    user: str
    text: str
    thread_ts: str | None = None
    """``None`` for a top-level message without replies, else the root's ts (in a root with replies: its own)."""
    subtype: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    blocks: list[Json] = field(default_factory=list[Json])
    attachments: list[Json] = field(default_factory=list[Json])
    files: list[str] = field(default_factory=list[str])
    reactions: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    edited_by: str | None = None
    edited_ts: str | None = None
    metadata: Json | None = None
    stream: Stream | None = None
    client_msg_id: str | None = None
    username: str | None = None
    icon_emoji: str | None = None
    is_broadcast: bool = False
    """A reply that is also shown in the channel."""

    @property
    def root_ts(self) -> str:
        """The ts that names the thread this message is, or would be, part of."""
        return self.thread_ts or self.ts


@dataclass(slots=True)
class View:
    """A modal or a Home tab."""

    id: str
    root_id: str
    user: str
    payload: Json
    """The view as the app gave it (type, title, blocks, callback_id, private_metadata, …)."""
    hash: str
    external_id: str = ""
    previous_id: str | None = None
    app_id: str = ""
    """Whose view it is; submissions and clicks go there."""
    state: Json = field(default_factory=dict[str, Any])
    """``view.state.values``: block_id → action_id → value."""
