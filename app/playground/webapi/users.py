"""users.*: who is here."""

from app.playground.model import Json, Member
from app.playground.objects import email_of, profile_json, user_json
from app.playground.refusal import SlackRefusal
from app.playground.webapi.call import Call, Method
from app.playground.webapi.paging import page_of


def _shown(call: Call, member: Member) -> Json:
    """With the email address only for an app that may read it."""
    shown = user_json(call.workspace, member, call.origin, with_email="users:read.email" in call.app.scopes)
    return shown | ({"locale": "en-US"} if call.args.flag("include_locale") else {})


def list_users(call: Call) -> Json:
    everybody = [_shown(call, member) for member in call.workspace.members.values()]
    page, following = page_of(call, everybody, 200, 1000)
    return {"members": list(page), "cache_ts": call.workspace.epoch_s()} | following


def info(call: Call) -> Json:
    return {"user": _shown(call, call.workspace.member(call.args.text("user")))}


def lookup_by_email(call: Call) -> Json:
    wanted = call.args.text("email").lower()
    for member in call.workspace.members.values():
        if member.bot_id is None and email_of(call.workspace, member) == wanted:
            return {"user": _shown(call, member)}
    raise SlackRefusal("users_not_found")


def get_profile(call: Call) -> Json:
    member = call.workspace.member(call.args.text("user", call.bot))
    may_mail = "users:read.email" in call.app.scopes
    return {"profile": profile_json(call.workspace, member, call.origin, with_email=may_mail)}


def get_presence(call: Call) -> Json:
    call.workspace.member(call.args.text("user", call.bot))
    return {"presence": "active"}


METHODS = (
    Method("users.list", list_users, ("users:read",)),
    Method("users.info", info, ("users:read",)),
    Method("users.lookupByEmail", lookup_by_email, ("users:read.email",)),
    Method("users.profile.get", get_profile, ("users.profile:read",)),
    Method("users.getPresence", get_presence, ("users:read",)),
)
