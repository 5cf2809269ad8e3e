"""conversations.*: reading - lists of channels and members, history and threads."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from app.playground.model import Channel, ChannelKind, Json, Message
from app.playground.objects import channel_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method
from app.playground.webapi.paging import cursor_of, mark_of, page_of

_KINDS = {
    "public_channel": ChannelKind.PUBLIC,
    "private_channel": ChannelKind.PRIVATE,
    "im": ChannelKind.DM,
    "mpim": ChannelKind.GROUP_DM,
}
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")
_END_OF_TIME = "9999999999.999999"


def _wanted_kinds(call: Call) -> set[ChannelKind]:
    """Refuses ``invalid_types``, and ``missing_scope`` for a kind the app may not read."""
    names = call.args.names("types") or ["public_channel"]
    if any(name not in _KINDS for name in names):
        raise SlackRefusal("invalid_types")
    kinds = {_KINDS[name] for name in names}
    for kind in sorted(kinds):
        call.need_kind_scope(kind, "read")
    return kinds


def _listed(call: Call, channels: Iterable[Channel]) -> list[Json]:
    kinds = _wanted_kinds(call)
    skip_archived = call.args.flag("exclude_archived")
    return [
        channel_json(call.workspace, channel, call.bot)
        for channel in channels
        if channel.kind in kinds and not (skip_archived and channel.is_archived)
    ]


def list_channels(call: Call) -> Json:
    workspace = call.workspace
    channels = [workspace.channels[channel] for channel in workspace.visible_channels(call.bot)]
    page, following = page_of(call, _listed(call, channels), 100, 1000)
    for shown in page:
        if not shown["is_im"]:
            shown["num_members"] = len(workspace.channels[shown["id"]].members)
    return {"channels": list(page)} | following


def users_conversations(call: Call) -> Json:
    """The channels a person is in, as far as the bot can see them."""
    user = call.args.text("user", call.bot)
    call.workspace.member(user)
    visible = [call.workspace.channels[channel] for channel in call.workspace.visible_channels(call.bot)]
    page, following = page_of(
        call, _listed(call, [channel for channel in visible if user in channel.members]), 100, 999
    )
    return {"channels": list(page)} | following


def info(call: Call) -> Json:
    channel = call.channel()
    call.need_kind_scope(channel.kind, "read")
    shown = channel_json(call.workspace, channel, call.bot)
    if call.args.flag("include_num_members"):
        shown["num_members"] = len(channel.members)
    if call.args.flag("include_locale"):
        shown["locale"] = "en-US"
    return {"channel": shown}


def members(call: Call) -> Json:
    channel = call.channel()
    call.need_kind_scope(channel.kind, "read")
    page, following = page_of(call, sorted(channel.members), 100, 1000)
    return {"members": list(page)} | following


def _readable(call: Call) -> Channel:
    """Refuses ``not_in_channel``: a bot reads only where it is a member."""
    channel = call.channel()
    call.need_kind_scope(channel.kind, "history")
    return call.workspace.require_member(channel.id, call.bot)


def _bounds(call: Call, stamps: list[str]) -> tuple[int, int]:
    """Which slice of sorted timestamps lies between ``oldest`` and ``latest``."""
    inclusive = call.args.flag("inclusive")
    oldest = _stamp(call, "oldest", "0")
    latest = _stamp(call, "latest", _END_OF_TIME)
    start = (bisect_left if inclusive else bisect_right)(stamps, oldest)
    end = (bisect_right if inclusive else bisect_left)(stamps, latest)
    return start, end


def _stamp(call: Call, name: str, default: str) -> str:
    """In the fixed width in which timestamps sort as text; refuses ``invalid_ts_oldest``, ``invalid_ts_latest``."""
    value = call.args.text(name) or default
    seconds, _, fraction = value.partition(".")
    if not seconds.isdigit() or (fraction and not fraction.isdigit()):
        raise SlackRefusal(f"invalid_ts_{name}")
    return f"{int(seconds):010d}.{fraction:0<6}"


def history(call: Call) -> Json:
    """What the channel itself shows, newest first."""
    channel = _readable(call)
    stamps = call.workspace.timeline(channel.id)
    start, end = _bounds(call, stamps)
    if mark := mark_of(call.args.text("cursor")):
        end = min(end, bisect_left(stamps, mark))
    limit = call.args.limit(100, 999)
    first = max(start, end - limit)
    chosen = stamps[first:end]
    found = call.workspace.messages.get(channel.id, {})
    has_more = first > start
    answer: Json = {
        "messages": [_shown(call, found[ts]) for ts in reversed(chosen)],
        "has_more": has_more,
        "pin_count": sum(pinned == channel.id for pinned, _ in call.workspace.pins),
        "channel_actions_ts": None,
        "channel_actions_count": 0,
    }
    return answer | ({"response_metadata": {"next_cursor": cursor_of(chosen[0])}} if has_more else {})


def replies(call: Call) -> Json:
    """A thread, oldest first, its root always on the first page; of a reply's ts only that reply."""
    channel = _readable(call)
    ts = call.args.required("ts")
    thread = call.workspace.thread(channel.id, ts)
    root, following = thread[0], thread[1:]
    stamps = [message.ts for message in following]
    start, end = _bounds(call, stamps)
    mark = mark_of(call.args.text("cursor"))
    if mark:
        start = max(start, bisect_right(stamps, mark))
    heads = [] if mark else [root]
    room = max(call.args.limit(1000, 1000) - len(heads), 0)
    chosen = following[start : min(end, start + room)]
    has_more = start + room < end
    answer: Json = {"messages": [_shown(call, each) for each in (*heads, *chosen)], "has_more": has_more}
    last = (chosen or [root])[-1].ts
    return answer | ({"response_metadata": {"next_cursor": cursor_of(last)}} if has_more else {})


def _shown(call: Call, message: Message) -> Json:
    """History names the files, but not the ``file_share`` subtype that the event has."""
    shown = call.shown(message, include_all_metadata=call.args.flag("include_all_metadata"))
    if shown.get("subtype") == "file_share":
        del shown["subtype"]
    return shown


METHODS = (
    Method("conversations.list", list_channels, _READ),
    Method("conversations.info", info, _READ),
    Method("conversations.members", members, _READ),
    Method("conversations.history", history, _HISTORY),
    Method("conversations.replies", replies, _HISTORY),
    Method("users.conversations", users_conversations, _READ),
)
