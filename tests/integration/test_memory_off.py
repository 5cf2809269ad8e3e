"""Off means off: with memory disabled, what goes to a provider is what a build without memory would send."""

from pathlib import Path

import pytest

from app.agents.definitions import GENERAL_PROMPT
from app.agents.providers.base import ModelRequest, Turn
from app.agents.providers.catalogue import Catalogue, ProviderSpec
from app.bootstrap import build
from app.clock import SystemClock
from app.play import playing, with_state
from app.playground.seed import ALICE, BOT_USER, GENERAL
from app.playground.server import open_playground
from config.settings import ProviderSettings, Settings
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore
from memory.stores.sqlite import SqliteStore
from tests.e2e.conftest import SETTINGS
from tests.model_servers import (
    Answer,
    anthropic_end,
    anthropic_start,
    anthropic_text,
    model_server,
    openai_end,
    openai_text,
)

ANSWERS = {
    "anthropic": Answer([anthropic_start(), *anthropic_text("ok"), *anthropic_end()]),
    "openai": Answer([*openai_text("ok"), *openai_end()]),
}


def settings_for(settings: Settings, kind: str, base_url: str, *, enabled: bool) -> Settings:
    provider = ProviderSettings.model_validate({"kind": kind, "base_url": base_url, "api_key": "k"})
    return settings.model_copy(
        update={
            "providers": {"here": provider},
            "defaults": settings.defaults.model_copy(update={"model": "here/model-1"}),
            "memory": settings.memory.model_copy(update={"enabled": enabled, "store": "sqlite"}),
        }
    )


async def sent_by_the_bot(kind: str, folder: Path, *, enabled: bool, taught: bool = False) -> tuple[bytes, str]:
    """The body of the one model call that a mention of “which port?” leads to, and the thread it is asked in."""
    fact = MemoryCandidate("fact", "The port is 5433.", "slack:C1:1.0")
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    if taught:
        await store.write("org:playground", [fact])
    if not enabled:  # There is something to tell, in the place where it would be looked for.
        files = SqliteStore(folder / "memory", ranker=RelevanceRanker(), now=SystemClock().now)
        await files.write("org:playground", [fact])
        await files.aclose()
    async with open_playground(with_page=False) as playground, model_server(ANSWERS[kind]) as server:
        settings = settings_for(playing(SETTINGS["socket"], playground), kind, server.base_url, enabled=enabled)
        memory = store if enabled else None
        kept = with_state(settings, folder).model_copy(update={"data_dir": folder})
        async with build(kept, memory=memory) as application, application.serving():
            await application.connected()
            root = playground.people.say(ALICE, GENERAL, f"<@{BOT_USER}> which port?")
            await playground.answer(GENERAL, root.ts)
        (call,) = server.calls
        return call.raw, root.ts


async def sent_without_memory(kind: str, thread_ts: str) -> bytes:
    """The same call put together by hand: where it is, the agent's prompt, the question; nothing knows of memory."""
    context = (
        "## Current Session Context\n\n"
        "- Platform: slack\n"
        f'- Place: channel "general" ({GENERAL}), thread {thread_ts}\n'
        '- Topic: "Company-wide announcements"\n'
        "- People: several may take part in this thread; each message begins with its sender's name "
        "and goes on indented.\n"
        "- Connected platforms: slack"
    )
    request = ModelRequest(
        model="model-1",
        system=(context, GENERAL_PROMPT),
        messages=(Turn("user", "alice: which port?"),),
        max_output_tokens=8192,
    )
    async with model_server(ANSWERS[kind]) as server:
        catalogue = Catalogue({"here": ProviderSpec(kind, server.base_url, "k")}, connect_s=5, idle_s=5)  # pyright: ignore[reportArgumentType] - one of the kinds
        async for _ in catalogue.resolve("here/model-1").provider.stream(request):
            pass
        await catalogue.aclose()
        (call,) = server.calls
        return call.raw


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_with_memory_disabled_every_byte_equals_a_build_without_memory(kind: str, tmp_path: Path) -> None:
    """Specification, section 1; criterion "Disabled path is byte-identical to memory-off"."""
    off, thread = await sent_by_the_bot(kind, tmp_path / "off", enabled=False)
    assert off == await sent_without_memory(kind, thread)
    silent, thread = await sent_by_the_bot(kind, tmp_path / "silent", enabled=True)
    assert silent == await sent_without_memory(kind, thread), "a memory that has nothing to say adds nothing"
    taught, thread = await sent_by_the_bot(kind, tmp_path / "taught", enabled=True, taught=True)
    assert taught != await sent_without_memory(kind, thread)
