"""api.test, auth.*, apps.connections.open, team, bots, emoji, user groups, bookmarks and blocks.validate."""

from app.playground.limits import block_problems, refusal_of, view_problems
from app.playground.model import Json
from app.playground.objects import avatar_json, bot_profile_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method


def api_test(call: Call) -> Json:
    args = {name: value for name, value in call.args.sent.items() if name != "token"}
    if call.args.text("error"):
        raise SlackRefusal(call.args.text("error"), {"args": args})
    return {"args": args}


def auth_test(call: Call) -> Json:
    workspace, app = call.workspace, call.app
    answer: Json = {
        "url": f"{call.origin.base_url}/",
        "team": workspace.team.name,
        "team_id": workspace.team.id,
        "is_enterprise_install": False,
    }
    if call.token == app.app_token:
        return answer | {"app_name": app.name, "app_id": app.id}
    user = workspace.member(call.bot).name
    return answer | {"user": user, "user_id": call.bot, "bot_id": app.bot_id}


def auth_revoke(call: Call) -> Json:
    if call.args.flag("test"):
        return {"revoked": False}
    call.workspace.revoked_tokens.add(call.token)
    return {"revoked": True}


def apps_connections_open(call: Call) -> Json:
    return {"url": call.sockets.issue(call.app)}


def team_info(call: Call) -> Json:
    team = call.workspace.team
    return {
        "team": {
            "id": team.id,
            "name": team.name,
            "url": f"{call.origin.base_url}/",
            "domain": team.domain,
            "email_domain": f"{team.domain}.example",
            "icon": avatar_json(call.origin, team.id, (34, 44, 68, 88, 102, 132, 230)) | {"image_default": True},
            "avatar_base_url": f"{call.origin.base_url}/avatars/",
            "is_verified": False,
        }
    }


def bots_info(call: Call) -> Json:
    wanted = call.args.text("bot", call.app.bot_id)
    app = next((app for app in call.workspace.apps.values() if app.bot_id == wanted), None)
    if app is None:
        raise SlackRefusal("bot_not_found")
    profile = bot_profile_json(call.workspace, app, call.origin)
    return {"bot": {name: value for name, value in profile.items() if name != "team_id"}}


def emoji_list(call: Call) -> Json:
    """The playground has no custom emoji."""
    return {"emoji": {}, "cache_ts": call.workspace.next_ts(), "categories_version": "1"}


def usergroups_list(_call: Call) -> Json:
    """The playground has no user groups."""
    return {"usergroups": []}


def bookmarks_list(call: Call) -> Json:
    """The playground's channels have no bookmarks."""
    call.joined_channel("channel_id")
    return {"bookmarks": []}


def blocks_validate(call: Call) -> Json:
    """Exactly one of blocks, message, view; problems come with their JSON pointers."""
    given = [name for name in ("blocks", "message", "view") if name in call.args]
    if len(given) != 1:
        raise refusal_of("invalid_arguments", ["[ERROR] exactly one of blocks, message, view is required"])
    if given[0] == "view":
        problems = view_problems(call.args.parsed("view", "invalid_json"))
    elif given[0] == "message":
        message = call.args.json_object("message", "invalid_json") or {}
        problems = block_problems(message.get("blocks", []), "/message/blocks")
    else:
        problems = block_problems(call.args.parsed("blocks", "invalid_json"))
    if problems:
        raise refusal_of("invalid_blocks", problems)
    return {}


METHODS = (
    Method("api.test", api_test, needs_token=False),
    Method("auth.test", auth_test),
    Method("auth.revoke", auth_revoke),
    Method("apps.connections.open", apps_connections_open, app_token=True),
    Method("team.info", team_info, ("team:read",)),
    Method("bots.info", bots_info, ("users:read",)),
    Method("emoji.list", emoji_list, ("emoji:read",)),
    Method("usergroups.list", usergroups_list, ("usergroups:read",)),
    Method("bookmarks.list", bookmarks_list, ("bookmarks:read",)),
    Method("blocks.validate", blocks_validate, needs_token=False),
)
