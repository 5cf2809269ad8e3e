"""Whose memory a learned statement becomes: the audience asked for, narrowed to those who heard it said.

The audience is a hint of the model that read the conversation. Where the words were said may narrow it and never
widens it (specification, section 23).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from memory.scope import ScopeKind, kind_of, request_scopes


class Visibility(StrEnum):
    """Who can hear what is said in a place, narrowest first; a group DM is a DM."""

    DM = "dm"
    PRIVATE = "private"
    UNKNOWN = "unknown"
    """Nobody could be asked: as narrow as private in what it allows."""
    MACHINE = "machine"
    """A program's request, which speaks for the organisation."""
    PUBLIC = "public"


OPEN = frozenset({Visibility.MACHINE, Visibility.PUBLIC})
"""What is said here, the whole organisation may know."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the words were said. ``None`` is what the turn does not have or may not reach."""

    visibility: Visibility
    org: str | None = None
    repo: str | None = None
    channel_id: str | None = None
    user_id: str | None = None
    """The one who asked, and so heard all of it."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a statement goes."""

    scope_key: str
    is_narrowed: bool
    """It becomes known to fewer than was asked for."""
    keeps_pointer: bool
    """It may supersede or restate the record it names: that one is of the same scope. False without such a record."""


_WIDTH = {kind: place for place, kind in enumerate(ScopeKind)}
"""The wider, the smaller."""
_SUMMARY_ORDER = (ScopeKind.USER, ScopeKind.REPO, ScopeKind.CHANNEL)
_SAID_OPENLY = {
    ScopeKind.ORG: (ScopeKind.ORG, ScopeKind.CHANNEL, ScopeKind.USER),
    # Where the run lacks the audience's own scope, the organisation may know what everybody could hear.
    ScopeKind.REPO: (ScopeKind.REPO, ScopeKind.ORG, ScopeKind.CHANNEL, ScopeKind.USER),
    ScopeKind.CHANNEL: (ScopeKind.CHANNEL, ScopeKind.ORG, ScopeKind.USER),
    ScopeKind.USER: (ScopeKind.USER, ScopeKind.ORG, ScopeKind.CHANNEL),
}
# A repository is used from many channels, so its readers are more than those of any closed one.
_SAID_IN_A_CHANNEL = dict.fromkeys(
    (ScopeKind.ORG, ScopeKind.REPO, ScopeKind.CHANNEL), (ScopeKind.CHANNEL, ScopeKind.USER)
) | {ScopeKind.USER: (ScopeKind.USER, ScopeKind.CHANNEL)}
# A DM is one person's conversation, so what it says is theirs first.
_SAID_IN_A_DM = _SAID_IN_A_CHANNEL | dict.fromkeys((ScopeKind.ORG, ScopeKind.REPO), (ScopeKind.USER, ScopeKind.CHANNEL))
_WAYS = {
    Visibility.DM: _SAID_IN_A_DM,
    Visibility.PRIVATE: _SAID_IN_A_CHANNEL,
    Visibility.UNKNOWN: _SAID_IN_A_CHANNEL,
    Visibility.MACHINE: _SAID_OPENLY,
    Visibility.PUBLIC: _SAID_OPENLY,
}
"""The scopes to try for each audience: the one asked for if the place allows it, then others that do."""


def audience_of(tag: object) -> ScopeKind:
    """What a model's audience tag means: anything that is none asks for the organisation."""
    return ScopeKind(tag) if tag in set(ScopeKind) else ScopeKind.ORG


def summary_audience(audiences: Iterable[ScopeKind]) -> ScopeKind:
    """The narrowest of what a conversation's surviving facts asked for and of the kinds of scope they went to.

    User, then repo, then channel, then org: a summary restates what the facts say.
    """
    known = set(audiences)
    return next((kind for kind in _SUMMARY_ORDER if kind in known), ScopeKind.ORG)


def narrowest(own: Origin, quoted: Iterable[Origin]) -> Origin:
    """The origin of a turn that also read other conversations: what all who heard each of them have in common.

    The scopes stay those of the turn, for it reaches no other. Readers of its channel did not hear a closed
    conversation elsewhere, and of those who did only the one who asked is known: name them in ``user_id`` of what
    was quoted, if they may read it.
    """
    origin = own
    for other in quoted:
        origin = _narrowed(origin, other)
    return origin


def _narrowed(own: Origin, other: Origin) -> Origin:
    narrower = min(own.visibility, other.visibility, key=list(Visibility).index)
    if other.visibility in OPEN:
        return replace(own, visibility=narrower)
    return replace(
        own,
        visibility=narrower,
        channel_id=own.channel_id if own.channel_id == other.channel_id else None,
        user_id=own.user_id if own.user_id == other.user_id else None,
    )


def route(audience: ScopeKind, origin: Origin, target_of_supersedes: str | None = None) -> Route | None:
    """The scope for a statement; ``None`` when the turn has none that only those who heard it can read.

    ``target_of_supersedes`` is the scope key of the record that the statement corrects or restates. Its scope
    outweighs the audience, so that no mislabelled correction carries a personal record to others. Raises
    ``ScopeKeyError`` for an id that makes no scope.
    """
    scopes = request_scopes(origin.org, user_id=origin.user_id, channel_id=origin.channel_id, repo=origin.repo).keys()
    reachable = {kind_of(key): key for key in scopes}
    wanted = _wanted(audience, target_of_supersedes, scopes)
    ways = _WAYS[origin.visibility][wanted]
    if target_of_supersedes is not None:
        # What corrects a record is no news for more people than the record was.
        ways = tuple(kind for kind in ways if _WIDTH[kind] >= _WIDTH[wanted])
    found = next((kind for kind in ways if kind in reachable), None)
    if found is None:
        return None
    key = reachable[found]
    is_narrowed = found is not wanted and found is not ScopeKind.ORG
    return Route(key, is_narrowed=is_narrowed, keeps_pointer=key == target_of_supersedes)


def _wanted(audience: ScopeKind, target: str | None, reachable: tuple[str, ...]) -> ScopeKind:
    """A record of somebody else's scope is not corrected, and what was said of it goes no wider than it did."""
    if target is None:
        return audience
    if target in reachable:
        return kind_of(target)
    return max(audience, kind_of(target), key=list(ScopeKind).index)
