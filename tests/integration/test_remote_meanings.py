"""``memory.embedding`` with a memory service between: it finds what means the same, and an older one goes by words."""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from app.bootstrap_memory import open_memory
from app.clock import SystemClock
from config.loading import load
from config.settings import Settings, WorkerSettings
from memory.recall import Recall
from memory.record import MemoryCandidate
from memory.scope import Scopes
from memory.semantic import QUERY_UNEMBEDDED
from memory.stores.remote import RemoteStore
from tests.fakes import until
from tests.memory_servers import TOKEN, answer, refusal, scripted
from tests.memory_services import TOKEN as SERVED_TOKEN
from tests.memory_services import ServedMemory, served_over
from tests.state_databases import PostgresServer

ORG = "org:acme"
BASE = load(environ={}, playground=True)
FOUND = answer({"records": [], "scores": []})
QUESTION, FACT = "purchase a laptop", "How to buy a notebook computer is in the handbook."
OTHERS = ("Deploys go out on Tuesdays.", "Lunch is at noon.", "Invoices are paid by the tenth.", "Rust is fine.")


def settings_with(folder: Path, base_url: str, token: str, embedding: str | None = "local/minilm") -> Settings:
    worker = WorkerSettings(base_url=base_url, token=SecretStr(token))
    changed = {"enabled": True, "store": "remote", "worker": worker, "embedding": embedding}
    return BASE.model_copy(update={"data_dir": folder, "memory": BASE.memory.model_copy(update=changed)})


async def recalled(recall: Recall, question: str) -> list[str]:
    found = await recall.recall(f"a session for {question}", Scopes(ORG), question)
    return [record.text for record in found.records]


def told_of(lines: Sequence[MutableMapping[str, Any]]) -> list[MutableMapping[str, Any]]:
    """What memory has to say, but for a query whose vector took this machine too long."""
    return [line for line in lines if line["log_level"] in {"warning", "error"} and line["event"] != QUERY_UNEMBEDDED]


@pytest.fixture(params=["sqlite", "postgres"])
def service(
    request: pytest.FixtureRequest, tmp_path: Path, _servers: Callable[[], PostgresServer]
) -> Iterator[ServedMemory]:
    with served_over(request.param, tmp_path, lambda: _servers().new()) as served:
        yield served


async def test_a_question_finds_through_a_service_what_means_the_same(tmp_path: Path, service: ServedMemory) -> None:
    """What one bot wrote by its words, another one that compares meanings finds by them, older records included."""
    base_url = f"http://127.0.0.1:{service.port}"
    plain, dense = (settings_with(tmp_path, base_url, SERVED_TOKEN, each) for each in (None, "local/minilm"))
    with capture_logs() as lines:
        async with open_memory(plain, {}, SystemClock(), None) as opened:
            assert isinstance(opened.store, RemoteStore)
            await opened.store.write(ORG, [MemoryCandidate("fact", text, "slack:C1:1.0") for text in (FACT, *OTHERS)])
            assert await recalled(opened.recall, QUESTION) == []
        async with open_memory(dense, {}, SystemClock(), None) as opened, asyncio.timeout(30):
            # The model loads and the vectors are made in the background; until then words alone answer.
            while await recalled(opened.recall, QUESTION) != [FACT]:
                await asyncio.sleep(0.05)
    assert not told_of(lines)


async def test_an_older_service_costs_one_warning_and_no_more_work(tmp_path: Path) -> None:
    async with scripted() as remote:

        async def older(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            knows = remote.last.route == "/base/retrieve"
            await (FOUND if knows else refusal(404, "not found"))(reader, writer)

        remote.service.play(older)
        with capture_logs() as lines:
            settings = settings_with(tmp_path, remote.service.base_url, TOKEN)
            async with open_memory(settings, {}, SystemClock(), None) as opened:
                assert await recalled(opened.recall, "which port") == []
                await until(lambda: bool(told_of(lines)))
                asked = len(remote.service.asked)
                for number in range(5):
                    assert await recalled(opened.recall, f"which port has {number}") == []
    assert sorted(remote.routes) == [*["/base/retrieve"] * 6, "/base/unembedded"]
    assert not any("vector" in each.body for each in remote.service.asked[asked:])
    (warning,) = told_of(lines)
    assert "memory.embedding is set, but this store compares words only" in warning["reason"]
    assert TOKEN not in str(lines)
