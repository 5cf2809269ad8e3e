"""The table of who may do what, and the one function that reads it. What no row allows is denied."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

from app.access.actor import Actor, ActorKind, ChannelFacts
from app.channel import Visibility
from commands.ports import Decision

ANY_ACTION = "*"
"""Stands in a row about commands for every action, including those that have no row of their own."""
_ALLOWED = Decision(is_allowed=True)
_ACTION = re.compile(r"[a-z]+:[a-z]+")

Word = TypeVar("Word", bound=StrEnum)


class ResourceKind(StrEnum):
    BOT = "bot"
    AGENT = "agent"
    COMMAND = "command"
    ORG = "org"
    REPO = "repo"
    CHANNEL = "channel"
    USER = "user"
    """The last four are scopes: of memory, and of what is set for a person or a channel."""


class Condition(StrEnum):
    """The closed vocabulary of what a row may ask for."""

    IS_ADMIN = "is_admin"
    IS_WELCOME = "is_welcome"
    """The settings let such people talk."""
    IS_ADMITTED = "is_admitted"
    """The agent or command is not restricted, or the actor is on its list."""
    IS_SELF = "is_self"
    IS_OURS = "is_ours"
    """The organisation is the one the bot works for."""
    IS_HERE = "is_here"
    """The channel is the one the request comes from."""
    IS_PUBLIC = "is_public"
    """Every member can read the channel anyway."""
    STAYS_INSIDE = "stays_inside"
    """It is known that no other organisation reads what is answered."""
    IS_SAID_OPENLY = "is_said_openly"
    """The request comes from a public channel or a machine."""


class PolicyError(ValueError):
    """The table contradicts itself or the vocabulary; the message names the row."""


class Row(NamedTuple):
    """Rows for one action and resource are alternatives; within a row, every condition must hold."""

    actions: str
    """Separated by blanks, here and below."""
    resources: str
    actors: str
    conditions: str = ""


_PERSON = "member guest external unknown"
_ANYONE = f"{_PERSON} operator subject"

TABLE: tuple[Row, ...] = (
    Row("bot:talk", "bot", _ANYONE, "is_welcome"),
    Row("agent:run", "agent", _ANYONE, "is_welcome is_admitted"),
    Row("help:read status:read memory:read memory:write", "command", _ANYONE, "is_welcome is_admitted"),
    Row("session:read session:write config:read config:write", "command", _ANYONE, "is_welcome is_admitted"),
    Row(ANY_ACTION, "command", "member operator", "is_admin"),
    Row("memory:read memory:write", "user", _ANYONE, "is_welcome is_self"),
    Row("memory:read", "org", "member subject operator", "is_ours stays_inside"),
    Row("memory:read", "repo", "member operator", "stays_inside"),
    Row("memory:read", "channel", _PERSON, "is_welcome is_here"),
    Row("memory:read", "channel", "member", "is_public stays_inside"),
    Row("memory:read", "channel", "operator"),
    Row("memory:write", "org", "member operator", "is_ours is_admin"),
    Row("memory:write", "repo channel", "member operator", "is_admin"),
    # The command itself knows whose a conversation is; this is for those who are not among its people.
    Row("session:write config:write", "channel", "member operator", "is_admin is_here"),
    Row("config:write", "user", _ANYONE, "is_welcome is_self"),
    # What is put before an answer, and what is kept of one, without a command.
    Row("memory:recall", "org", "member subject operator", "is_ours stays_inside"),
    Row("memory:recall", "repo", "member subject operator", "stays_inside"),
    Row("memory:reflect", "org", "member subject operator", "is_ours stays_inside is_said_openly"),
    Row("memory:reflect", "repo", "member subject operator", "stays_inside is_said_openly"),
)

_APPLIES_TO: Mapping[Condition, frozenset[ResourceKind]] = {
    Condition.IS_ADMITTED: frozenset({ResourceKind.AGENT, ResourceKind.COMMAND}),
    Condition.IS_SELF: frozenset({ResourceKind.USER}),
    Condition.IS_OURS: frozenset({ResourceKind.ORG}),
    Condition.IS_HERE: frozenset({ResourceKind.CHANNEL}),
    Condition.IS_PUBLIC: frozenset({ResourceKind.CHANNEL}),
}
_OPEN = frozenset({Visibility.PUBLIC, Visibility.MACHINE})
_ALWAYS_ASKED = {ResourceKind.USER: Condition.IS_SELF, ResourceKind.ORG: Condition.IS_OURS}
"""No table can open another person's memory, or another organisation's."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A row as it is read for one action and resource."""

    actors: frozenset[ActorKind]
    conditions: tuple[Condition, ...]


Policy = Mapping[tuple[str, ResourceKind], tuple[Rule, ...]]


