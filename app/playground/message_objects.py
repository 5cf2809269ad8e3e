"""A message as the JSON object Slack's API and events show."""

from app.playground.model import Json, Message
from app.playground.objects import bot_profile_json, file_json
from app.playground.origin import Origin
from app.playground.workspace import Workspace

_REPLY_USERS_SHOWN = 5


def message_json(workspace: Workspace, message: Message, origin: Origin, *, include_all_metadata: bool = False) -> Json:
    """Without ``channel``: events add it, answers name it beside the message."""
    shown: Json = {"type": "message", "ts": message.ts, "text": message.text, "team": workspace.team.id}
    if message.subtype:
        shown["subtype"] = message.subtype
    if message.subtype != "bot_message":
        shown["user"] = message.user
    optional = {
        "client_msg_id": message.client_msg_id,
        "blocks": with_block_ids(message.blocks, message.ts),
        "attachments": message.attachments,
        "files": [_file_json(workspace, file, origin) for file in message.files],
        "reactions": [
            {"name": name, "users": list(users), "count": len(users)} for name, users in message.reactions.items()
        ],
        "metadata": message.metadata if include_all_metadata else None,
        "username": message.username,
        "icons": {"emoji": message.icon_emoji} if message.icon_emoji else None,
    }
    shown |= {key: value for key, value in optional.items() if value}
    if message.edited_ts:
        shown["edited"] = {"user": message.edited_by, "ts": message.edited_ts}
    if message.files:
        shown |= {"upload": False, "display_as_bot": False}
    return shown | _authorship(workspace, message, origin) | _threading(workspace, message) | _streaming(message)


def _file_json(workspace: Workspace, file_id: str, origin: Origin) -> Json:
    """A deleted file is a tombstone in copies of messages from before."""
    file = workspace.files.get(file_id)
    return file_json(workspace, file, origin) if file else {"id": file_id, "mode": "tombstone"}


def with_block_ids(blocks: list[Json], seed: str) -> list[Json]:
    """Slack names the blocks an app left without an id."""
    tail = seed.replace(".", "")[-6:]
    return [
        block if block.get("block_id") else block | {"block_id": f"b{tail}{index}"}
        for index, block in enumerate(blocks)
    ]


def _authorship(workspace: Workspace, message: Message, origin: Origin) -> Json:
    if not message.bot_id:
        return {}
    shown: Json = {"bot_id": message.bot_id}
    app = workspace.apps.get(message.app_id or "")
    if app is None:
        return shown
    return shown | {"app_id": app.id, "bot_profile": bot_profile_json(workspace, app, origin)}


def _threading(workspace: Workspace, message: Message) -> Json:
    if message.thread_ts is None:
        return {}
    if message.thread_ts == message.ts:
        return {"thread_ts": message.ts} | thread_facts(workspace, message)
    root = workspace.messages.get(message.channel, {}).get(message.thread_ts)
    shown: Json = {"thread_ts": message.thread_ts}
    if root is None:
        return shown
    shown["parent_user_id"] = root.user
    if message.is_broadcast:
        shown["root"] = {
            "type": "message",
            "user": root.user,
            "text": root.text,
            "ts": root.ts,
            "thread_ts": root.ts,
        } | thread_facts(workspace, root)
    return shown


def thread_facts(workspace: Workspace, root: Message) -> Json:
    """What a root tells about its replies."""
    replies = workspace.replies(root.channel, root.ts)
    users = list(dict.fromkeys(reply.user for reply in replies))
    facts: Json = {
        "reply_count": len(replies),
        "reply_users": users[:_REPLY_USERS_SHOWN],
        "reply_users_count": len(users),
        "is_locked": False,
        "subscribed": False,
    }
    return facts | ({"latest_reply": replies[-1].ts} if replies else {})


def _streaming(message: Message) -> Json:
    """A streamed message says so by ``streaming_state`` and how its tasks are laid out."""
    if message.stream is None:
        return {}
    return {
        "streaming_state": message.stream.state,
        "task_display_mode": message.stream.task_display_mode,
    }
