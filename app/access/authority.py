"""Answers who may do what: resolves the actor, looks up the facts the table asks about, and reads the table."""

import asyncio
from dataclasses import dataclass
from typing import TypeVar

from app.access.actor import Actor, ChannelFacts, People, PersonFacts, Places, actor_of, is_person, known_facts
from app.access.grants import Grants
from app.access.policy import Condition, Place, Policy, Resource, ResourceKind, asks, decide, load
from app.channel import Visibility
from commands.ports import Decision
from commands.spec import Caller, Command, Surface
from memory.scope import ScopeKeyError, kind_of

Fact = TypeVar("Fact")

_INSIDE = ChannelFacts(Visibility.MACHINE, is_ext_shared=False)
_BOT = Resource(ResourceKind.BOT)
_PLACE_CONDITIONS = frozenset({Condition.STAYS_INSIDE, Condition.IS_SAID_OPENLY})


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks and from where, with the facts looked up: every decision about it is a pure one."""

    actor: Actor
    place: Place


class TableAuthority:
    """Implements ``commands.ports.Authority``, and answers the dispatcher about messages."""

    def __init__(
        self, organization: str, grants: Grants, *, people: People, places: Places, policy: Policy | None = None
    ) -> None:
        self._organization = organization
        self._org = Resource(ResourceKind.ORG, organization)
        self._grants = grants
        self._people = people
        self._places = places
        self._policy = load() if policy is None else policy

    async def may_run(self, caller: Caller, command: Command) -> Decision:
        admits = self._grants.commands.get(command.id)
        resource = Resource(ResourceKind.COMMAND, command.id, admits)
        return self._decide(Asker(await self._actor(caller), self._unseen(caller)), command.action, resource)

    async def may_touch(self, caller: Caller, action: str, scope_key: str) -> Decision:
        try:
            kind = ResourceKind(kind_of(scope_key).value)
        except ScopeKeyError:
            return Decision(is_allowed=False, reason="no_scope")
        identifier = scope_key.partition(":")[2]
        asked = asks(self._policy, action, kind)
        actor, place, visibility = await asyncio.gather(
            self._actor(caller),
            self._place(caller) if asked & _PLACE_CONDITIONS else _at_once(self._unseen(caller)),
            self._visibility(identifier, caller) if Condition.IS_PUBLIC in asked else _at_once(Visibility.UNKNOWN),
        )
        return self._decide(Asker(actor, place), action, Resource(kind, identifier, visibility=visibility))

    def admins(self) -> str:
        names = [f"<@{user_id}>" for user_id in self._grants.admins]
        if self._grants.workspace_admins:
            names.append("a workspace admin")
        return ", ".join(names) or "an admin"

    async def asker(self, caller: Caller) -> Asker:
        """The facts about one message's author and place, looked up side by side."""
        if not is_person(caller) or self._people.has_facts(caller.id):
            # Where one of the two is at hand, neither waits for the other, and that takes no tasks.
            return Asker(await self._actor(caller), await self._place(caller))
        actor, place = await asyncio.gather(self._actor(caller), self._place(caller))
        return Asker(actor, place)

    def may_talk(self, asker: Asker) -> Decision:
        """Whether the bot answers at all."""
        return self._decide(asker, "bot:talk", _BOT)

    def may_run_agent(self, asker: Asker, agent: str) -> Decision:
        return self._decide(asker, "agent:run", Resource(ResourceKind.AGENT, agent, self._grants.agents.get(agent)))

    def may_recall_org(self, asker: Asker) -> Decision:
        """Whether the organisation's memory may go before the answer, which everybody in the channel reads."""
        return self._decide(asker, "memory:recall", self._org)

    def may_recall_repo(self, asker: Asker, repo: str) -> Decision:
        return self._decide(asker, "memory:recall", Resource(ResourceKind.REPO, repo))

    def may_reflect_org(self, asker: Asker) -> Decision:
        """Whether the organisation may remember what was said in this conversation."""
        return self._decide(asker, "memory:reflect", self._org)

    def may_reflect_repo(self, asker: Asker, repo: str) -> Decision:
        return self._decide(asker, "memory:reflect", Resource(ResourceKind.REPO, repo))

    def _decide(self, asker: Asker, action: str, resource: Resource) -> Decision:
        return decide(self._policy, asker.actor, action, resource, asker.place)

    async def _actor(self, caller: Caller) -> Actor:
        person = await self._people.facts(caller.id) if is_person(caller) else PersonFacts()
        return actor_of(caller, person, self._grants)

    def _unseen(self, caller: Caller) -> Place:
        """The caller's place where nothing depends on who else is there."""
        return Place(self._organization, caller.origin.channel_id)

    async def _place(self, caller: Caller) -> Place:
        channel_id = caller.origin.channel_id
        if caller.surface is not Surface.CHAT:
            # One reader: a program, or the person a slash command is answered to out of the others' sight.
            return Place(self._organization, channel_id, _INSIDE)
        facts = await self._facts(channel_id) if channel_id is not None else ChannelFacts()
        return Place(self._organization, channel_id, facts)

    async def _visibility(self, channel_id: str, caller: Caller) -> Visibility:
        """Not asked about the caller's own channel, which is open to them whatever it is."""
        if channel_id == caller.origin.channel_id:
            return Visibility.UNKNOWN
        return (await self._facts(channel_id)).visibility

    async def _facts(self, channel_id: str) -> ChannelFacts:
        known = known_facts(channel_id)
        return known if known.is_ext_shared is not None else await self._places.facts(channel_id)


async def _at_once(fact: Fact) -> Fact:
    return fact
