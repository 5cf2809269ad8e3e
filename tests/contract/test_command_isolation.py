"""No id, filter, option or word of a command reaches another's records, under the product's own table of rights.

Every way in of every surface, for two people each, two channels and two organisations.
"""

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import pytest

from app.access.actor import ChannelFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.channel import Visibility
from app.logs import configure
from commands.builtin import Records, builtin_commands
from commands.registry import Registry
from commands.result import Result
from commands.spec import Caller, Origin, Surface
from memory.outcome import Batch
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from tests.command_house import Calm, noon
from tests.fakes import Members
from tests.memory_records import fact
from tests.review_house import HeldInProcess, a_turn

pytestmark = pytest.mark.unfollowed
"""Each command is given by the hundred; those of its own tests are followed."""


PEOPLE = ["slack:U1", "slack:U2", "http:one", "http:two", "mcp:one", "mcp:two"]
CHANNELS = ["slack:C1", "slack:C2"]
ORGANIZATIONS = ["acme", "rival"]
KEYS = [
    *(f"user:{each}" for each in PEOPLE),
    *(f"channel:{each}" for each in CHANNELS),
    *(f"org:{each}" for each in ORGANIZATIONS),
]
MARKERS = {key: f"marker{number}end" for number, key in enumerate(KEYS)}


@pytest.fixture(autouse=True)
def only_faults_are_logged(logs_as_in_production: None) -> None:  # noqa: ARG001 - it comes before
    """What others ask for by the thousand would fill a hundred thousand lines."""
    configure("json", "warning", stream=sys.stdout)


class PrivateRooms:
    """A workspace of private channels."""

    async def facts(self, channel_id: str) -> ChannelFacts:
        return ChannelFacts(Visibility.PRIVATE, is_ext_shared=False)


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody somewhere, and the scopes whose records may be shown there."""

    caller: Caller
    organization: str

    @property
    def own(self) -> str:
        return f"user:{self.caller.id}"

    @property
    def readable(self) -> set[str]:
        channel = self.caller.origin.channel_id
        return {self.own, f"org:{self.organization}"} | ({f"channel:{channel}"} if channel else set())


def seats() -> Iterator[Seat]:
    for organization in ORGANIZATIONS:
        for person, (channel, surface) in product(PEOPLE[:2], product(CHANNELS, (Surface.CHAT, Surface.SLASH))):
            yield Seat(Caller(person, surface, Origin(channel, f"{channel}:1.0", "private")), organization)
        for person in PEOPLE[2:]:
            surface = Surface(person.partition(":")[0])
            yield Seat(Caller(person, surface, Origin(visibility="machine")), organization)


@pytest.fixture
async def store() -> AsyncGenerator[InProcessStore]:
    store = InProcessStore(ranker=RelevanceRanker(), now=noon)
    for key, marker in MARKERS.items():
        await store.write(key, [fact(f"{marker} deploys")])
    yield store
    await store.aclose()


def registry_of(
    store: InProcessStore, organization: str, reviews: HeldInProcess | None = None, grants: Grants | None = None
) -> Registry:
    authority = TableAuthority(organization, grants or Grants(), people=Members(), places=PrivateRooms())
    return Registry(
        builtin_commands(store, organization, authority, Calm(), Records(reviews=reviews)), authority, now=noon
    )


def reads() -> Iterator[Mapping[str, object]]:
    scopes = [None, "me", "org", "repo", "channel", "all"]
    words = [None, "deploys", *KEYS, *MARKERS.values()]
    yield from ({"scope": scope, "words": filter_text} for scope, filter_text in product(scopes, words))
    for key in KEYS:
        yield from ({"scope": key}, {"words": f"mem:{key}:0"}, {"words": f"{key.partition(':')[0]} {key} deploys"})
    for scope, repo in product(["repo", "all"], ["acme/web", *PEOPLE, *KEYS, "../acme", "slack:C2/x"]):
        yield {"scope": scope, "repo": repo}


def writes() -> Iterator[str]:
    for key in KEYS:
        yield from (f"mem:{key}:0", f" mem:{key}:0", f"MEM:{key}:0", f"mem:{key}:0\n", f"mem:{key}:00")
    for key, other in product(KEYS, KEYS):
        yield f"mem:{key}:0:{other}:0"
        yield f"mem:{key}:mem:{other}:0"


async def give(registry: Registry, caller: Caller, command_id: str, values: Mapping[str, object]) -> list[Result]:
    """The command in every way the caller's surface gives it."""
    named = {name: f"{value}" for name, value in values.items() if value is not None}
    if caller.surface in {Surface.HTTP, Surface.MCP}:
        by_query = await registry.run_query(command_id, list(named.items()), caller)
        return [by_query, await registry.run_values(command_id, values, caller)]
    group, verb = command_id.split(".")
    positional = {"words", "id", "what"}
    options = [f"--{name}={value}" for name, value in named.items() if name not in positional]
    tokens = [group, verb, *options, *(value for name, value in named.items() if name in positional)]
    line = " ".join([group, verb, *(f'"{token}"' for token in tokens[2:])])
    recognised = registry.recognise(line)
    assert recognised is not None
    return [
        await registry.run_tokens(tokens, caller),
        await registry.run_line(line, caller),
        await registry.run_text(recognised, caller),
    ]


each_seat = pytest.mark.parametrize(
    "seat", list(seats()), ids=lambda seat: f"{seat.caller.id}-{seat.caller.surface}-{seat.organization}"
)


