"""chat.*: posting, updating, deleting, unfurling; streams are next door."""

from collections.abc import Callable
from dataclasses import replace

from app.playground.happenings import EphemeralPosted
from app.playground.limits import UPDATE_TEXT_MAX
from app.playground.model import Json, Message
from app.playground.refusal import SlackRefusal
from app.playground.talk import TOMBSTONE
from app.playground.webapi.call import Call, Method
from app.playground.webapi.content import MessageContent, authorship, message_content, postable


def post_message(call: Call) -> Json:
    channel = call.destination()
    content = postable(call)
    options = replace(
        authorship(call),
        blocks=content.blocks or [],
        attachments=content.attachments or [],
        metadata=content.metadata,
        broadcast=call.args.flag("reply_broadcast"),
    )
    thread_ts = call.args.text("thread_ts") or None
    message = call.workspace.post(channel.id, call.bot, content.text or "", thread_ts=thread_ts, options=options)
    return {"channel": channel.id, "ts": message.ts, "message": call.shown(message, include_all_metadata=True)}


def post_ephemeral(call: Call) -> Json:
    workspace = call.workspace
    channel = workspace.require_member(call.destination().id, call.bot)
    user = call.args.required("user")
    content = postable(call)
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if user not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    ts = workspace.next_ts()
    workspace.emit(
        EphemeralPosted(
            channel=channel.id,
            user=user,
            ts=ts,
            text=content.text or "",
            blocks=content.blocks or [],
            thread_ts=call.args.text("thread_ts") or None,
            app_id=call.app.id,
            attachments=content.attachments or [],
        )
    )
    return {"message_ts": ts}


def me_message(call: Call) -> Json:
    channel = call.destination()
    content = postable(call)
    options = replace(authorship(call), subtype="me_message")
    message = call.workspace.post(channel.id, call.bot, content.text or "", options=options)
    return {"channel": channel.id, "ts": message.ts}


def update(call: Call) -> Json:
    """Without blocks a new text takes their place; attachments stay unless new ones are given."""
    workspace = call.workspace
    content = message_content(call)
    message = workspace.message(call.channel().id, call.args.required("ts"))
    _refuse_update(call, message, content)
    file_ids = call.args.names("file_ids") if "file_ids" in call.args else None
    workspace.change(message, _revision(call, content, file_ids))
    shown = call.shown(message, include_all_metadata=True)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": shown}


def _refuse_update(call: Call, message: Message, content: MessageContent) -> None:
    if message.user != call.bot or message.subtype == TOMBSTONE:
        raise SlackRefusal("cant_update_message")
    call.workspace.lapse()
    if message.stream is not None and message.stream.state == "in_progress":
        raise SlackRefusal("streaming_state_conflict")
    if content.is_empty and content.metadata is None and "file_ids" not in call.args:
        raise SlackRefusal("no_text")
    if not call.args.text("markdown_text") and len(content.text or "") > UPDATE_TEXT_MAX:
        raise SlackRefusal("msg_too_long")


def _revision(call: Call, content: MessageContent, file_ids: list[str] | None) -> Callable[[Message], None]:
    stamp = call.workspace.next_ts()

    def apply(message: Message) -> None:
        if content.text is not None:
            message.text = content.text
        if content.blocks is not None or content.text is not None:
            message.blocks = content.blocks or []
        if content.attachments is not None:
            message.attachments = content.attachments
        if content.metadata is not None:
            message.metadata = content.metadata
        if file_ids is not None:
            message.files = [file for file in file_ids if file in call.workspace.files]
        if not content.blocks:
            message.edited_by, message.edited_ts = call.bot, stamp

    return apply


def delete(call: Call) -> Json:
    channel, ts = call.channel().id, call.args.required("ts")
    if call.workspace.message(channel, ts).user != call.bot:
        raise SlackRefusal("cant_delete_message")
    call.workspace.delete(channel, ts)
    return {"channel": channel, "ts": ts}


def get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = call.workspace.message(channel.id, call.args.required("message_ts"))
    link = call.origin.permalink(channel.id, message.ts, message.thread_ts)
    return {"channel": channel.id, "permalink": link}


def unfurl(call: Call) -> Json:
    unfurls = call.args.json_object("unfurls", "cannot_parse_attachment")
    if not unfurls:
        raise SlackRefusal("missing_unfurls")
    message = call.workspace.message(call.channel().id, call.args.required("ts"))
    if any(url not in message.text for url in unfurls):
        raise SlackRefusal("cannot_unfurl_url")
    added = [attachment | {"from_url": url, "app_id": call.app.id} for url, attachment in unfurls.items()]

    def apply(target: Message) -> None:
        target.attachments = [*target.attachments, *added]

    call.workspace.change(message, apply)
    return {}


_WRITE = ("chat:write",)
METHODS = (
    Method("chat.postMessage", post_message, _WRITE),
    Method("chat.postEphemeral", post_ephemeral, _WRITE),
    Method("chat.meMessage", me_message, _WRITE),
    Method("chat.update", update, _WRITE),
    Method("chat.delete", delete, _WRITE),
    Method("chat.getPermalink", get_permalink),
    Method("chat.unfurl", unfurl, ("links:write",)),
)
