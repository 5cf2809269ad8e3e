"""The table of access: what it refuses to be, and what it allows, tried over every combination of facts."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.actor import Actor, ActorKind, ChannelFacts, PersonFacts, actor_of, caller_of, known_facts
from app.access.grants import Grants
from app.access.policy import (
    TABLE,
    Condition,
    Place,
    PolicyError,
    Resource,
    ResourceKind,
    Row,
    asks,
    decide,
    load,
)
from app.channel import ChannelId, ThreadKey, UserId, Visibility
from commands.spec import Caller, Surface
from tests.fakes import message

POLICY = load()
ME, OTHER = "slack:U1", "slack:U2"
HERE, ELSEWHERE = "slack:C1", "slack:C2"
SCOPES = {
    ResourceKind.USER: (ME, OTHER),
    ResourceKind.CHANNEL: (HERE, ELSEWHERE),
    ResourceKind.ORG: ("acme", "rival"),
    ResourceKind.REPO: ("acme/site",),
}
ACTIONS = (
    "memory:read",
    "memory:write",
    "memory:recall",
    "memory:reflect",
    "memory:invented",
    "config:write",
    "session:write",
)


def worlds(kind: ResourceKind) -> Iterator[tuple[Actor, str, Resource, Place]]:
    """Every actor, action, scope and place; admin and welcome in every combination, possible or not."""
    actors = [
        Actor(ME, each, is_admin=is_admin, is_welcome=is_welcome)
        for each, is_admin, is_welcome in product(ActorKind, (True, False), (True, False))
    ]
    places = [
        Place("acme", channel, ChannelFacts(visibility, is_ext_shared=shared))
        for channel, visibility, shared in product((HERE, None), Visibility, (True, False, None))
    ]
    resources = [Resource(kind, name, visibility=each) for name, each in product(SCOPES[kind], Visibility)]
    yield from product(actors, ACTIONS, resources, places)


def test_a_persons_memory_and_settings_are_open_to_that_person_alone() -> None:
    """Section 25: another user's scope is refused for everyone, admins included."""
    for actor, action, resource, place in worlds(ResourceKind.USER):
        expected = (
            action in {"memory:read", "memory:write", "config:write"}
            and resource.id == actor.id
            and actor.is_welcome
            and actor.kind is not ActorKind.NOBODY
        )
        assert decide(POLICY, actor, action, resource, place).is_allowed is expected


def test_the_organisations_memory_never_reaches_strangers_nor_places_they_read() -> None:
    insiders = {ActorKind.MEMBER, ActorKind.OPERATOR, ActorKind.SUBJECT}
    openly = {Visibility.PUBLIC, Visibility.MACHINE}
    for actor, action, resource, place in worlds(ResourceKind.ORG):
        is_inside = place.facts.is_ext_shared is False
        expected = resource.id == "acme" and {
            "memory:read": actor.kind in insiders and is_inside,
            "memory:recall": actor.kind in insiders and is_inside,
            "memory:reflect": actor.kind in insiders and is_inside and place.facts.visibility in openly,
            "memory:write": actor.kind in {ActorKind.MEMBER, ActorKind.OPERATOR} and actor.is_admin,
        }.get(action, False)
        assert decide(POLICY, actor, action, resource, place).is_allowed is expected


def test_a_channels_memory_is_open_where_the_channel_is_and_admins_set_what_holds_in_the_one_they_are_in() -> None:
    persons = {ActorKind.MEMBER, ActorKind.GUEST, ActorKind.EXTERNAL, ActorKind.UNKNOWN}
    for actor, action, resource, place in worlds(ResourceKind.CHANNEL):
        is_here = resource.id == place.channel_id
        is_public = resource.visibility is Visibility.PUBLIC and place.facts.is_ext_shared is False
        may_read = (
            (actor.kind in persons and actor.is_welcome and is_here)
            or (actor.kind is ActorKind.MEMBER and is_public)
            or actor.kind is ActorKind.OPERATOR
        )
        may_write = actor.kind in {ActorKind.MEMBER, ActorKind.OPERATOR} and actor.is_admin
        expected = {
            "memory:read": may_read,
            "memory:write": may_write,
            "config:write": may_write and is_here,
            "session:write": may_write and is_here,
        }.get(action, False)
        assert decide(POLICY, actor, action, resource, place).is_allowed is expected


