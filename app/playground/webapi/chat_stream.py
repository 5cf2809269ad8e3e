"""chat.startStream, chat.appendStream, chat.stopStream."""

from dataclasses import replace

from app.playground import streams
from app.playground.limits import check_blocks, check_metadata, refusal_of
from app.playground.model import Channel, ChannelKind, Json, Message, Stream
from app.playground.refusal import SlackRefusal
from app.playground.webapi.assistant import SESSION_STATUSES
from app.playground.webapi.call import Call, Method
from app.playground.webapi.content import authorship


def start_stream(call: Call) -> Json:
    channel = call.destination()
    thread_ts = call.args.required("thread_ts")
    _refuse_missing_recipient(call, channel)
    mode = call.args.text("task_display_mode", "timeline")
    if mode not in streams.DISPLAY_MODES:
        raise refusal_of("invalid_arguments", ["[ERROR] must be a valid enum value: task_display_mode"])
    stream = Stream(
        started_at=call.workspace.clock.monotonic(),
        task_display_mode=mode,
        recipient_user_id=call.args.text("recipient_user_id") or None,
        recipient_team_id=call.args.text("recipient_team_id") or None,
    )
    options = replace(authorship(call), stream=stream)
    message = streams.start(call.workspace, (channel.id, thread_ts), call.bot, _content(call), options)
    return {"channel": channel.id, "ts": message.ts}


def _refuse_missing_recipient(call: Call, channel: Channel) -> None:
    """Outside DMs Slack wants to know for whom the stream is."""
    if channel.kind is ChannelKind.DM:
        return
    for name in ("recipient_team_id", "recipient_user_id"):
        if not call.args.text(name):
            raise SlackRefusal(f"missing_{name}")


def _content(call: Call) -> streams.Content:
    chunks = call.args.objects("chunks", "invalid_chunks")
    return streams.content_of(call.args.text("markdown_text"), chunks)


def _own_message(call: Call) -> Message:
    message = call.workspace.message(call.channel().id, call.args.required("ts"))
    if message.app_id != call.app.id:
        raise SlackRefusal("message_not_owned_by_app")
    return message


def append_stream(call: Call) -> Json:
    message = _own_message(call)
    streams.append(call.workspace, message, _content(call))
    return {"channel": message.channel, "ts": message.ts}


def stop_stream(call: Call) -> Json:
    message = _own_message(call)
    blocks = call.args.objects("blocks", "invalid_blocks_format") or []
    check_blocks(blocks)
    metadata = call.args.json_object("metadata", "invalid_metadata_format")
    check_metadata(metadata)
    status = call.args.text("session_status", "active")
    if status not in SESSION_STATUSES:
        raise refusal_of("invalid_arguments", ["[ERROR] must be a valid enum value: session_status"])
    streams.stop(call.workspace, message, _content(call), blocks, metadata)
    call.workspace.set_session_status(message.channel, message.root_ts, status)
    return {
        "channel": message.channel,
        "ts": message.ts,
        "message": call.shown(message, include_all_metadata=True),
    }


_WRITE = ("chat:write",)
METHODS = (
    Method("chat.startStream", start_stream, _WRITE),
    Method("chat.appendStream", append_stream, _WRITE),
    Method("chat.stopStream", stop_stream, _WRITE),
)
