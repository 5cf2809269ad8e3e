"""Scope keys: whose memory it is. Derived from who asks and where, never configured."""

from collections.abc import Iterable


def org_scope(organization: str) -> str:
    return _key("org", organization)


def channel_scope(channel_id: str) -> str:
    return _key("channel", channel_id)


def user_scope(user_id: str) -> str:
    return _key("user", user_id)


def scopes_of(*, organization: str, channel_id: str, user_id: str) -> Iterable[str]:
    """The scopes of one request, widest first. There is no way to name another person's."""
    return org_scope(organization), channel_scope(channel_id), user_scope(user_id)


def _key(kind: str, identifier: str) -> str:
    if not identifier or any(c.isspace() for c in identifier):
        raise ValueError(f"a {kind} scope needs an id without spaces")
    return f"{kind}:{identifier}"
