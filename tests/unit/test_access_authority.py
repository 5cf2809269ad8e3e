"""The authority: which facts it looks up, and every path to another's records it keeps shut."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import pytest

from app.access.actor import ActorKind, ChannelFacts, PersonFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants, check_commands
from app.channel import Visibility
from app.errors import ConfigurationError
from commands.spec import Caller, Command, Effect, Origin, Reply, Surface, Values
from tests.counting_tasks import tasks_made
from tests.fakes import until

ALICE, BOB, ADA, GUEST, STRANGER, GHOST = (f"slack:U{name}" for name in ("ALICE", "BOB", "ADA", "GUEST", "X", "GHOST"))
GENERAL, LEADS, SHARED, BLIND, DM = "slack:CGENERAL", "slack:CLEADS", "slack:CSHARED", "slack:CBLIND", "slack:DALICE"
PEOPLE = {
    ALICE: PersonFacts(ActorKind.MEMBER),
    BOB: PersonFacts(ActorKind.MEMBER),
    ADA: PersonFacts(ActorKind.MEMBER, is_workspace_admin=True),
    GUEST: PersonFacts(ActorKind.GUEST),
    STRANGER: PersonFacts(ActorKind.EXTERNAL),
}
CHANNELS = {
    GENERAL: ChannelFacts(Visibility.PUBLIC, is_ext_shared=False),
    LEADS: ChannelFacts(Visibility.PRIVATE, is_ext_shared=False),
    SHARED: ChannelFacts(Visibility.PUBLIC, is_ext_shared=True),
}


@dataclass
class FakePeople:
    known: Mapping[str, PersonFacts] = field(default_factory=lambda: PEOPLE)
    asked: list[str] = field(default_factory=list[str])

    async def facts(self, user_id: str) -> PersonFacts:
        self.asked.append(user_id)
        return self.known.get(user_id, PersonFacts())

    def has_facts(self, user_id: str) -> bool:
        return user_id in self.known


class SilentPeople(FakePeople):
    """Never tells."""

    async def facts(self, user_id: str) -> PersonFacts:
        await super().facts(user_id)
        return await asyncio.Future[PersonFacts]()


@dataclass
class FakePlaces:
    asked: list[str] = field(default_factory=list[str])

    async def facts(self, channel_id: str) -> ChannelFacts:
        self.asked.append(channel_id)
        return CHANNELS.get(channel_id, ChannelFacts())


@dataclass
class House:
    """An authority and what it looked up."""

    grants: Grants = field(default_factory=lambda: Grants(admins=("UADA",)))
    people: FakePeople = field(default_factory=FakePeople)
    places: FakePlaces = field(default_factory=FakePlaces)

    @property
    def authority(self) -> TableAuthority:
        return TableAuthority("acme", self.grants, people=self.people, places=self.places)

    async def may(self, caller: Caller, action: str, scope_key: str) -> bool:
        return (await self.authority.may_touch(caller, action, scope_key)).is_allowed

    async def opens(self, caller: Caller, *scope_keys: str, action: str = "memory:read") -> list[str]:
        """Those of the scopes that the caller may touch."""
        return [key for key in scope_keys if await self.may(caller, action, key)]


async def nothing(_caller: Caller, _values: Values) -> Reply:
    return Reply({}, "")


def command(command_id: str, action: str, effect: Effect = "read") -> Command:
    return Command(command_id, "Does something.", action, effect, nothing)


HELP, STATUS = command("help.show", "help:read"), command("status.show", "status:read")
LIST, FORGET = command("memory.list", "memory:read"), command("memory.forget", "memory:write", "write")
SET = command("invented.set", "invented:write", "write")


def chat(user: str, channel: str | None = GENERAL) -> Caller:
    return Caller(user, Surface.CHAT, Origin(channel_id=channel))


CLI = Caller("cli:local", Surface.CLI)
HTTP = Caller("http:ci", Surface.HTTP, Origin(channel_id="http:default", visibility="machine"))
MCP = Caller("mcp:desk", Surface.MCP, Origin(channel_id="mcp:default", visibility="machine"))


async def test_everybody_may_give_the_commands_everybody_needs() -> None:
    authority = House().authority
    for caller in (chat(ALICE), chat(GUEST), chat(STRANGER), chat(GHOST), CLI, HTTP, MCP):
        for each in (HELP, STATUS, LIST, FORGET):
            assert (await authority.may_run(caller, each)).is_allowed, (caller.id, each.id)


async def test_other_commands_are_for_admins_and_the_operator() -> None:
    authority = House().authority
    may = {caller.id: await authority.may_run(caller, SET) for caller in (chat(ALICE), chat(ADA), CLI, HTTP)}
    assert {caller: each.is_allowed for caller, each in may.items()} == {
        ALICE: False,
        ADA: True,
        "cli:local": True,
        "http:ci": False,
    }
    assert may[ALICE].reason == "not_admin"


async def test_with_no_admins_configured_nobody_in_slack_is_one() -> None:
    """Section 25: the gate fails closed."""
    house = House(Grants())
    for user in PEOPLE:
        assert await house.opens(chat(user), "org:acme", "repo:a/b", f"channel:{GENERAL}", action="memory:write") == []


async def test_workspace_admins_are_admins_where_the_settings_say_so() -> None:
    house = House(Grants(workspace_admins=True))
    assert await house.may(chat(ADA), "memory:write", "org:acme")
    assert not await house.may(chat(ALICE), "memory:write", "org:acme")


async def test_shared_scopes_are_forgotten_by_admins_and_the_operator_alone() -> None:
    """Section 25: org, repo and channel stand behind the admin gate."""
    shared = ("org:acme", "repo:acme/site", f"channel:{GENERAL}", f"channel:{LEADS}")
    house = House()
    for caller in (chat(ADA), chat(ADA, DM), Caller(ADA, Surface.SLASH, Origin(channel_id=SHARED)), CLI):
        assert await house.opens(caller, *shared, action="memory:write") == list(shared)
    for caller in (chat(ALICE), chat(GUEST), chat(STRANGER), chat(GHOST), HTTP, MCP):
        assert await house.opens(caller, *shared, action="memory:write") == []


async def test_no_caller_on_any_surface_reaches_another_persons_memory() -> None:
    house = House()
    owners = [ALICE, BOB, ADA, "http:ci", "mcp:desk", "cli:local", "mcp:ci", "http:desk"]
    keys = [f"user:{owner}" for owner in owners]
    slash = [Caller(user, Surface.SLASH, Origin(channel_id=LEADS)) for user in PEOPLE]
    for caller, action in product(
        [*(chat(user, channel) for user, channel in product(PEOPLE, (*CHANNELS, DM, None))), *slash, CLI, HTTP, MCP],
        ("memory:read", "memory:write", "memory:recall", "memory:reflect"),
    ):
        reached = await house.opens(caller, *keys, action=action)
        assert set(reached) <= {f"user:{caller.id}"}, (caller.id, action)


async def test_everybody_reaches_their_own_memory_wherever_they_are() -> None:
    house = House()
    for caller in (chat(ALICE), chat(GUEST, SHARED), chat(STRANGER, SHARED), chat(GHOST, BLIND), CLI, HTTP, MCP):
        for action in ("memory:read", "memory:write"):
            assert await house.may(caller, action, f"user:{caller.id}")


async def test_another_organisations_memory_is_out_of_reach_for_everyone() -> None:
    house = House()
    for caller, action in product((chat(ALICE), chat(ADA), CLI, HTTP, MCP), ("memory:read", "memory:write")):
        assert not await house.may(caller, action, "org:rival")


async def test_the_organisations_memory_is_read_where_no_other_organisation_reads_along() -> None:
    house = House()
    readers = [chat(ALICE, each) for each in (GENERAL, LEADS, DM, SHARED, BLIND, None)]
    assert [await house.may(each, "memory:read", "org:acme") for each in readers] == [True, True, True] + [False] * 3
    for user in (GUEST, STRANGER, GHOST):
        assert not await house.may(chat(user), "memory:read", "org:acme")
    for caller in (CLI, HTTP, MCP):
        assert await house.may(caller, "memory:read", "org:acme")


async def test_a_slash_command_is_answered_out_of_the_others_sight() -> None:
    house = House()
    origin = Origin(channel_id=SHARED)
    assert await house.may(Caller(ALICE, Surface.SLASH, origin), "memory:read", "org:acme")
    assert not await house.may(Caller(STRANGER, Surface.SLASH, origin), "memory:read", "org:acme")


async def test_a_channels_memory_is_read_there_or_where_the_channel_is_public() -> None:
    house = House()
    keys = [f"channel:{each}" for each in (GENERAL, LEADS, SHARED, BLIND)]
    assert await house.opens(chat(ALICE, DM), *keys) == [keys[0], keys[2]]
    assert await house.opens(chat(ALICE, LEADS), *keys) == keys[:3]
    assert await house.opens(chat(ADA, DM), *keys) == [keys[0], keys[2]]
    assert await house.opens(chat(GUEST, LEADS), *keys) == [keys[1]]
    assert await house.opens(chat(STRANGER, SHARED), *keys) == [keys[2]]
    assert await house.opens(HTTP, *keys, "channel:http:default") == []
    assert await house.opens(CLI, *keys) == keys


@pytest.mark.parametrize("key", ["", "org", "org:", "planet:x", "user:\n", "user:slack:UALICE \n", "ORG:acme"])
async def test_what_is_no_scope_is_denied(key: str) -> None:
    decision = await House().authority.may_touch(CLI, "memory:read", key)
    assert (decision.is_allowed, decision.reason) == (False, "no_scope")


async def test_only_facts_that_matter_are_looked_up() -> None:
    house = House()
    await house.authority.may_run(chat(ALICE), FORGET)
    await house.may(chat(ALICE), "memory:write", f"channel:{LEADS}")
    await house.may(chat(ALICE), "memory:read", f"user:{ALICE}")
    assert house.places.asked == []
    for caller in (CLI, HTTP, MCP):
        await house.may(caller, "memory:read", "org:acme")
    assert set(house.people.asked) == {ALICE}
    assert house.places.asked == []
    await house.may(chat(ALICE, DM), "memory:read", "org:acme")
    assert house.places.asked == []


async def test_a_restricted_command_is_kept_for_its_list_on_every_surface() -> None:
    house = House(Grants(admins=("UADA",), commands={"memory.forget": frozenset({BOB, "http:ci"})}))
    callers = (chat(ALICE), chat(BOB), chat(ADA), CLI, HTTP, MCP)
    assert [(await house.authority.may_run(each, FORGET)).is_allowed for each in callers] == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]
    assert (await house.authority.may_run(chat(ALICE), LIST)).is_allowed


async def test_a_restricted_agent_is_kept_for_its_list() -> None:
    authority = House(Grants(admins=("UADA",), agents={"reviewer": frozenset({BOB})})).authority
    askers = [await authority.asker(each) for each in (chat(ALICE), chat(BOB), chat(ADA), CLI, HTTP)]
    assert [authority.may_run_agent(each, "reviewer").is_allowed for each in askers] == [False, True, True, True, False]
    assert all(authority.may_run_agent(each, "general").is_allowed for each in askers)


async def test_settings_can_leave_guests_and_strangers_unanswered() -> None:
    authority = House(Grants(guests_may_talk=False, external_may_talk=False)).authority
    for user, is_answered in ((ALICE, True), (GUEST, False), (STRANGER, False), (GHOST, False)):
        asker = await authority.asker(chat(user))
        assert authority.may_talk(asker).is_allowed is is_answered
        assert authority.may_run_agent(asker, "general").is_allowed is is_answered
        assert (await authority.may_run(chat(user), HELP)).is_allowed is is_answered
        assert (await authority.may_touch(chat(user), "memory:read", f"user:{user}")).is_allowed is is_answered


async def test_answers_are_given_and_remembered_from_org_memory_only_inside() -> None:
    authority = House().authority
    expected = {
        (ALICE, GENERAL): (True, True),
        (ALICE, LEADS): (True, False),
        (ALICE, DM): (True, False),
        (ALICE, SHARED): (False, False),
        (ALICE, BLIND): (False, False),
        (GUEST, GENERAL): (False, False),
        (STRANGER, SHARED): (False, False),
        (GHOST, GENERAL): (False, False),
    }
    for (user, channel), outcome in expected.items():
        asker = await authority.asker(chat(user, channel))
        assert (authority.may_recall_org(asker).is_allowed, authority.may_reflect_org(asker).is_allowed) == outcome
        assert (
            authority.may_recall_repo(asker, "acme/site").is_allowed,
            authority.may_reflect_repo(asker, "acme/site").is_allowed,
        ) == outcome
    for caller in (CLI, HTTP, MCP):
        asker = await authority.asker(caller)
        assert authority.may_recall_org(asker).is_allowed
        assert authority.may_reflect_org(asker).is_allowed
        assert authority.may_recall_repo(asker, "acme/site").is_allowed
        assert authority.may_reflect_repo(asker, "acme/site").is_allowed


@pytest.mark.parametrize("caller", [chat(ALICE), chat(ALICE, DM), CLI, HTTP, MCP], ids=lambda each: each.id)
async def test_a_caller_who_is_known_costs_no_task(caller: Caller) -> None:
    house = House()
    with tasks_made() as tasks:
        asker = await house.authority.asker(caller)
    assert house.authority.may_talk(asker).is_allowed
    assert tasks == []


async def test_a_caller_and_a_place_that_nobody_knows_are_looked_up_side_by_side() -> None:
    house = House(people=SilentPeople())
    asking = asyncio.ensure_future(house.authority.asker(chat(GHOST)))
    await until(lambda: bool(house.places.asked))
    assert (house.people.asked, house.places.asked) == ([GHOST], [GENERAL])
    asking.cancel()


async def test_an_id_from_the_wrong_surface_may_do_nothing() -> None:
    house = House()
    forged = Caller(ADA, Surface.HTTP, Origin(channel_id=GENERAL))
    asker = await house.authority.asker(forged)
    assert not house.authority.may_talk(asker).is_allowed
    assert not (await house.authority.may_run(forged, HELP)).is_allowed
    assert await house.opens(forged, "org:acme", f"user:{ADA}", f"channel:{GENERAL}") == []
    assert house.people.asked == []


@pytest.mark.parametrize(
    ("grants", "whom"),
    [
        (Grants(), "an admin"),
        (Grants(("U1", "U2")), "<@U1>, <@U2>"),
        (Grants(("U1",), workspace_admins=True), "<@U1>, a workspace admin"),
        (Grants(workspace_admins=True), "a workspace admin"),
    ],
)
def test_it_says_whom_to_ask(grants: Grants, whom: str) -> None:
    assert House(grants).authority.admins() == whom


def test_a_restriction_that_closes_nothing_is_refused() -> None:
    known = {"memory.forget", "memory.list"}
    check_commands(Grants(commands={"memory.forget": frozenset()}), known)
    with pytest.raises(ConfigurationError, match=r"did you mean memory\.forget\?$"):
        check_commands(Grants(commands={"memory.forgt": frozenset()}), known)
