"""conversations.*: making, joining, leaving and changing channels, and opening DMs."""

import re
from dataclasses import replace

from app.playground.model import Channel, ChannelKind, Json
from app.playground.objects import channel_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method

_NAME_MAX = 80
_TOPIC_MAX = 250
_INVITED_MAX = 100
_GROUP_DM_OTHERS_MAX = 8
_CHANNEL_NAME = re.compile(r"[a-z0-9][a-z0-9_\-]*")
_ROOMS = (ChannelKind.PUBLIC, ChannelKind.PRIVATE)
_MANAGE = {
    ChannelKind.PUBLIC: ("channels:manage", "channels:write"),
    ChannelKind.PRIVATE: ("groups:write",),
    ChannelKind.DM: ("im:write",),
    ChannelKind.GROUP_DM: ("mpim:write",),
}
_ANY_MANAGE = tuple(scope for scopes in _MANAGE.values() for scope in scopes)


def shown(call: Call, channel: Channel) -> Json:
    return {"channel": channel_json(call.workspace, channel, call.bot)}


def _room(call: Call) -> Channel:
    """A channel of which the bot is a member and may manage things; no DM."""
    channel = call.joined_channel()
    call.need_scope(*_MANAGE[channel.kind])
    if channel.kind not in _ROOMS:
        raise SlackRefusal("method_not_supported_for_channel_type")
    return channel


def _open_room(call: Call) -> Channel:
    channel = _room(call)
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    return channel


def _checked_name(call: Call) -> str:
    name = call.args.text("name")
    if not name:
        raise SlackRefusal("invalid_name_required")
    if len(name) > _NAME_MAX:
        raise SlackRefusal("invalid_name_maxlength")
    if not _CHANNEL_NAME.fullmatch(name):
        raise SlackRefusal("invalid_name_specials")
    return name


def create(call: Call) -> Json:
    private = call.args.flag("is_private")
    call.need_scope(*_MANAGE[ChannelKind.PRIVATE if private else ChannelKind.PUBLIC])
    return shown(call, call.workspace.create_channel(_checked_name(call), call.bot, private=private))


def rename(call: Call) -> Json:
    channel, name = _open_room(call), _checked_name(call)
    if any(other.name == name for other in call.workspace.channels.values() if other is not channel):
        raise SlackRefusal("name_taken")
    channel.name = name
    call.workspace.channel_changed(channel)
    return shown(call, channel)


def archive(call: Call) -> Json:
    channel = _room(call)
    if channel.is_archived:
        raise SlackRefusal("already_archived")
    if channel.name == "general":
        raise SlackRefusal("cant_archive_general")
    channel.is_archived = True
    call.workspace.channel_changed(channel)
    return {}


def _checked_topic(call: Call, name: str) -> str:
    topic = call.args.text(name)
    if len(topic) > _TOPIC_MAX:
        raise SlackRefusal("too_long")
    return topic


def set_topic(call: Call) -> Json:
    channel = _open_room(call)
    channel.topic = _checked_topic(call, "topic")
    call.workspace.channel_changed(channel)
    return shown(call, channel)


def set_purpose(call: Call) -> Json:
    channel = _open_room(call)
    channel.purpose = _checked_topic(call, "purpose")
    call.workspace.channel_changed(channel)
    return shown(call, channel) | {"purpose": channel.purpose}


def join(call: Call) -> Json:
    channel = call.channel()
    if channel.kind is not ChannelKind.PUBLIC:
        raise SlackRefusal("method_not_supported_for_channel_type")
    if call.bot in channel.members:
        call.warn("already_in_channel")
    call.workspace.join(channel.id, call.bot)
    return shown(call, channel)


def leave(call: Call) -> Json:
    channel = call.channel()
    call.need_scope(*_MANAGE[channel.kind])
    if channel.name == "general":
        raise SlackRefusal("cant_leave_general")
    if call.bot not in channel.members:
        return {"not_in_channel": True}
    call.workspace.leave(channel.id, call.bot)
    return {}


def invite(call: Call) -> Json:
    channel, users = _open_room(call), call.args.names("users")
    if not users:
        raise SlackRefusal("no_user")
    if len(users) > _INVITED_MAX:
        raise SlackRefusal("too_many_users")
    for user in users:
        call.workspace.member(user)
        if user == call.bot:
            raise SlackRefusal("cant_invite_self")
        if user in channel.members:
            raise SlackRefusal("already_in_channel")
    for user in users:
        call.workspace.join(channel.id, user, call.bot)
    return shown(call, channel)


def kick(call: Call) -> Json:
    channel, user = _open_room(call), call.args.required("user")
    call.workspace.member(user)
    if user == call.bot:
        raise SlackRefusal("cant_kick_self")
    if channel.name == "general":
        raise SlackRefusal("cant_kick_from_general")
    call.workspace.leave(channel.id, user)
    return {}


def mark(call: Call) -> Json:
    """Read marks of a bot show nowhere; only the arguments are checked."""
    channel = call.joined_channel()
    call.need_scope(*_MANAGE[channel.kind])
    if not re.fullmatch(r"\d+\.\d+", call.args.required("ts")):
        raise SlackRefusal("invalid_timestamp")
    return {}


def open_dm(call: Call) -> Json:
    """With ``users`` a DM or group DM, with ``channel`` one that exists."""
    workspace = call.workspace
    users = [user for user in call.args.names("users") if user != call.bot]
    known = len(workspace.channels)
    if "channel" in call.args:
        channel = call.channel()
        if channel.kind in _ROOMS:
            raise SlackRefusal("method_not_supported_for_channel_type")
    elif not users:
        raise SlackRefusal("users_list_not_supplied")
    elif len(users) > _GROUP_DM_OTHERS_MAX:
        raise SlackRefusal("too_many_users")
    else:
        call.need_scope("im:write" if len(users) == 1 else "mpim:write")
        channel = workspace.open_dm([call.bot, *users])
    is_new = len(workspace.channels) > known
    seen = {} if is_new else {"no_op": True, "already_open": True}
    if call.args.flag("return_im"):
        return seen | shown(call, channel)
    return seen | {"channel": {"id": channel.id}}


METHODS = tuple(
    replace(method, name=f"conversations.{method.name}")
    for method in (
        Method("create", create, _ANY_MANAGE),
        Method("rename", rename, _ANY_MANAGE),
        Method("archive", archive, _ANY_MANAGE),
        Method("setTopic", set_topic, _ANY_MANAGE),
        Method("setPurpose", set_purpose, _ANY_MANAGE),
        Method("join", join, ("channels:join", "channels:manage", "channels:write")),
        Method("leave", leave, _ANY_MANAGE),
        Method("invite", invite, _ANY_MANAGE),
        Method("kick", kick, _ANY_MANAGE),
        Method("mark", mark, _ANY_MANAGE),
        Method("open", open_dm, ("im:write", "mpim:write")),
    )
)