@dataclass(frozen=True, slots=True)
class Resource:
    """What something is done to."""

    kind: ResourceKind
    id: str = ""
    admits: frozenset[str] | None = None
    """Ids of the actors a restricted agent or command is kept for; ``None`` for an open one."""
    visibility: Visibility = Visibility.UNKNOWN
    """Of a channel."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request comes from, and whose bot it reaches."""

    organization: str
    channel_id: str | None = None
    facts: ChannelFacts = field(default_factory=ChannelFacts)


_HOLDS: Mapping[Condition, Callable[[Actor, Resource, Place], bool]] = {
    Condition.IS_ADMIN: lambda actor, _resource, _place: actor.is_admin,
    Condition.IS_WELCOME: lambda actor, _resource, _place: actor.is_welcome,
    Condition.IS_ADMITTED: lambda actor, resource, _place: _admits(resource, actor),
    Condition.IS_SELF: lambda actor, resource, _place: resource.id == actor.id,
    Condition.IS_OURS: lambda _actor, resource, place: resource.id == place.organization,
    Condition.IS_HERE: lambda _actor, resource, place: place.channel_id is not None and resource.id == place.channel_id,
    Condition.IS_PUBLIC: lambda _actor, resource, _place: resource.visibility is Visibility.PUBLIC,
    Condition.STAYS_INSIDE: lambda _actor, _resource, place: place.facts.is_ext_shared is False,
    Condition.IS_SAID_OPENLY: lambda _actor, _resource, place: place.facts.visibility in _OPEN,
}
"""What each condition asks."""


def load(table: Iterable[Row] = TABLE) -> Policy:
    """The table, checked. Raises ``PolicyError``."""
    rules: dict[tuple[str, ResourceKind], tuple[Rule, ...]] = {}
    for row in table:
        rule = Rule(frozenset(_known(ActorKind, row.actors, row)), tuple(_known(Condition, row.conditions, row)))
        for resource in _known(ResourceKind, row.resources, row):
            _check(rule, resource, row)
            for action in row.actions.split():
                _check_action(action, resource, row)
                earlier = rules.get((action, resource), ())
                if rule in earlier:
                    raise PolicyError(f"{row}: stands there twice")
                rules[action, resource] = (*earlier, rule)
    return rules


def asks(policy: Policy, action: str, resource: ResourceKind) -> frozenset[Condition]:
    """The conditions a decision may depend on, so that only facts are looked up that matter."""
    return frozenset(condition for rule in _rules(policy, action, resource) for condition in rule.conditions)


def decide(policy: Policy, actor: Actor, action: str, resource: Resource, place: Place) -> Decision:
    """Whether ``actor`` may do ``action`` to ``resource``. The reason is a word of the table, never a value."""
    if actor.actions is not None and action not in actor.actions:
        return Decision(is_allowed=False, reason="not_in_entry")
    mine = [rule for rule in _rules(policy, action, resource.kind) if actor.kind in rule.actors]
    unmet = [_unmet(rule, actor, resource, place) for rule in mine]
    if None in unmet:
        return _ALLOWED
    return Decision(is_allowed=False, reason=f"not_{str(unmet[0]).removeprefix('is_')}" if unmet else "no_row")


def _rules(policy: Policy, action: str, resource: ResourceKind) -> tuple[Rule, ...]:
    return policy.get((action, resource), ()) + policy.get((ANY_ACTION, resource), ())


def _unmet(rule: Rule, actor: Actor, resource: Resource, place: Place) -> Condition | None:
    for condition in rule.conditions:
        if not _HOLDS[condition](actor, resource, place):
            return condition
    return None


def _admits(resource: Resource, actor: Actor) -> bool:
    return resource.admits is None or actor.is_admin or actor.id in resource.admits


def _check(rule: Rule, resource: ResourceKind, row: Row) -> None:
    if ActorKind.NOBODY in rule.actors or not rule.actors:
        raise PolicyError(f"{row}: is about nobody")
    for condition in rule.conditions:
        if resource not in _APPLIES_TO.get(condition, frozenset(ResourceKind)):
            raise PolicyError(f"{row}: {condition} says nothing about {resource}")
    needed = _ALWAYS_ASKED.get(resource)
    if needed is not None and needed not in rule.conditions:
        raise PolicyError(f"{row}: {resource} memory is never open without {needed}")


def _check_action(action: str, resource: ResourceKind, row: Row) -> None:
    if action == ANY_ACTION and resource is not ResourceKind.COMMAND:
        raise PolicyError(f"{row}: only commands may be opened for every action")
    if action != ANY_ACTION and not _ACTION.fullmatch(action):
        raise PolicyError(f"{row}: an action is not <noun>:<verb>")


def _known(vocabulary: type[Word], words: str, row: Row) -> list[Word]:
    try:
        return [vocabulary(word) for word in words.split()]
    except ValueError as fault:
        raise PolicyError(f"{row}: {fault}") from fault
