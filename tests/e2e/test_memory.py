"""Memory in the real bot: what one thread taught is quoted in another, to the right people only."""

from pathlib import Path

import pytest

from app.agents.definitions import GENERAL_PROMPT
from app.agents.providers.base import Completed, ModelRequest, StopReason, TextDelta, Usage
from app.bootstrap import build
from app.clock import SystemClock
from app.playground.model import Message
from app.playground.server import Playground
from app.slack.manifest import EVENTS_PATH
from config.settings import Settings
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from memory.stores.sqlite import SqliteStore
from tests.e2e.conftest import ALICE, BOB, DEPLOYS, GENERAL, MENTION, demo_models, settings_of
from tests.fakes import OneModel, ScriptedProvider

ORG, ALICES, BOBS = "org:playground", f"user:slack:{ALICE}", f"user:slack:{BOB}"


async def teach(store: MemoryStore, key: str, text: str) -> None:
    await store.write(key, [MemoryCandidate("fact", text, "slack:C0EARLIER1:1700000000.000100")])


async def asked(
    playground: Playground,
    settings: Settings,
    memory: MemoryStore | None,
    user: str,
    text: str,
    *,
    channel: str = GENERAL,
) -> str:
    """The offline model's answer to one mention, from a bot that was started for it."""
    async with (
        build(settings, models=demo_models(settings), memory=memory) as application,
        application.serving() as port,
    ):
        await application.connected()
        if settings.slack.mode == "http":
            await playground.delivery.use_http(f"http://127.0.0.1:{port}{EVENTS_PATH}")
        root: Message = playground.people.say(user, channel, f"{MENTION} {text}")
        return await playground.answer(channel, root.ts)


def with_memory(settings: Settings, **changes: object) -> Settings:
    return settings.model_copy(update={"memory": settings.memory.model_copy(update=changes)})


async def test_a_fact_of_the_organisation_is_quoted_in_another_thread_and_a_persons_only_to_that_person(
    playground: Playground, mode: str
) -> None:
    """Specification, sections 21 and 22; criterion "Dispatcher end to end"."""
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await teach(store, ORG, "The staging database listens on port 5433.")
    await teach(store, ALICES, "Alice reaches the staging database through port 7001.")
    await teach(store, BOBS, "Bob reaches the staging database through port 7002.")
    said = await asked(playground, settings_of(playground, mode), store, ALICE, "which port has the staging database?")
    assert "5433" in said
    assert "7001" in said
    assert "7002" not in said


async def test_what_a_channel_knows_is_told_there_and_nowhere_else(playground: Playground) -> None:
    """Criterion: a same-channel request sees the channel fact; another channel's request does not (section 21)."""
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await teach(store, f"channel:slack:{GENERAL}", "The staging database listens on port 5433.")
    settings, question = settings_of(playground, "socket"), "which port has the staging database?"
    assert "5433" in await asked(playground, settings, store, BOB, question)
    assert "5433" not in await asked(playground, settings, store, BOB, question, channel=DEPLOYS)


async def test_with_memory_off_nothing_of_a_store_is_read(playground: Playground, mode: str, tmp_path: Path) -> None:
    """Specification, section 1."""
    settings = with_memory(settings_of(playground, mode), enabled=False, store="sqlite")
    settings = settings.model_copy(update={"data_dir": tmp_path})
    store = SqliteStore(tmp_path / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
    await teach(store, ORG, "The staging database listens on port 5433.")
    await store.aclose()
    said = await asked(playground, settings, None, ALICE, "which port has the staging database?")
    assert "5433" not in said


async def test_what_was_learned_survives_a_restart_in_files(
    playground: Playground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Specification, sections 15 and 20."""
    settings = with_memory(settings_of(playground, "socket"), store="auto").model_copy(update={"data_dir": tmp_path})
    store = SqliteStore(tmp_path / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
    await teach(store, ORG, "The staging database listens on port 5433.")
    await store.aclose()
    for _ in range(2):
        assert "5433" in await asked(playground, settings, None, BOB, "which port has the staging database?")
    log = capsys.readouterr().out
    assert '"memory_records": 1' in log
    assert '"store": "sqlite"' in log
    assert "listens on" not in log


async def test_a_store_that_is_given_is_the_one_that_is_read(playground: Playground) -> None:
    """Criterion: Enabled + seeded store prepends the advisory block while preserving the agent's own prompt."""
    seen: list[ModelRequest] = []

    class Watching(ScriptedProvider):
        async def stream(self, request: ModelRequest):  # noqa: ANN202 - the base class says it
            seen.append(request)
            yield TextDelta("ok")
            yield Completed(StopReason.END, Usage())

    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    await teach(store, ORG, "Deploys happen on Tuesdays.")
    settings = settings_of(playground, "socket")
    async with (
        build(settings, memory=store, models=OneModel(Watching(["ok"]))) as application,
        application.serving(),
    ):
        await application.connected()
        root = playground.people.say(ALICE, GENERAL, f"{MENTION} when are deploys?")
        await playground.answer(GENERAL, root.ts)
    assert "- Deploys happen on Tuesdays. (source: slack:C0EARLIER1:1700000000.000100)" in seen[0].system[0]
    assert seen[0].system[-1] == GENERAL_PROMPT
    (record,) = await store.list(ORG, 5)
    assert record.use_count == 1
