"""What the page reads: the workspace's things as small JSON objects, Slack's names kept where Slack has one."""

from app.playground.happenings import EphemeralPosted
from app.playground.message_objects import with_block_ids
from app.playground.model import Channel, ChannelKind, Json, Member, Message, SlackApp, View
from app.playground.workspace import Workspace


def member_json(member: Member) -> Json:
    return {
        "id": member.id,
        "name": member.name,
        "real_name": member.real_name,
        "title": member.title,
        "is_bot": member.bot_id is not None,
        "is_admin": member.is_admin,
        "bot_id": member.bot_id,
        "app_id": member.app_id,
    }


def app_json(app: SlackApp) -> Json:
    """Tokens and secrets stay out; ``answers`` tells an app that listens from one that only posts."""
    return {
        "id": app.id,
        "name": app.name,
        "bot_user_id": app.bot_user_id,
        "commands": list(app.commands),
        "answers": bool(app.events),
    }


def channel_json(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind.value,
        "creator": channel.creator,
        "created": channel.created,
        "members": sorted(channel.members),
        "topic": channel.topic,
        "purpose": channel.purpose,
        "is_archived": channel.is_archived,
    }


def message_json(workspace: Workspace, message: Message) -> Json:
    return {
        "ts": message.ts,
        "channel": message.channel,
        "user": message.user,
        "text": message.text,
        "thread_ts": message.thread_ts,
        "subtype": message.subtype,
        "bot_id": message.bot_id,
        "app_id": message.app_id,
        "blocks": with_block_ids(message.blocks, message.ts),
        "attachments": message.attachments,
        "files": [file_json(workspace, file_id) for file_id in message.files],
        "reactions": [{"name": name, "users": list(users)} for name, users in message.reactions.items() if users],
        "edited": message.edited_ts is not None,
        "username": message.username,
        "icon_emoji": message.icon_emoji,
        "is_broadcast": message.is_broadcast,
        "stream": _stream_json(message),
    }


def _stream_json(message: Message) -> Json | None:
    """Only whether it goes on: what was streamed stands in the message's blocks."""
    stream = message.stream
    if stream is None:
        return None
    return {"state": stream.state, "mode": stream.task_display_mode}


def file_json(workspace: Workspace, file_id: str) -> Json:
    """A file that is gone keeps its place in the message as a tombstone."""
    file = workspace.files.get(file_id)
    if file is None:
        return {"id": file_id, "name": "", "title": "", "mimetype": "", "size": 0, "is_gone": True}
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype,
        "size": file.size,
        "is_gone": False,
    }


def view_json(view: View) -> Json:
    return {
        "id": view.id,
        "root_id": view.root_id,
        "previous_id": view.previous_id,
        "app_id": view.app_id,
        "hash": view.hash,
        "payload": view.payload,
        "values": view.state,
    }


def ephemeral_json(posted: EphemeralPosted) -> Json:
    return {
        "ts": posted.ts,
        "channel": posted.channel,
        "text": posted.text,
        "blocks": with_block_ids(posted.blocks, posted.ts),
        "attachments": posted.attachments,
        "thread_ts": posted.thread_ts,
        "app_id": posted.app_id,
    }


def may_see(channel: Channel, member: Member) -> bool:
    """Members see their channels; everybody but a guest may also look into the public ones."""
    return member.id in channel.members or (channel.kind is ChannelKind.PUBLIC and not member.is_restricted)
