"""files.*: announcing, completing, showing and deleting files."""

import mimetypes
from collections.abc import Sequence
from dataclasses import replace

from app.playground.limits import check_blocks, refusal_of
from app.playground.model import Channel, File, Json
from app.playground.objects import file_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method
from app.playground.webapi.content import authorship
from app.playground.webapi.uploads import Upload

_ALT_TEXT_MAX = 1000
_SNIPPET_BYTES_MAX = 1_000_000
_CHANNELS_MAX = 100


def get_upload_url(call: Call) -> Json:
    name = call.args.required("filename")
    length = call.args.limit(0, 2**40, "length")
    if length <= 0:
        raise refusal_of("invalid_arguments", ["[ERROR] must be greater than 0 [json-pointer:/length]"])
    if len(call.args.text("alt_txt")) > _ALT_TEXT_MAX:
        raise SlackRefusal("alt_txt_too_large")
    if call.args.text("snippet_type") and length > _SNIPPET_BYTES_MAX:
        raise SlackRefusal("snippet_too_large")
    file = File(
        id=call.workspace.ids.mint("F"),
        name=name,
        mimetype=mimetypes.guess_type(name)[0] or "application/octet-stream",
        size=length,
        user=call.bot,
        created=call.workspace.epoch_s(),
        content=b"",
        title=name,
        alt_txt=call.args.text("alt_txt"),
    )
    ticket = call.uploads.announce(Upload(file, length, call.app.id))
    return {"upload_url": call.origin.upload_url(ticket), "file_id": file.id}


def complete_upload(call: Call) -> Json:
    """Shares the files as one message in each channel.

    The answer shows them as they were before, as sharing is a later step at Slack: files.info tells the ``shares``.
    """
    listed = call.args.objects("files", "invalid_arguments")
    if not listed:
        raise refusal_of("invalid_arguments", ["[ERROR] missing required field: files"])
    blocks = call.args.objects("blocks", "invalid_blocks_format") or []
    check_blocks(blocks)
    channels = _target_channels(call)
    files = [_uploaded(call, str(each.get("id", ""))) for each in listed]
    for file, wish in zip(files, listed, strict=True):
        file.title = str(wish.get("title") or file.name)
        call.workspace.files[file.id] = file
        call.uploads.complete(file.id)
    answer = [file_json(call.workspace, file, call.origin) for file in files]
    _share(call, files, channels, blocks)
    return {"files": answer}


def _target_channels(call: Call) -> list[Channel]:
    wanted = call.args.names("channels") or call.args.names("channel_id")
    if len(wanted) > _CHANNELS_MAX:
        raise SlackRefusal("too_many_channels")
    visible = set(call.workspace.visible_channels(call.bot))
    if any(channel not in visible for channel in wanted):
        raise SlackRefusal("channel_not_found")
    return [call.workspace.require_member(channel, call.bot) for channel in wanted]


def _uploaded(call: Call, file_id: str) -> File:
    """Refuses ``file_not_found`` for one that was not announced by this app or not uploaded."""
    upload = call.uploads.by_file.get(file_id)
    if upload is None or not upload.is_uploaded or upload.app_id != call.app.id:
        raise SlackRefusal("file_not_found")
    return upload.file


def _share(call: Call, files: Sequence[File], channels: Sequence[Channel], blocks: list[Json]) -> None:
    options = replace(authorship(call), files=tuple(file.id for file in files), blocks=blocks)
    thread_ts = call.args.text("thread_ts") or None
    comment = call.args.text("initial_comment")
    for channel in channels:
        call.workspace.post(channel.id, call.bot, comment, thread_ts=thread_ts, options=options)


def may_see(call_bot: str, file: File, visible: set[str]) -> bool:
    """A bot sees its own files and those in channels it can see."""
    return file.user == call_bot or any(channel in visible for channel in file.channels)


def _visible(call: Call) -> File:
    file = call.workspace.files.get(call.args.required("file"))
    if file is None or not may_see(call.bot, file, set(call.workspace.visible_channels(call.bot))):
        raise SlackRefusal("file_not_found")
    return file


def info(call: Call) -> Json:
    shown = file_json(call.workspace, _visible(call), call.origin)
    return {"file": shown, "comments": [], "response_metadata": {"next_cursor": ""}}


def list_files(call: Call) -> Json:
    """Newest first; ``channel`` and ``user`` narrow it."""
    channel, user = call.args.text("channel"), call.args.text("user")
    visible = set(call.workspace.visible_channels(call.bot))
    found = [
        file
        for file in reversed(call.workspace.files.values())
        if may_see(call.bot, file, visible)
        and (not channel or channel in file.channels)
        and (not user or user == file.user)
    ]
    count, page = call.args.limit(100, 1000, "count"), max(call.args.limit(1, 10**6, "page"), 1)
    chosen = found[(page - 1) * count : page * count]
    paging = {"count": count, "total": len(found), "page": page, "pages": -(-len(found) // count)}
    return {"files": [file_json(call.workspace, file, call.origin) for file in chosen], "paging": paging}


def delete(call: Call) -> Json:
    file = _visible(call)
    if file.user != call.bot:
        raise SlackRefusal("cant_delete_file")
    call.workspace.remove_file(file.id)
    return {}


METHODS = (
    Method("files.getUploadURLExternal", get_upload_url, ("files:write",)),
    Method("files.completeUploadExternal", complete_upload, ("files:write",)),
    Method("files.info", info, ("files:read",)),
    Method("files.list", list_files, ("files:read",)),
    Method("files.delete", delete, ("files:write",)),
)
