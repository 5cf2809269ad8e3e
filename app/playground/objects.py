"""The workspace's things as the JSON objects Slack's API and events show."""

from app.playground.model import Channel, ChannelKind, File, Json, Member, SlackApp, View
from app.playground.origin import Origin
from app.playground.workspace import Workspace

_ICON_SIZES = (24, 32, 48, 72, 192, 512)
_PRETTY_TYPES = {"txt": "Plain Text", "md": "Markdown", "png": "PNG", "jpg": "JPEG", "pdf": "PDF", "py": "Python"}


def avatar_json(origin: Origin, subject_id: str, sizes: tuple[int, ...] = _ICON_SIZES) -> Json:
    return {f"image_{size}": f"{origin.base_url}/avatars/{subject_id}_{size}.png" for size in sizes}


def bot_profile_json(workspace: Workspace, app: SlackApp, origin: Origin) -> Json:
    """What accompanies each message of an app."""
    return {
        "id": app.bot_id,
        "deleted": False,
        "name": app.name,
        "updated": 0,
        "app_id": app.id,
        "user_id": app.bot_user_id,
        "icons": avatar_json(origin, app.bot_id, (36, 48, 72)),
        "team_id": workspace.team.id,
    }


def email_of(workspace: Workspace, member: Member) -> str:
    return f"{member.name}@{workspace.team.domain}.example"


def profile_json(workspace: Workspace, member: Member, origin: Origin, *, with_email: bool = False) -> Json:
    first, _, last = member.real_name.partition(" ")
    profile: Json = {
        "title": member.title,
        "phone": "",
        "skype": "",
        "real_name": member.real_name,
        "real_name_normalized": member.real_name,
        "display_name": member.name,
        "display_name_normalized": member.name,
        "fields": {},
        "status_text": "",
        "status_text_canonical": "",
        "status_emoji": "",
        "status_emoji_display_info": [],
        "status_expiration": 0,
        "avatar_hash": member.id[-6:].lower(),
        "first_name": first,
        "last_name": last,
        "team": workspace.team.id,
        **avatar_json(origin, member.id),
    }
    if member.bot_id:
        return profile | {"bot_id": member.bot_id, "api_app_id": member.app_id or "", "always_active": True}
    return profile | ({"email": email_of(workspace, member)} if with_email else {})


def user_json(workspace: Workspace, member: Member, origin: Origin, *, with_email: bool = False) -> Json:
    return {
        "id": member.id,
        "team_id": workspace.team.id,
        "name": member.name,
        "deleted": False,
        "color": member.color,
        "real_name": member.real_name,
        "tz": member.tz,
        "tz_label": "Central European Time",
        "tz_offset": 3600,
        "profile": profile_json(workspace, member, origin, with_email=with_email),
        "is_admin": member.is_admin,
        "is_owner": member.is_owner,
        "is_primary_owner": member.is_owner,
        "is_restricted": member.is_restricted,
        "is_ultra_restricted": False,
        "is_bot": member.bot_id is not None,
        "is_app_user": False,
        "updated": 0,
        "is_email_confirmed": member.bot_id is None,
        "who_can_share_contact_card": "EVERYONE",
    }


def channel_json(workspace: Workspace, channel: Channel, viewer: str) -> Json:
    """As ``viewer`` sees it; a DM names the other person instead of a channel name."""
    if channel.kind is ChannelKind.DM:
        return _dm_json(workspace, channel, viewer)
    stamp = {"creator": channel.creator, "last_set": channel.created}
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind is ChannelKind.PUBLIC,
        "is_group": channel.kind is ChannelKind.PRIVATE,
        "is_im": False,
        "is_mpim": channel.kind is ChannelKind.GROUP_DM,
        "is_private": channel.kind is not ChannelKind.PUBLIC,
        "is_archived": channel.is_archived,
        "is_general": channel.name == "general",
        "is_member": viewer in channel.members,
        "is_shared": False,
        "is_ext_shared": False,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "pending_connected_team_ids": [],
        "shared_team_ids": [workspace.team.id],
        "context_team_id": workspace.team.id,
        "created": channel.created,
        "updated": channel.created * 1000,
        "creator": channel.creator,
        "unlinked": 0,
        "previous_names": [],
        "topic": {"value": channel.topic} | stamp,
        "purpose": {"value": channel.purpose} | stamp,
    }


