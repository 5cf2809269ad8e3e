"""The bot's memory as the settings put it together."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.bootstrap_memory import MEMORY_WARNED, open_memory, ranker_of
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.status import BotStatus, span
from config.loading import load
from config.settings import Settings
from memory.ranker import KeywordRanker
from memory.recall import Recall
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.scope import Scopes
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from memory.stores.sqlite import SqliteStore
from tests.fakes import ManualClock

ORG = "org:acme"
BASE = load(environ={}, playground=True)


def settings_with(folder: Path, **memory: object) -> Settings:
    changed = BASE.memory.model_copy(update={"enabled": True, "store": "auto", **memory})
    return BASE.model_copy(update={"data_dir": folder, "memory": changed})


@pytest.mark.parametrize(
    ("memory", "kind"),
    [
        ({"enabled": False}, NullStore),
        ({}, SqliteStore),
        ({"store": "sqlite"}, SqliteStore),
        ({"store": "inprocess"}, InProcessStore),
    ],
)
async def test_the_settings_choose_the_store(tmp_path: Path, memory: dict[str, object], kind: type) -> None:
    """Specification, section 20."""
    async with open_memory(settings_with(tmp_path, **memory), {}, SystemClock(), None) as opened:
        assert isinstance(opened.store, kind)


async def test_a_given_store_is_used_and_left_open(tmp_path: Path) -> None:
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    async with open_memory(settings_with(tmp_path), {}, SystemClock(), store) as opened:
        assert opened.store is store
    assert list(await store.list(ORG, 1)) == []


@pytest.mark.parametrize("cap", [0, -1, 10_001, 1.5, "many"])
async def test_a_cap_that_cannot_be_used_is_told_and_replaced(tmp_path: Path, cap: object) -> None:
    """Specification, section 29; criterion "An out-of-range / non-integer maxRecordsPerScope"."""
    with capture_logs() as lines:
        async with open_memory(settings_with(tmp_path, max_records_per_scope=cap), {}, SystemClock(), None):
            pass
    (warning,) = [line for line in lines if line["event"] == MEMORY_WARNED]
    assert "memory.max_records_per_scope" in warning["reason"]
    assert "500" in warning["reason"]


@pytest.mark.parametrize(
    ("memory", "sentence"),
    [
        ({"store": "postgres"}, "postgres is not there yet"),
        ({"embedding": "nobody/x"}, "nobody"),
        ({"embedding": "local/no-such-folder"}, "no-such-folder"),
    ],
)
async def test_what_is_not_there_ends_the_start_in_a_sentence(
    tmp_path: Path, memory: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        async with open_memory(settings_with(tmp_path, **memory), {}, SystemClock(), None):
            pass


def test_the_settings_choose_the_ranker(tmp_path: Path) -> None:
    assert isinstance(ranker_of(settings_with(tmp_path)), RelevanceRanker)
    assert isinstance(ranker_of(settings_with(tmp_path, ranker="keyword")), KeywordRanker)


async def _recalled(recall: Recall, question: str) -> list[str]:
    found = await recall.recall(f"a session for {question}", Scopes(ORG), question)
    return [record.text for record in found.records]


async def test_with_embeddings_a_question_finds_what_means_the_same(tmp_path: Path) -> None:
    question, fact = "purchase a laptop", "How to buy a notebook computer is in the handbook."
    others = ("Deploys go out on Tuesdays.", "Lunch is at noon.", "Invoices are paid by the tenth.", "Rust is fine.")
    async with open_memory(settings_with(tmp_path), {}, SystemClock(), None) as opened:
        await opened.store.write(ORG, [MemoryCandidate("fact", text, "slack:C1:1.0") for text in (fact, *others)])
        assert await _recalled(opened.recall, question) == []
    async with (
        open_memory(settings_with(tmp_path, embedding="local/minilm"), {}, SystemClock(), None) as opened,
        asyncio.timeout(30),
    ):
        # The model loads and the vectors are made in the background; until then words alone answer.
        while await _recalled(opened.recall, question) != [fact]:
            await asyncio.sleep(0.05)


def test_status_tells_how_the_bot_is_doing() -> None:
    clock = ManualClock()
    status = BotStatus(clock, model="offline/demo", memory="on")
    clock.elapsed_s = 3_700
    lines = dict(status.status().lines)
    assert lines["uptime"] == "1 h 1 min"
    assert lines["slack"] == "not connected"
    assert (lines["model"], lines["memory"]) == ("offline/demo", "on")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 min"), (59, "0 min"), (60, "1 min"), (7_260, "2 h 1 min"), (266_400, "3 d 2 h")]
)
def test_a_span_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert span(seconds) == text
