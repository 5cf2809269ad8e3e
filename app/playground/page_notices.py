"""A happening as the page hears of it: which JSON, and which members it concerns."""

from dataclasses import dataclass

from app.playground.happenings import (
    ChannelChanged,
    ChannelCreated,
    EphemeralPosted,
    Happening,
    HomePublished,
    MemberJoined,
    MemberLeft,
    MessageChanged,
    MessageDeleted,
    MessagePosted,
    ModalClosed,
    ModalShown,
    ReactionAdded,
    ReactionRemoved,
    SessionStatus,
    SessionStopped,
    SuggestedPrompts,
    ThreadStatus,
    ThreadTitle,
)
from app.playground.model import Json, Message
from app.playground.page_shapes import channel_json, ephemeral_json, may_see, message_json, view_json
from app.playground.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PageNotice:
    payload: Json
    audience: frozenset[str]


def notice_of(workspace: Workspace, happening: Happening) -> PageNotice | None:
    """``None`` for happenings that change nothing on a page."""
    return (
        _of_message(workspace, happening)
        or _of_channel(workspace, happening)
        or _of_person(happening)
        or _of_thread(workspace, happening)
    )


def audience(workspace: Workspace, channel_id: str) -> frozenset[str]:
    channel = workspace.channels[channel_id]
    return frozenset(member.id for member in workspace.members.values() if may_see(channel, member))


def status_json(status: ThreadStatus) -> Json:
    return {
        "channel": status.channel,
        "thread_ts": status.thread_ts,
        "text": status.text,
        "loading_messages": list(status.loading_messages),
    }


def prompts_json(prompts: SuggestedPrompts) -> Json:
    return {
        "channel": prompts.channel,
        "thread_ts": prompts.thread_ts,
        "title": prompts.title,
        "prompts": list(prompts.prompts),
    }


def _of_message(workspace: Workspace, happening: Happening) -> PageNotice | None:
    match happening:
        case MessagePosted() | MessageChanged() | ReactionAdded() | ReactionRemoved():
            message = happening.message
            payload: Json = {"type": "message", "message": message_json(workspace, message)}
        case MessageDeleted():
            message = happening.message
            payload = _of_deleted(workspace, message)
        case _:
            return None
    return PageNotice(payload, audience(workspace, message.channel))


def _of_deleted(workspace: Workspace, message: Message) -> Json:
    """A thread's root stays as a tombstone."""
    left = workspace.messages.get(message.channel, {}).get(message.ts)
    if left is not None:
        return {"type": "message", "message": message_json(workspace, left)}
    return {"type": "message_deleted", "channel": message.channel, "ts": message.ts}


def _of_channel(workspace: Workspace, happening: Happening) -> PageNotice | None:
    match happening:
        case ChannelCreated() | ChannelChanged() | MemberJoined():
            concerned = audience(workspace, happening.channel)
        case MemberLeft():
            concerned = audience(workspace, happening.channel) | {happening.user}
        case _:
            return None
    payload: Json = {"type": "channel", "channel": channel_json(workspace.channels[happening.channel])}
    return PageNotice(payload, concerned)


def _of_person(happening: Happening) -> PageNotice | None:
    match happening:
        case EphemeralPosted():
            user, payload = happening.user, {"type": "ephemeral", "message": ephemeral_json(happening)}
        case HomePublished():
            user, payload = happening.view.user, {"type": "home", "view": view_json(happening.view)}
        case ModalShown():
            user, payload = happening.view.user, {"type": "modal", "view": view_json(happening.view)}
        case ModalClosed():
            user, payload = happening.view.user, {"type": "modal_closed", "view_id": happening.view.id}
        case _:
            return None
    return PageNotice(payload, frozenset({user}))


def _of_thread(workspace: Workspace, happening: Happening) -> PageNotice | None:
    payload: Json
    match happening:
        case ThreadStatus():
            payload = {"type": "thread_status", **status_json(happening)}
        case SuggestedPrompts():
            payload = {"type": "prompts", **prompts_json(happening)}
        case ThreadTitle():
            payload = {"type": "thread_title", "thread_ts": happening.thread_ts, "title": happening.title}
        case SessionStatus():
            payload = {
                "type": "session_status",
                "thread_ts": happening.thread_ts,
                "status": happening.status,
            }
        case SessionStopped():
            payload = {"type": "session_stopped", "thread_ts": happening.thread_ts}
        case _:
            return None
    payload["channel"] = happening.channel
    return PageNotice(payload, audience(workspace, happening.channel))
