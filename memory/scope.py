"""Scope keys: whose memory it is. Derived from who asks and where, never configured (specification, sections 4, 21)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from memory.repository import folded

SCOPE_KEY_CHARS = 200
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_RECORD_ID = re.compile(r"mem:(?P<scope>.+):(?P<sequence>0|[1-9][0-9]{0,17})")


class ScopeKind(StrEnum):
    """In listing order: widest first, the person's own last."""

    ORG = "org"
    REPO = "repo"
    CHANNEL = "channel"
    USER = "user"


class ScopeKeyError(ValueError):
    """A scope was asked for without what it is derived from. There is no shared bucket for the nameless."""


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scopes one request may reach. There is no way to name another person's, channel's or repository's."""

    org: str | None
    """``None`` for those who may not see what the organisation knows."""
    repo: str | None = None
    channel: str | None = None
    user: str | None = None

    def keys(self) -> tuple[str, ...]:
        """Those that exist, widest first."""
        return tuple(key for key in (self.org, self.repo, self.channel, self.user) if key is not None)


def scope_key(kind: ScopeKind, identifier: str | None) -> str:
    """``<kind>:<identifier>``, a repository's ``folded``.

    Raises ``ScopeKeyError`` for an identifier that is missing, blank or unfit.
    """
    key = f"{kind}:{identifier or ''}"
    key = folded(key) if kind is ScopeKind.REPO else key
    if not identifier or _UNFIT.search(key) or len(key) > SCOPE_KEY_CHARS:
        raise ScopeKeyError(f"a {kind} scope needs an identifier of visible characters, {SCOPE_KEY_CHARS} at most")
    return key


def request_scopes(
    organization: str | None, *, user_id: str | None = None, channel_id: str | None = None, repo: str | None = None
) -> Scopes:
    """The scopes of a request: each where the request has what it is derived from.

    ``organization`` is ``None`` only for a request that may not reach the organisation's memory.
    """
    return Scopes(
        org=scope_key(ScopeKind.ORG, organization) if organization is not None else None,
        repo=scope_key(ScopeKind.REPO, repo) if repo is not None else None,
        channel=scope_key(ScopeKind.CHANNEL, channel_id) if channel_id is not None else None,
        user=scope_key(ScopeKind.USER, user_id) if user_id is not None else None,
    )


def kind_of(key: str) -> ScopeKind:
    """Raises ``ScopeKeyError`` for what is no scope key."""
    kind, colon, identifier = key.partition(":")
    if not colon or kind not in set(ScopeKind):
        raise ScopeKeyError("not a scope key")
    return ScopeKind(scope_key(ScopeKind(kind), identifier).partition(":")[0])


def in_order(keys: Iterable[str]) -> list[str]:
    """Scope keys widest first, each once."""
    order = list(ScopeKind)
    return sorted(dict.fromkeys(keys), key=lambda key: order.index(kind_of(key)))


def record_id(key: str, sequence: int) -> str:
    return f"mem:{key}:{sequence}"


def parse_record_id(text: str) -> tuple[str, int] | None:
    """Scope key and sequence number of a record id; ``None`` for anything else."""
    found = _RECORD_ID.fullmatch(text)
    if found is None:
        return None
    try:
        kind_of(found["scope"])
    except ScopeKeyError:
        return None
    return found["scope"], int(found["sequence"])