def test_a_repositorys_memory_is_changed_by_admins_alone() -> None:
    for actor, action, resource, place in worlds(ResourceKind.REPO):
        decision = decide(POLICY, actor, action, resource, place)
        if action == "memory:write":
            is_one_of_us = actor.kind in {ActorKind.MEMBER, ActorKind.OPERATOR}
            assert decision.is_allowed is (is_one_of_us and actor.is_admin)
        if place.facts.is_ext_shared is not False and action != "memory:write":
            assert not decision.is_allowed
        if actor.kind in {ActorKind.GUEST, ActorKind.EXTERNAL, ActorKind.UNKNOWN, ActorKind.NOBODY}:
            assert not decision.is_allowed


@given(action=st.from_regex(r"[a-z]{1,9}:[a-z]{1,9}", fullmatch=True), kind=st.sampled_from(ResourceKind))
def test_what_no_row_speaks_of_is_denied(action: str, kind: ResourceKind) -> None:
    spoken_of = {
        (each, resource) for row in TABLE for each in row.actions.split() for resource in row.resources.split()
    }
    member = Actor(ME, ActorKind.MEMBER, is_welcome=True)
    decision = decide(POLICY, member, action, Resource(kind, ME), Place("acme"))
    assert decision.is_allowed is False or (action, kind.value) in spoken_of


def test_an_action_without_a_row_of_its_own_is_for_admins_and_the_operator() -> None:
    command = Resource(ResourceKind.COMMAND, "invented.set")
    member = Actor(ME, ActorKind.MEMBER, is_welcome=True)
    assert decide(POLICY, member, "invented:write", command, Place("acme")).reason == "not_admin"
    assert decide(POLICY, replace(member, is_admin=True), "invented:write", command, Place("acme")).is_allowed
    operator = actor_of(Caller("cli:local", Surface.CLI), PersonFacts(), Grants())
    assert decide(POLICY, operator, "invented:write", command, Place("acme")).is_allowed
    for kind in (ActorKind.GUEST, ActorKind.EXTERNAL, ActorKind.UNKNOWN):
        appointed = Actor(ME, kind, is_admin=True, is_welcome=True)
        assert decide(POLICY, appointed, "invented:write", command, Place("acme")).reason == "no_row"
    subject = actor_of(Caller("http:ci", Surface.HTTP), PersonFacts(), Grants())
    assert decide(POLICY, subject, "invented:write", command, Place("acme")).reason == "no_row"


def test_what_is_restricted_is_for_its_list_and_for_admins() -> None:
    member = Actor(ME, ActorKind.MEMBER, is_welcome=True)
    for kind, action in ((ResourceKind.AGENT, "agent:run"), (ResourceKind.COMMAND, "memory:write")):
        kept = Resource(kind, "x", admits=frozenset({OTHER}))
        decisions = {
            "member": decide(POLICY, member, action, kept, Place("acme")),
            "listed": decide(POLICY, replace(member, id=OTHER), action, kept, Place("acme")),
            "admin": decide(POLICY, replace(member, is_admin=True), action, kept, Place("acme")),
        }
        assert {who: each.is_allowed for who, each in decisions.items()} == {
            "member": False,
            "listed": True,
            "admin": True,
        }
        assert decisions["member"].reason == "not_admitted"


def test_being_on_a_list_makes_nobody_welcome() -> None:
    guest = Actor(ME, ActorKind.GUEST, is_welcome=False)
    kept = Resource(ResourceKind.AGENT, "x", admits=frozenset({ME}))
    assert decide(POLICY, guest, "agent:run", kept, Place("acme")).reason == "not_welcome"


