"""The repository a turn is about: whose memory it reads and teaches, and when it does neither (section 21)."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from app.access.actor import ActorKind, ChannelFacts
from app.access.authority import TableAuthority
from app.access.grants import Grants
from app.agents.providers.base import ModelRequest
from app.channel import ChannelId, ThreadKey, Visibility
from commands.preferences import Layer, Name, Slot
from memory.ranker import KeywordRanker
from memory.stores.inprocess import InProcessStore
from tests.dispatch_house import House
from tests.fakes import EPOCH, Members, message
from tests.memory_records import fact

THREAD, CHANNEL = "slack:C1:1700000000.000100", "slack:C1"
API, WEB = "repo:acme/api", "repo:acme/web"
SCOPES = f"org:acme + {API} + channel:slack:C1 + user:slack:U1"
TAUGHT = "We deploy with Argo in this repository."


class Room:
    """A workspace whose channels are all alike."""

    def __init__(self, facts: ChannelFacts) -> None:
        self._facts = facts

    async def facts(self, channel_id: str) -> ChannelFacts:
        return self._facts


def access_in(facts: ChannelFacts, kind: ActorKind = ActorKind.MEMBER) -> TableAuthority:
    return TableAuthority("acme", Grants(), people=Members(kind), places=Room(facts))


@pytest.fixture
async def memory() -> AsyncGenerator[InProcessStore]:
    store = InProcessStore(ranker=KeywordRanker(), now=lambda: EPOCH)
    for key in (API, WEB):
        await store.write(key, [fact(f"deploy with {key}")])
    yield store
    await store.aclose()


async def bound(house: House, repo: str = "acme/api", layer: Layer = Layer.THREAD) -> House:
    slot = Slot(layer, THREAD if layer is Layer.THREAD else CHANNEL, Name.REPO)
    await house.preferences.set(slot, repo, expected_version=0, by="slack:U1")
    return house


async def said(house: House, text: str = TAUGHT, number: int = 1) -> ModelRequest:
    """In one thread, message after message."""
    position, root = f"170000000{number}.000100", "1700000000.000100"
    await house.handle(message(text, position=position, root=root, event=f"Ev{number}"))
    return house.provider.requests[-1]


def heading(request: ModelRequest) -> str:
    """The scopes that the block of memory names."""
    first = next(line for line in request.system[0].splitlines() if line.startswith("Background memory for "))
    return first.removeprefix("Background memory for ").partition(" (may be")[0]


def repos_taught(house: House) -> list[str | None]:
    return [turn.repo for turn in house.reflections.turns]


@pytest.mark.parametrize("layer", [Layer.THREAD, Layer.CHANNEL])
async def test_a_turn_reads_and_teaches_the_repository_its_conversation_is_about(
    memory: InProcessStore, layer: Layer
) -> None:
    """Criterion: the prefix names all four scopes, in the order org, repo, channel, user."""
    house = await bound(House(memory=memory), layer=layer)
    request = await said(house)
    assert heading(request) == SCOPES
    assert "deploy with repo:acme/api" in request.system[0]
    assert "deploy with repo:acme/web" not in request.system[0]
    assert repos_taught(house) == ["acme/api"]


async def test_a_turn_about_no_repository_reads_and_teaches_none(memory: InProcessStore) -> None:
    await memory.write("org:acme", [fact("we deploy on Tuesdays")])
    house = House(memory=memory)
    request = await said(house)
    assert heading(request) == "org:acme + channel:slack:C1 + user:slack:U1"
    assert "repo:acme" not in f"{request}"
    assert repos_taught(house) == [None]


async def test_a_message_can_be_about_another_repository_than_its_thread(memory: InProcessStore) -> None:
    house = await bound(House(["a"], ["b"], memory=memory))
    other = await said(house, f"repo:Acme/WEB {TAUGHT}", 1)
    assert heading(other) == SCOPES.replace(API, WEB)
    assert other.messages[-1].text == f"Alice: {TAUGHT}"
    assert heading(await said(house, TAUGHT, 2)) == SCOPES
    assert repos_taught(house) == ["acme/web", "acme/api"]


async def test_a_repository_that_is_none_is_refused_in_a_sentence(memory: InProcessStore) -> None:
    house = House(memory=memory)
    assert await house.handle(message("repo:api deploy")) == "refused"
    assert "`owner/name`, such as `repo:acme/api`" in house.chat.said[0]
    assert house.provider.requests == []


PUBLIC = ChannelFacts(Visibility.PUBLIC, is_ext_shared=False)
READ, TAUGHT_TOO = {"read"}, {"read", "taught"}


@pytest.mark.parametrize(
    ("access", "outcome"),
    [
        (access_in(PUBLIC), TAUGHT_TOO),
        (access_in(replace(PUBLIC, visibility=Visibility.PRIVATE)), READ),
        (access_in(replace(PUBLIC, visibility=Visibility.DM)), READ),
        (access_in(replace(PUBLIC, is_ext_shared=True)), set[str]()),
        (access_in(ChannelFacts()), set[str]()),
        (access_in(PUBLIC, ActorKind.GUEST), set[str]()),
        (access_in(PUBLIC, ActorKind.EXTERNAL), set[str]()),
        (access_in(PUBLIC, ActorKind.UNKNOWN), set[str]()),
    ],
)
async def test_who_asks_and_who_reads_along_decide_about_the_repositorys_memory(
    memory: InProcessStore, access: TableAuthority, outcome: set[str]
) -> None:
    await memory.write("user:slack:U1", [fact("deploy is mine")])
    house = await bound(House(memory=memory, access=access))
    request = await said(house)
    assert (API in heading(request)) is ("read" in outcome)
    assert ("deploy with repo:acme/api" in f"{request}") is ("read" in outcome)
    assert repos_taught(house) == ["acme/api" if "taught" in outcome else None]


async def test_what_is_said_in_a_dm_teaches_no_repository(memory: InProcessStore) -> None:
    """The room itself may be one nobody can tell anything of."""
    house = House(memory=memory)
    dm = replace(
        message(f"repo:acme/api {TAUGHT}"),
        channel_id=ChannelId("slack:D1"),
        thread_key=ThreadKey("slack:D1:1.0"),
        visibility=Visibility.DM,
    )
    await house.handle(dm)
    assert "deploy with repo:acme/api" in house.provider.requests[0].system[0]
    (turn,) = house.reflections.turns
    assert (turn.repo, turn.organization, turn.visibility) == (None, None, "dm")


async def test_the_block_of_a_session_changes_only_with_what_it_is_about(memory: InProcessStore) -> None:
    """Section 22; prompt caches hold as long as the block does."""
    house = await bound(House(["a"], ["b"], ["c"], ["d"], memory=memory))
    first = (await said(house, "deploy", 1)).system[0]
    assert (await said(house, "deploy with Argo", 2)).system[0] == first
    about_web = (await said(house, "repo:acme/web deploy", 3)).system[0]
    assert WEB in about_web
    assert API not in about_web
    assert (await said(house, "deploy once more", 4)).system[0] == first


@pytest.mark.parametrize("text", [TAUGHT, "which port?"])
async def test_without_memory_a_repository_changes_no_byte_of_what_a_model_gets(text: str) -> None:
    """Specification, section 1."""
    with_one, without = await bound(House(memory=None)), House(memory=None)
    assert await said(with_one, text) == await said(without, text)
    assert await said(House(memory=None), f"repo:acme/api {text}") == await said(House(memory=None), text)
