"""Who asks and from where: actors, resolved from a caller's id and what is known of the person and the place."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.access.grants import Grants
from app.channel import IncomingMessage, Visibility
from commands.spec import Caller, Origin, Surface


class ActorKind(StrEnum):
    """What somebody is to the organisation."""

    MEMBER = "member"
    """A full member of the workspace."""
    GUEST = "guest"
    EXTERNAL = "external"
    """A person of another organisation, met in a shared channel."""
    UNKNOWN = "unknown"
    """A person Slack does not tell about: any of the three, so what holds for all of them."""
    OPERATOR = "operator"
    """Whoever has a shell on the bot's own machine."""
    SUBJECT = "subject"
    """The subject of a bearer token."""
    NOBODY = "nobody"
    """An id that no surface gives out. No row of the table speaks of it."""


@dataclass(frozen=True, slots=True)
class PersonFacts:
    """What the platform tells about a person."""

    kind: ActorKind = ActorKind.UNKNOWN
    is_workspace_admin: bool = False


@dataclass(frozen=True, slots=True)
class ChannelFacts:
    """What the platform tells about a channel."""

    visibility: Visibility = Visibility.UNKNOWN
    is_ext_shared: bool | None = None
    """Whether another organisation reads along; ``None`` when that is not known."""
    name: str | None = None
    topic: str | None = None


class People(Protocol):
    """Adapters: Slack's users.info."""

    async def facts(self, user_id: str) -> PersonFacts:
        """About ``slack:U…``, within a deadline. Never raises: what cannot be found out is unknown."""
        ...

    def has_facts(self, user_id: str) -> bool:
        """Whether ``facts`` need not wait for anybody now."""
        ...


class Places(Protocol):
    """Adapters: Slack's conversations.info."""

    async def facts(self, channel_id: str) -> ChannelFacts:
        """About ``slack:C…``, within a deadline. Never raises: what cannot be found out is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody with an id, and what the settings make of them."""

    id: str
    kind: ActorKind
    is_admin: bool = False
    is_welcome: bool = False
    """Whether the settings let such people talk with the bot."""
    actions: frozenset[str] | None = None
    """The only actions a token's entry allows; ``None`` where no entry narrows."""


_MACHINES = {"http": Surface.HTTP, "mcp": Surface.MCP, "cli": Surface.CLI}
_OPERATOR_ID = "cli:local"
_OF_PEOPLE = frozenset({Surface.CHAT, Surface.SLASH})
_TOLD_OF_NOTHING = ChannelFacts()
_OF_MACHINES = ChannelFacts(Visibility.MACHINE, is_ext_shared=False)
_INSIDE = {
    "slack:D": ChannelFacts(Visibility.DM, is_ext_shared=False),
    "slack:G": ChannelFacts(Visibility.PRIVATE),
}


def caller_of(message: IncomingMessage) -> Caller:
    """Who a message's author is to commands and access; its channel and visibility as they are stamped on it."""
    surface = _MACHINES.get(message.user_id.partition(":")[0], Surface.CHAT)
    origin = Origin(
        message.channel_id,
        message.thread_key,
        message.visibility.value,
        takes_turns=True,
        position=message.position,
        workspace_id=message.workspace_id,
    )
    return Caller(message.user_id, surface, origin)


def known_facts(channel_id: str) -> ChannelFacts:
    """What an id alone tells. Machine channels have one reader; a DM with the bot has no third party."""
    if channel_id.partition(":")[0] in _MACHINES:
        return _OF_MACHINES
    return _INSIDE.get(channel_id[: len("slack:D")], _TOLD_OF_NOTHING)


def is_person(caller: Caller) -> bool:
    """Whether the platform can be asked about the caller."""
    return caller.id.startswith("slack:") and caller.surface in _OF_PEOPLE


def actor_of(caller: Caller, person: PersonFacts, grants: Grants) -> Actor:
    """The actor behind ``caller``. ``person`` counts only for a caller that ``is_person``."""
    if is_person(caller):
        return _person(caller.id, person, grants)
    if caller.id == _OPERATOR_ID and caller.surface is Surface.CLI:
        return Actor(caller.id, ActorKind.OPERATOR, is_admin=True, is_welcome=True)
    prefix, _, subject = caller.id.partition(":")
    if subject and prefix != "cli" and _MACHINES.get(prefix) is caller.surface:
        return Actor(caller.id, ActorKind.SUBJECT, is_welcome=True, actions=grants.subjects.get(caller.id))
    return Actor(caller.id, ActorKind.NOBODY)


def _person(actor_id: str, person: PersonFacts, grants: Grants) -> Actor:
    welcome = {
        ActorKind.MEMBER: True,
        ActorKind.GUEST: grants.guests_may_talk,
        ActorKind.EXTERNAL: grants.external_may_talk,
        ActorKind.UNKNOWN: grants.guests_may_talk and grants.external_may_talk,
    }
    kind = person.kind if person.kind in welcome else ActorKind.UNKNOWN
    is_listed = actor_id.removeprefix("slack:") in grants.admins
    is_appointed = is_listed or (grants.workspace_admins and person.is_workspace_admin)
    return Actor(actor_id, kind, is_admin=kind is ActorKind.MEMBER and is_appointed, is_welcome=welcome[kind])
