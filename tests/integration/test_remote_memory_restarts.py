"""The remote store and the real service, each in its own process, when the service is killed and comes back."""

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog

from memory.record import WriteCounts
from memory.store import Query, StoreUnavailableError
from memory.stores.remote import RemoteStore
from memory.stores.remote_calls import Service
from memory.stores.remote_trace import trace_id
from tests.memory_records import EPOCH, ORG, fact, texts
from tests.memory_servers import PATIENT, HandClock
from tests.memory_services import TOKEN, ServedMemory, served_memory


async def started(stack: ExitStack, folder: Path, port: int = 0) -> ServedMemory:
    arguments = ("--data-dir", str(folder), "--port", str(port))
    return await asyncio.to_thread(stack.enter_context, served_memory(folder, *arguments))


async def test_a_killed_service_is_missed_and_found_again_with_everything_it_had_confirmed(tmp_path: Path) -> None:
    clock = HandClock()
    with ExitStack() as services:
        first = await started(services, tmp_path)
        base_url = f"http://127.0.0.1:{first.port}"
        service = Service(base_url, TOKEN, patience=PATIENT, monotonic=clock)
        store = RemoteStore(service, ranker="relevance", now=lambda: EPOCH)
        try:
            batch = [fact("the staging database listens on port 5433")]
            with structlog.contextvars.bound_contextvars(reference="abcd1234"):
                assert await store.write(ORG, batch, idempotency_key="run-1") == WriteCounts(inserted=1)
            assert len((await store.retrieve(ORG, Query("staging port", 8))).hits) == 1
            await asyncio.to_thread(first.stop, 9)
            assert (await store.retrieve(ORG, Query("staging port", 8))).is_degraded
            with pytest.raises(StoreUnavailableError):
                await store.list(ORG, 8)
            await started(services, tmp_path, first.port)
            clock.at_s += 60
            found = await store.retrieve(ORG, Query("staging port", 8))
            assert texts([hit.record for hit in found.hits]) == ["the staging database listens on port 5433"]
            assert await store.write(ORG, batch, idempotency_key="run-1") == WriteCounts(inserted=1)
            assert len(await store.records(ORG, 50)) == 1
        finally:
            await store.aclose()
        lines = await asyncio.to_thread(first.log.read_text, encoding="utf-8")
    traces = {line["trace"] for line in map(json.loads, lines.splitlines()) if line.get("route") == "/write"}
    assert traces == {trace_id("abcd1234")}
    assert "5433" not in lines
