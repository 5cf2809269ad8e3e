"""From what happened to the events an app hears of."""

from collections.abc import Callable
from typing import cast

from app.playground.event_callback import Ear
from app.playground.happenings import (
    FileShared,
    Happening,
    HomeOpened,
    MemberJoined,
    MemberLeft,
    MessageChanged,
    MessageDeleted,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
    SessionStopped,
)
from app.playground.model import Channel, ChannelKind, Json, Message, SlackApp
from app.playground.objects import view_json

_SUBSCRIPTIONS = {
    ChannelKind.PUBLIC: "message.channels",
    ChannelKind.PRIVATE: "message.groups",
    ChannelKind.DM: "message.im",
    ChannelKind.GROUP_DM: "message.mpim",
}
_LIVE = "in_progress"


def events_for(ear: Ear, happening: Happening, next_ts: Callable[[], str]) -> list[Json]:
    """The inner events in the order Slack usually sends them; ``next_ts`` gives an event its own timestamp."""
    match happening:
        case MessagePosted() | MessageChanged() | MessageDeleted():
            events = _of_message(ear, happening, next_ts)
        case ReactionAdded() | ReactionRemoved():
            events = _of_reaction(ear, happening)
        case MemberJoined() | MemberLeft():
            events = _of_membership(ear, happening)
        case FileShared():
            events = _of_file(ear, happening)
        case HomeOpened():
            events = _of_home(ear, happening)
        case SessionStopped():
            events = _of_session(ear, happening)
        case _:
            events = []
    return events


def _of_message(
    ear: Ear, happening: MessagePosted | MessageChanged | MessageDeleted, next_ts: Callable[[], str]
) -> list[Json]:
    message = happening.message
    if not ear.is_in(message.channel):
        return []
    channel = ear.workspace.channels[message.channel]
    hears_messages = ear.hears(_SUBSCRIPTIONS[channel.kind])
    match happening:
        case MessagePosted():
            events = [_mention(ear, message)] if _is_mention(ear, channel, message) else []
            return events + ([_posted(ear, channel, message)] if hears_messages else [])
        case MessageChanged(previous=previous):
            return _of_change(ear, channel, (message, previous), next_ts) if hears_messages else []
        case MessageDeleted():
            return [_deleted(ear, channel, message, next_ts())] if hears_messages else []


def _of_change(ear: Ear, channel: Channel, versions: tuple[Message, Message], next_ts: Callable[[], str]) -> list[Json]:
    """A live stream makes no events until it ends; a mention that an edit adds is a mention."""
    message, previous = versions
    if message.stream is not None and message.stream.state == _LIVE:
        return []
    stamp = next_ts()
    changed = _hidden("message_changed", channel, stamp) | {
        "message": ear.shown(message) | {"source_team": ear.workspace.team.id, "user_team": ear.workspace.team.id},
        "previous_message": ear.shown(previous),
    }
    is_new_mention = _is_mention(ear, channel, message) and not _mentions(ear.app, previous)
    return ([_mention(ear, message) | {"event_ts": stamp}] if is_new_mention else []) + [changed]


def _posted(ear: Ear, channel: Channel, message: Message) -> Json:
    return ear.shown(message) | {
        "channel": channel.id,
        "event_ts": message.ts,
        "channel_type": channel.kind.value,
    }


def _deleted(ear: Ear, channel: Channel, message: Message, stamp: str) -> Json:
    return _hidden("message_deleted", channel, stamp) | {
        "deleted_ts": message.ts,
        "previous_message": ear.shown(message),
    }


def _hidden(subtype: str, channel: Channel, stamp: str) -> Json:
    return {
        "type": "message",
        "subtype": subtype,
        "channel": channel.id,
        "hidden": True,
        "ts": stamp,
        "event_ts": stamp,
        "channel_type": channel.kind.value,
    }


def _is_mention(ear: Ear, channel: Channel, message: Message) -> bool:
    """In a DM a mention is a message like any other, and nobody mentions themselves."""
    return (
        ear.hears("app_mention")
        and channel.kind is not ChannelKind.DM
        and message.user != ear.app.bot_user_id
        and _mentions(ear.app, message)
    )


