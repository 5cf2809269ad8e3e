"""Slash commands through the playground: who sees the answer, when it comes, and whose memory it reaches."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from app.access.grants import Grants
from app.background import Background
from app.clock import SystemClock
from app.playground.delivery import AckTimes
from app.playground.happenings import EphemeralPosted
from app.playground.server import Playground, open_playground
from app.slack.slash import Slash
from commands.builtin import builtin_commands
from commands.ports import Status
from commands.registry import Registry
from commands.spec import Caller, Command, Reply, Surface, Values
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from tests.bolt_bots import bolt_app, connected, ephemerals
from tests.e2e.conftest import ADA, ALICE, BOB, GENERAL
from tests.fakes import Rooms, access_of

ORG = "org:acme"
MARKER = "hunter2-do-not-echo"


class FakeStatus:
    def status(self) -> Status:
        return Status((("model", "ready"),))


@dataclass(slots=True)
class Desk:
    """A workspace with memory, and the ephemeral messages in it."""

    playground: Playground
    store: InProcessStore
    seen: list[EphemeralPosted]

    async def slash(self, user: str, command: str, text: str = "") -> str:
        """What the person is shown for it; nobody else is shown anything."""
        before = len(self.seen)
        await self.playground.people.slash(user, GENERAL, command, text)
        await self.playground.wait_for(lambda: len(self.seen) > before)
        shown = self.seen[before:]
        assert {each.user for each in shown} == {user}
        return "".join(each.text for each in shown)

    async def teach(self, key: str, text: str) -> str:
        """The id of a new record."""
        await self.store.write(key, [MemoryCandidate("fact", text, "slack:C0EARLIER1:1700000000.000100")])
        (newest, *_) = await self.store.list(key, 1)
        return newest.id


@asynccontextmanager
async def desk_of(*more: Command, patience_s: float = 2.0) -> AsyncGenerator[Desk]:
    """The bot's own commands and ``more`` on slash commands; Ada is an admin."""
    background, clock = Background(), SystemClock()
    authority = access_of(grants=Grants(admins=(ADA,)))
    store = InProcessStore(ranker=RelevanceRanker(), now=clock.now)
    builtin = builtin_commands(store, "acme", authority, FakeStatus())
    registry = Registry([*more, *builtin], authority, now=lambda: datetime.now(UTC))
    times = AckTimes(timeout_s=1.0, retry_after_s=())
    async with open_playground(with_page=False, enforce_rates=False, times=times) as playground:
        app = bolt_app(playground)
        Slash(registry, background.spawn, Rooms(), patience_s=patience_s).register(app)
        async with connected(playground, app):
            yield Desk(playground, store, ephemerals(playground))
            await background.drain(2.0)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with desk_of() as desk:
        yield desk


def command_of(work: Callable[[], Awaitable[str]]) -> Command:
    """``memory work``: answers what ``work`` gives."""

    async def handle(caller: Caller, _values: Values) -> Reply:
        assert caller.surface is Surface.SLASH
        return Reply({}, await work())

    return Command("memory.work", "works", "memory:read", "read", handle)


async def test_a_member_lists_and_forgets_a_record_of_their_own(desk: Desk) -> None:
    """Specification, sections 24 and 25."""
    record_id = await desk.teach(f"user:slack:{ALICE}", "Alice takes the early train.")
    assert "Alice takes the early train." in await desk.slash(ALICE, "/memory", "list me")
    assert "early train" not in await desk.slash(BOB, "/memory", "list")
    assert "🧹" in await desk.slash(ALICE, "/memory", f"forget {record_id}")
    assert "early train" not in await desk.slash(ALICE, "/memory", "list me")
    assert desk.playground.workspace.messages.get(GENERAL, {}) == {}


async def test_shared_records_are_forgotten_by_admins_alone_and_foreign_ones_by_nobody(desk: Desk) -> None:
    """Specification, section 25."""
    shared = await desk.teach(ORG, "Deploys happen on Tuesdays.")
    bobs = await desk.teach(f"user:slack:{BOB}", "Bob is on call.")
    assert (await desk.slash(ALICE, "/memory", f"forget {shared}")).startswith("🚫")
    assert len(await desk.store.list(ORG, 5)) == 1
    for user in (ALICE, ADA):
        refused = await desk.slash(user, "/memory", f"forget {bobs}")
        absent = await desk.slash(user, "/memory", f"forget mem:user:slack:{BOB}:99")
        assert refused.startswith("🚫")
        assert refused == absent
    assert len(await desk.store.list(f"user:slack:{BOB}", 5)) == 1
    assert "🧹" in await desk.slash(ADA, "/memory", f"forget {shared}")
    assert await desk.store.list(ORG, 5) == []


