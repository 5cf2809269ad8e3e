"""The bot's memory as the settings put it together."""

import asyncio
from pathlib import Path
from socket import socket

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from app.bootstrap_memory import MEMORY_WARNED, open_memory, ranker_of
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.status import BotStatus, span
from config.loading import load
from config.settings import PostgresSettings, Settings, WorkerSettings
from memory.ranker import KeywordRanker
from memory.recall import Recall
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.scope import Scopes
from memory.stores.inprocess import InProcessStore
from memory.stores.late import MEMORY_AWAITED, LateStore
from memory.stores.null import NullStore
from memory.stores.remote import RemoteStore
from memory.stores.sqlite import SqliteStore
from tests.fakes import ManualClock
from tests.memory_servers import TOKEN, answer, scripted

ORG = "org:acme"
BASE = load(environ={}, playground=True)


def settings_with(folder: Path, **memory: object) -> Settings:
    changed = BASE.memory.model_copy(update={"enabled": True, "store": "auto", **memory})
    return BASE.model_copy(update={"data_dir": folder, "memory": changed})


def vouched_by(file: str) -> WorkerSettings:
    return WorkerSettings(base_url="https://memory.example", token=SecretStr(TOKEN), ca_file=Path(file))


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


@pytest.mark.parametrize("cap", [0, -1, 10_001, 1.5, float("nan"), "many", True, []])
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
        ({"store": "postgres"}, r"memory\.postgres\.url"),
        ({"worker": WorkerSettings(base_url="https://a:b@c", token=SecretStr("t"))}, r"memory\.worker\.base_url"),
        ({"worker": vouched_by("/no/such/file.pem")}, r"memory\.worker\.ca_file: /no/such/file\.pem: No such file"),
        ({"worker": vouched_by(__file__)}, r"memory\.worker\.ca_file: .* holds no certificate in PEM"),
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


async def test_a_worker_with_its_token_is_where_memory_is(tmp_path: Path) -> None:
    async with scripted(answer({"records": [], "scores": []})) as remote:
        worker = WorkerSettings(base_url=remote.service.base_url, token=SecretStr(TOKEN))
        settings = settings_with(tmp_path, worker=worker, ranker="keyword")
        with capture_logs() as lines:
            async with open_memory(settings, {}, SystemClock(), None) as opened:
                assert isinstance(opened.store, RemoteStore)
                assert await _recalled(opened.recall, "which port") == []
        assert (remote.last.body["ranker"], remote.last.headers["authorization"]) == ("keyword", f"Bearer {TOKEN}")
    assert TOKEN not in str(lines)


async def test_a_store_that_keeps_no_vectors_is_told_of_once(tmp_path: Path) -> None:
    with capture_logs() as lines:
        settings = settings_with(tmp_path, embedding="local/minilm")
        async with open_memory(settings, {}, SystemClock(), NullStore()) as opened:
            assert isinstance(opened.store, NullStore)
    assert ["memory.embedding" in line["reason"] for line in lines if line["event"] == MEMORY_WARNED] == [True]


async def test_a_database_that_is_down_takes_nothing_but_memory(tmp_path: Path) -> None:
    """Memory is advice: the bot begins without it, says so once, and goes on trying."""
    with socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"postgresql://ada:{TOKEN}@127.0.0.1:{nobody.getsockname()[1]}/memory"
        settings = settings_with(tmp_path, store="postgres", postgres=PostgresSettings(url=SecretStr(url)))
        with capture_logs() as lines:
            async with open_memory(settings, {}, SystemClock(), None) as opened:
                assert isinstance(opened.store, LateStore)
                assert (await opened.recall.recall("s", Scopes(ORG), "which port")).is_degraded
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == [MEMORY_AWAITED]
    assert TOKEN not in str(lines)


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