def _mentions(app: SlackApp, message: Message) -> bool:
    tag = f"<@{app.bot_user_id}"
    return f"{tag}>" in message.text or f"{tag}|" in message.text or _names(message.blocks, app.bot_user_id)


def _names(node: object, user_id: str) -> bool:
    if isinstance(node, list):
        return any(_names(child, user_id) for child in cast("list[object]", node))
    if isinstance(node, dict):
        element = cast("Json", node)
        if element.get("type") == "user" and element.get("user_id") == user_id:
            return True
        return any(_names(child, user_id) for child in element.values())
    return False


def _mention(ear: Ear, message: Message) -> Json:
    shown = ear.shown(message)
    shown.pop("subtype", None)
    shown.pop("root", None)
    return shown | {"type": "app_mention", "channel": message.channel, "event_ts": message.ts}


def _of_reaction(ear: Ear, happening: ReactionAdded | ReactionRemoved) -> list[Json]:
    kind = "reaction_added" if isinstance(happening, ReactionAdded) else "reaction_removed"
    message = happening.message
    if not (ear.hears(kind) and ear.is_in(message.channel)):
        return []
    return [
        {
            "type": kind,
            "user": happening.user,
            "reaction": happening.name,
            "item": {"type": "message", "channel": message.channel, "ts": message.ts},
            "item_user": message.user,
            "event_ts": happening.event_ts,
        }
    ]


def _of_membership(ear: Ear, happening: MemberJoined | MemberLeft) -> list[Json]:
    """An app that was taken out of a channel learns it by ``channel_left`` or ``group_left``."""
    channel = ear.workspace.channels[happening.channel]
    is_private = channel.kind is ChannelKind.PRIVATE
    if isinstance(happening, MemberLeft) and happening.user == ear.app.bot_user_id:
        kind = "group_left" if is_private else "channel_left"
        left: Json = {"type": kind, "channel": channel.id, "event_ts": happening.event_ts}
        return [left] if ear.hears(kind) else []
    kind = "member_joined_channel" if isinstance(happening, MemberJoined) else "member_left_channel"
    if not (ear.hears(kind) and ear.is_in(channel.id)):
        return []
    event: Json = {
        "type": kind,
        "user": happening.user,
        "channel": channel.id,
        "channel_type": "G" if is_private else "C",
        "team": ear.workspace.team.id,
        "event_ts": happening.event_ts,
    }
    inviter = happening.inviter if isinstance(happening, MemberJoined) else None
    return [event | ({"inviter": inviter} if inviter else {})]


def _of_file(ear: Ear, happening: FileShared) -> list[Json]:
    if not (ear.hears("file_shared") and ear.is_in(happening.channel)):
        return []
    return [
        {
            "type": "file_shared",
            "file_id": happening.file_id,
            "user_id": happening.user,
            "file": {"id": happening.file_id},
            "channel_id": happening.channel,
            "event_ts": happening.event_ts,
        }
    ]


def _of_home(ear: Ear, happening: HomeOpened) -> list[Json]:
    """Only the app whose DM it is; the ``home`` tab carries the view that was published before."""
    if not (ear.hears("app_home_opened") and ear.is_in(happening.channel)):
        return []
    event: Json = {
        "type": "app_home_opened",
        "user": happening.user,
        "channel": happening.channel,
        "tab": happening.tab,
        "event_ts": happening.event_ts,
    }
    view = ear.workspace.home_views.get(happening.user)
    if happening.tab == "home" and view is not None and view.app_id == ear.app.id:
        event["view"] = view_json(ear.workspace, view)
    return [event]


def _of_session(ear: Ear, happening: SessionStopped) -> list[Json]:
    if not (ear.hears("agent_session_stopped") and ear.is_in(happening.channel)):
        return []
    return [
        {
            "type": "agent_session_stopped",
            "channel": happening.channel,
            "user": happening.user,
            "thread_ts": happening.thread_ts,
            "streaming_message_ts": list(happening.streaming_ts),
            "event_ts": happening.event_ts,
        }
    ]