def test_a_tokens_entry_narrows_and_never_widens() -> None:
    caller = Caller("http:ci", Surface.HTTP)
    entry = Grants(subjects={"http:ci": frozenset({"memory:read", "invented:write"})})
    own, org = Resource(ResourceKind.USER, "http:ci"), Resource(ResourceKind.ORG, "acme")
    place = Place("acme", None, ChannelFacts(Visibility.MACHINE, is_ext_shared=False))
    narrowed, default = (actor_of(caller, PersonFacts(), grants) for grants in (entry, Grants()))
    for resource in (own, org):
        assert decide(POLICY, narrowed, "memory:read", resource, place).is_allowed
    assert decide(POLICY, default, "memory:write", own, place).is_allowed
    assert decide(POLICY, narrowed, "memory:write", own, place).reason == "not_in_entry"
    command = Resource(ResourceKind.COMMAND, "invented.set")
    assert not decide(POLICY, narrowed, "invented:write", command, place).is_allowed


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (Row("memory:read", "planet", "member"), "'planet' is not a valid ResourceKind"),
        (Row("memory:read", "repo", "king"), "'king' is not a valid ActorKind"),
        (Row("memory:read", "repo", "member", "is_lucky"), "'is_lucky' is not a valid Condition"),
        (Row("memory", "repo", "member"), "an action is not <noun>:<verb>"),
        (Row("memory:read", "repo", ""), "is about nobody"),
        (Row("memory:read", "repo", "nobody"), "is about nobody"),
        (Row("memory:read", "repo", "member", "is_self"), "is_self says nothing about repo"),
        (Row("memory:read", "bot", "member", "is_admitted"), "is_admitted says nothing about bot"),
        (Row("memory:read", "user", "operator"), "user memory is never open without is_self"),
        (Row("memory:read", "org", "member", "is_admin"), "org memory is never open without is_ours"),
        (Row("*", "repo", "member"), "only commands may be opened for every action"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(row: Row, fault: str) -> None:
    with pytest.raises(PolicyError, match=r"^Row\(") as caught:
        load([row])
    assert fault in str(caught.value)


def test_a_row_that_stands_there_twice_is_refused() -> None:
    with pytest.raises(PolicyError, match="twice"):
        load([*TABLE, Row("memory:read", "repo", "operator member", "stays_inside")])


def test_an_empty_table_allows_nothing() -> None:
    operator = Actor("cli:local", ActorKind.OPERATOR, is_admin=True, is_welcome=True)
    assert decide(load([]), operator, "bot:talk", Resource(ResourceKind.BOT), Place("acme")).reason == "no_row"


def test_the_table_says_which_facts_matter() -> None:
    assert asks(POLICY, "memory:write", ResourceKind.CHANNEL) == {Condition.IS_ADMIN}
    assert Condition.IS_PUBLIC in asks(POLICY, "memory:read", ResourceKind.CHANNEL)
    assert asks(POLICY, "memory:invented", ResourceKind.ORG) == frozenset()


@pytest.mark.parametrize(
    ("caller_id", "surface", "kind"),
    [
        ("slack:U1", Surface.CHAT, ActorKind.MEMBER),
        ("slack:U1", Surface.SLASH, ActorKind.MEMBER),
        ("slack:U1", Surface.HTTP, ActorKind.NOBODY),
        ("slack:U1", Surface.CLI, ActorKind.NOBODY),
        ("cli:local", Surface.CLI, ActorKind.OPERATOR),
        ("cli:local", Surface.HTTP, ActorKind.NOBODY),
        ("cli:other", Surface.CLI, ActorKind.NOBODY),
        ("http:ci", Surface.HTTP, ActorKind.SUBJECT),
        ("http:ci", Surface.MCP, ActorKind.NOBODY),
        ("http:", Surface.HTTP, ActorKind.NOBODY),
        ("mcp:desk", Surface.MCP, ActorKind.SUBJECT),
        ("mcp:desk", Surface.CHAT, ActorKind.NOBODY),
        ("", Surface.CHAT, ActorKind.NOBODY),
        ("U1", Surface.CHAT, ActorKind.NOBODY),
    ],
)
def test_an_id_counts_only_on_the_surface_that_gives_it_out(caller_id: str, surface: Surface, kind: ActorKind) -> None:
    assert actor_of(Caller(caller_id, surface), PersonFacts(ActorKind.MEMBER), Grants()).kind is kind


@pytest.mark.parametrize(
    ("person", "grants", "is_admin"),
    [
        (PersonFacts(ActorKind.MEMBER), Grants(admins=("U1",)), True),
        (PersonFacts(ActorKind.MEMBER), Grants(admins=("U2",)), False),
        (PersonFacts(ActorKind.MEMBER, is_workspace_admin=True), Grants(), False),
        (PersonFacts(ActorKind.MEMBER, is_workspace_admin=True), Grants(workspace_admins=True), True),
        (PersonFacts(ActorKind.GUEST, is_workspace_admin=True), Grants(("U1",), workspace_admins=True), False),
        (PersonFacts(ActorKind.EXTERNAL, is_workspace_admin=True), Grants(("U1",), workspace_admins=True), False),
        (PersonFacts(), Grants(("U1",)), False),
    ],
)
def test_admins_are_members_the_settings_appoint(person: PersonFacts, grants: Grants, *, is_admin: bool) -> None:
    assert actor_of(Caller(ME, Surface.CHAT), person, grants).is_admin is is_admin


@pytest.mark.parametrize(
    ("kind", "welcome"),
    [
        (ActorKind.MEMBER, (True, True, True)),
        (ActorKind.GUEST, (True, False, True)),
        (ActorKind.EXTERNAL, (True, True, False)),
        (ActorKind.UNKNOWN, (True, False, False)),
    ],
)
def test_settings_decide_who_else_is_welcome(kind: ActorKind, welcome: tuple[bool, ...]) -> None:
    closed = (Grants(), Grants(guests_may_talk=False), Grants(external_may_talk=False))
    caller = Caller(ME, Surface.CHAT)
    assert tuple(actor_of(caller, PersonFacts(kind), grants).is_welcome for grants in closed) == welcome


def test_no_answer_of_a_platform_makes_a_person_the_operator() -> None:
    for kind in (ActorKind.OPERATOR, ActorKind.SUBJECT, ActorKind.NOBODY):
        assert actor_of(Caller(ME, Surface.CHAT), PersonFacts(kind), Grants(("U1",))).kind is ActorKind.UNKNOWN


def test_a_messages_author_is_a_caller_of_its_channel() -> None:
    said = message()
    caller = caller_of(said)
    assert (caller.id, caller.surface) == (said.user_id, Surface.CHAT)
    assert caller.origin.channel_id == said.channel_id
    assert (caller.origin.thread_key, caller.origin.visibility) == (said.thread_key, said.visibility.value)
    machine = replace(
        said, user_id=UserId("mcp:desk"), channel_id=ChannelId("mcp:default"), thread_key=ThreadKey("mcp:default:1")
    )
    assert caller_of(machine).surface is Surface.MCP


def test_an_id_alone_tells_only_what_is_certain() -> None:
    assert known_facts("http:default") == ChannelFacts(Visibility.MACHINE, is_ext_shared=False)
    assert known_facts("slack:D1") == ChannelFacts(Visibility.DM, is_ext_shared=False)
    assert known_facts("slack:G1") == ChannelFacts(Visibility.PRIVATE, is_ext_shared=None)
    for unknown in ("slack:C1", "slack:", "", "C1", "httpx:default"):
        assert known_facts(unknown) == ChannelFacts(Visibility.UNKNOWN, is_ext_shared=None)


@pytest.mark.parametrize("action", ["session:read", "session:write", "config:read", "config:write"])
def test_conversations_and_settings_have_commands_for_everybody_who_is_welcome(action: str) -> None:
    command = Resource(ResourceKind.COMMAND, "session.stop")
    for kind in ActorKind:
        for is_welcome in (True, False):
            actor = Actor(ME, kind, is_welcome=is_welcome)
            allowed = decide(POLICY, actor, action, command, Place("acme")).is_allowed
            assert allowed is (is_welcome and kind is not ActorKind.NOBODY)