async def test_every_command_is_there_under_the_bots_own_name_too(desk: Desk) -> None:
    await desk.teach(ORG, "Deploys happen on Tuesdays.")
    assert "Deploys happen" in await desk.slash(ALICE, "/switchboard", "memory list --scope org")
    assert "model: ready" in await desk.slash(ALICE, "/switchboard", "status show")
    assert await desk.slash(ALICE, "/switchboard", "MEMORY list") == await desk.slash(ALICE, "/memory", "list")


async def test_help_is_there_at_every_level(desk: Desk) -> None:
    everything = await desk.slash(ALICE, "/switchboard")
    assert "`memory list`" in everything
    assert "`status show`" in everything
    assert await desk.slash(ALICE, "/switchboard", "help") == everything
    group = await desk.slash(ALICE, "/memory")
    assert "`memory forget`" in group
    assert "`status show`" not in group
    assert "--limit" in await desk.slash(ALICE, "/memory", "list --help")


@pytest.mark.parametrize(
    "text",
    [
        f'list "{MARKER}',
        f"list --bogus {MARKER}",
        "list --limit 0",
        "list --limit 51",
        "list --limit ten",
        f"list --scope {MARKER}",
        f"forget {MARKER}",
        f"forget mem:user:{MARKER}",
        "forget",
        f"dance {MARKER}",
        f"{MARKER} {MARKER}",
        "list " + "x" * 40_000,
    ],
)
async def test_what_cannot_be_done_is_said_without_repeating_it(desk: Desk, text: str) -> None:
    said = await desk.slash(ALICE, "/memory", text)
    assert said.startswith("⚠️")
    assert MARKER not in said
    assert len(said) < 1_000


async def test_slacks_link_markup_and_escapes_are_undone(desk: Desk) -> None:
    await desk.teach(ORG, "The runbook for R&D is at https://example.com/run?a=1&b=2 today.")
    said = await desk.slash(ALICE, "/memory", "list R&amp;D --scope org")
    assert "matching `R&D`" in said


async def test_a_command_that_takes_longer_is_acknowledged_in_time_and_answered_later() -> None:
    finished = asyncio.Event()

    async def slowly() -> str:
        await finished.wait()
        return "here it is"

    async with desk_of(command_of(slowly), patience_s=0.1) as desk:
        async with asyncio.timeout(1):
            await desk.playground.people.slash(ALICE, GENERAL, "/memory", "work")
        assert desk.seen == []
        finished.set()
        await desk.playground.wait_for(lambda: desk.seen)
    assert [(each.user, each.text) for each in desk.seen] == [(ALICE, "here it is")]


async def test_a_long_answer_comes_in_pieces_that_slack_takes_and_says_when_there_is_more() -> None:
    lines = "\n".join(f"- record {number} {'x' * 80}" for number in range(1, 1_001))

    async def at_length() -> str:
        return lines

    async with desk_of(command_of(at_length)) as desk:
        await desk.playground.people.slash(ALICE, GENERAL, "/memory", "work")
        await desk.playground.wait_for(lambda: len(desk.seen) == 5)
    pieces = [each.text for each in desk.seen]
    assert all(len(piece) <= 12_000 for piece in pieces)
    shown = "\n".join(pieces).splitlines()
    assert shown[:500] == lines.splitlines()[:500]
    assert "There is more than fits here" in shown[-1]


async def test_a_handler_that_crashes_is_a_sentence_and_a_log_line(capsys: pytest.CaptureFixture[str]) -> None:
    async def badly() -> str:
        raise RuntimeError(MARKER)

    async with desk_of(command_of(badly)) as desk:
        said = await desk.slash(ALICE, "/memory", "work")
    assert said.startswith("⚠️")
    assert MARKER not in said + capsys.readouterr().out


async def test_the_answer_rings_nobody() -> None:
    async def loudly() -> str:
        return "<!channel> look"

    async with desk_of(command_of(loudly)) as desk:
        assert "<!channel>" not in await desk.slash(ALICE, "/memory", "work")