def _dm_json(workspace: Workspace, channel: Channel, viewer: str) -> Json:
    other = next((user for user in sorted(channel.members) if user != viewer), viewer)
    return {
        "id": channel.id,
        "created": channel.created,
        "updated": channel.created * 1000,
        "is_archived": False,
        "is_im": True,
        "is_org_shared": False,
        "context_team_id": workspace.team.id,
        "user": other,
        "is_user_deleted": False,
        "priority": 0,
    }


def file_json(workspace: Workspace, file: File, origin: Origin) -> Json:
    extension = file.name.rpartition(".")[2].lower() if "." in file.name else "binary"
    filetype = "text" if extension == "txt" else extension
    url = origin.file_url(file.id, file.name)
    return {
        "id": file.id,
        "created": file.created,
        "timestamp": file.created,
        "name": file.name,
        "title": file.title,
        "mimetype": file.mimetype,
        "filetype": filetype,
        "pretty_type": _PRETTY_TYPES.get(extension, extension.upper()),
        "user": file.user,
        "user_team": workspace.team.id,
        "editable": False,
        "size": file.size,
        "mode": "snippet" if file.mimetype.startswith("text/") else "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": any(_is_public(workspace, channel) for channel in file.channels),
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "alt_txt": file.alt_txt,
        "url_private": url,
        "url_private_download": f"{url}?download=1",
        "media_display_type": "unknown",
        "permalink": f"{origin.base_url}/team-files/{file.user}/{file.id}",
        "permalink_public": f"{origin.base_url}/public-files/{file.id}",
        "comments_count": 0,
        "is_starred": False,
        "has_rich_preview": False,
        "file_access": "visible",
        "channels": [channel for channel in file.channels if _is_public(workspace, channel)],
        "groups": [channel for channel in file.channels if _is_private(workspace, channel)],
        "ims": [channel for channel in file.channels if channel.startswith("D")],
        "shares": _shares_json(workspace, file),
    }


def _is_public(workspace: Workspace, channel: str) -> bool:
    return channel in workspace.channels and workspace.channels[channel].kind is ChannelKind.PUBLIC


def _is_private(workspace: Workspace, channel: str) -> bool:
    return not _is_public(workspace, channel) and not channel.startswith("D")


def _shares_json(workspace: Workspace, file: File) -> Json:
    shares: dict[str, dict[str, list[Json]]] = {}
    for channel, stamps in file.shares.items():
        side = "public" if _is_public(workspace, channel) else "private"
        shares.setdefault(side, {})[channel] = [_share_json(workspace, channel, ts) for ts in stamps]
    return dict(shares)


def _share_json(workspace: Workspace, channel: str, ts: str) -> Json:
    message = workspace.messages.get(channel, {}).get(ts)
    share: Json = {
        "reply_users": [],
        "reply_users_count": 0,
        "reply_count": 0,
        "ts": ts,
        "channel_name": workspace.channels[channel].name,
        "team_id": workspace.team.id,
        "share_user_id": message.user if message else "",
        "source": "UNKNOWN",
        "is_silent_share": False,
    }
    return share | ({"thread_ts": message.thread_ts} if message and message.thread_ts else {})


def view_json(workspace: Workspace, view: View) -> Json:
    """A view as views.open answers it and interactions carry it."""
    app = workspace.apps.get(view.app_id)
    payload = view.payload
    return {
        "id": view.id,
        "team_id": workspace.team.id,
        "type": payload.get("type", "modal"),
        "blocks": payload.get("blocks", []),
        "private_metadata": payload.get("private_metadata", ""),
        "callback_id": payload.get("callback_id", ""),
        "state": {"values": view.state},
        "hash": view.hash,
        "title": payload.get("title"),
        "clear_on_close": bool(payload.get("clear_on_close", False)),
        "notify_on_close": bool(payload.get("notify_on_close", False)),
        "close": payload.get("close"),
        "submit": payload.get("submit"),
        "submit_disabled": bool(payload.get("submit_disabled", False)),
        "previous_view_id": view.previous_id,
        "root_view_id": view.root_id,
        "app_id": view.app_id,
        "external_id": view.external_id,
        "app_installed_team_id": workspace.team.id,
        "bot_id": app.bot_id if app else "",
    }