@each_seat
async def test_no_way_of_reading_shows_another_scope(store: InProcessStore, seat: Seat) -> None:
    registry = registry_of(store, seat.organization)
    shown: set[str] = set()
    for values in reads():
        for result in await give(registry, seat.caller, "memory.list", values):
            data = f"{result.reply.data}" if result.reply is not None else ""
            shown |= {key for key, marker in MARKERS.items() if f"{marker} deploys" in f"{data} {result.text}"}
    assert shown == seat.readable


@each_seat
async def test_no_way_of_forgetting_reaches_another_scope(store: InProcessStore, seat: Seat) -> None:
    registry = registry_of(store, seat.organization)
    for record_id in writes():
        for result in await give(registry, seat.caller, "memory.forget", {"id": record_id}):
            assert result.is_ok is (result.reply is not None)
            assert not any(marker in f"{result}" for marker in MARKERS.values())
    left = {key for key in KEYS if await store.list(key, 5)}
    assert left == set(KEYS) - {seat.own}


@each_seat
@pytest.mark.parametrize("grants", [Grants(), Grants(admins=("U1", "U2"))], ids=["anybody", "admin"])
async def test_no_way_of_erasing_reaches_another_scope(store: InProcessStore, seat: Seat, grants: Grants) -> None:
    """An admin erases what is shared, and nobody what is another person's; a tool of a model nothing at all."""
    registry = registry_of(store, seat.organization, grants=grants)
    for what in (*writes(), *KEYS, *(key.partition(":")[2] for key in KEYS), "org", "all", "*", "", "me"):
        for result in await give(registry, seat.caller, "memory.erase", {"what": what, "yes": what == "me"}):
            assert result.is_ok is (result.reply is not None)
            assert not any(marker in f"{result}" for marker in MARKERS.values())
    left = {key for key in KEYS if await store.list(key, 5)}
    is_curator = bool(grants.admins) and seat.caller.id.startswith("slack:")
    shared = {f"org:{seat.organization}", *(key for key in KEYS if key.startswith("channel:"))}
    gone = set[str]() if seat.caller.surface is Surface.MCP else {seat.own, *(shared if is_curator else ())}
    assert left == set(KEYS) - gone


@each_seat
@pytest.mark.parametrize("grants", [Grants(), Grants(admins=("U1", "U2"))], ids=["anybody", "admin"])
async def test_only_an_admin_erases_what_a_thread_taught_and_only_in_that_thread(
    store: InProcessStore, seat: Seat, grants: Grants
) -> None:
    here, elsewhere = f"{seat.caller.origin.thread_key}", "slack:C9:9.9"
    for key, marker in MARKERS.items():
        await store.write(key, [fact(f"{marker} here", thread=here), fact(f"{marker} elsewhere", thread=elsewhere)])
    registry = registry_of(store, seat.organization, grants=grants)
    for what in ("thread", here, elsewhere, f"thread {elsewhere}", f"thread:{elsewhere}"):
        for result in await give(registry, seat.caller, "memory.erase", {"what": what, "yes": True}):
            assert not any(key in f"{result}" for key in KEYS)
    may_erase = bool(grants.admins) and seat.caller.id.startswith("slack:")
    sources = {record.source_thread_key for key in KEYS for record in await store.list(key, 9)}
    assert (here in sources, elsewhere in sources) == (not may_erase, True)


@pytest.fixture
async def reviews() -> HeldInProcess:
    """One fact held back in each scope."""
    reviews = HeldInProcess()
    for key, marker in MARKERS.items():
        await reviews.hand_in(a_turn(), [Batch(key, (fact(f"{marker} deploys"),))])
    return reviews


def held_ids(reviews: HeldInProcess) -> Iterator[str]:
    for each in reviews.held:
        yield from (each.id, f" {each.id}", each.id.upper(), each.id.replace("held:", "mem:"), f"{each.id}:0")
    for each, key in product(reviews.held, KEYS):
        yield f"{each.id}:{key}:0"


@each_seat
@pytest.mark.parametrize("grants", [Grants(), Grants(admins=("U1", "U2"))], ids=["anybody", "admin"])
async def test_no_way_of_reviewing_shows_or_decides_about_another_scope(
    store: InProcessStore, reviews: HeldInProcess, seat: Seat, grants: Grants
) -> None:
    """An admin decides about what is shared, and sees of it only what may be read in this place."""
    registry = registry_of(store, seat.organization, reviews, grants)
    is_curator = bool(grants.admins) and seat.caller.id.startswith("slack:")
    shown: set[str] = set()
    for result in await give(registry, seat.caller, "memory.review", {"limit": 50}):
        data = f"{result.reply.data}" if result.reply is not None else ""
        shown |= {key for key, marker in MARKERS.items() if marker in f"{data} {result.text}"}
    assert shown == (seat.readable if is_curator else {seat.own})
    for command_id, held_id in product(("memory.reject", "memory.approve"), list(held_ids(reviews))):
        for result in await give(registry, seat.caller, command_id, {"id": held_id}):
            assert not any(marker in f"{result}" for marker in MARKERS.values())
    channels = {key for key in KEYS if key.startswith("channel:")}
    decided = {seat.own} | ({f"org:{seat.organization}"} | channels if is_curator else set[str]())
    assert {each.scope_key for each in reviews.held} == set(KEYS) - decided
