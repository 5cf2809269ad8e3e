"""The memory service's application over stores that fail: what goes out, what is logged, and what never is."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from memory.ranker import KeywordRanker
from memory.record import MemoryRecord, Status
from memory.service.asgi import MemoryService
from memory.service.fences import trace_id
from memory.service.routes import application
from memory.service.wire import array_of, lines_of, record_json, said_json, told_record
from memory.store import EraseReceipt, Query, Retrieved, StoreFullError, StoreUnavailableError
from memory.stores.inprocess import InProcessStore
from tests.memory_records import record
from tests.memory_services import BEARER, TOKEN, Json, fact

MARKER = "zebraquartz"
WRITE: Json = {"scopeKey": "org:acme", "records": [fact(f"the {MARKER} is kept")]}
RETRIEVE = {"scopeKey": "org:acme", "query": MARKER, "limit": 5}


class FailingStore(InProcessStore):
    """Fails as it is told to, with a record's words in the fault."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)
        self.fault = fault

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        raise self.fault

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        if after is not None:
            raise self.fault
        return [record(each) for each in range(limit)]


class FailingErasure(InProcessStore):
    """Erases, and may say then that it could not erase everything."""

    def __init__(self, fault: Exception | None) -> None:
        super().__init__(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)
        self.fault = fault

    async def erase_thread(self, thread_key: str) -> EraseReceipt:
        receipt = await super().erase_thread(thread_key)
        if self.fault is not None:
            raise self.fault
        return receipt


class BlindStore(InProcessStore):
    """Cannot look, and says so."""

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        return Retrieved(is_degraded=True)


def healthy() -> InProcessStore:
    return InProcessStore(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)


async def asked(
    store: InProcessStore, route: str, body: object, *, token: str = TOKEN, bearer: str = BEARER
) -> httpx.Response:
    transport = httpx.ASGITransport(application(MemoryService(store, token, build="test")))
    async with httpx.AsyncClient(transport=transport, base_url="http://memory") as client:
        return await client.post(route, json=body, headers={"Authorization": bearer})


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (StoreFullError("the file on /x is full"), 507),
        (StoreUnavailableError("the file is gone"), 503),
        (LookupError(MARKER), 500),
        (ValueError(MARKER), 500),
        (RecursionError(MARKER), 500),
    ],
)
async def test_a_store_that_fails_is_told_by_the_status_alone(
    fault: Exception, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await asked(FailingStore(fault), "/retrieve", RETRIEVE)
    assert (answer.status_code, list(answer.json())) == (status, ["error"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert MARKER not in answer.text + json.dumps(lines)
    if status == 500:
        (line,) = [line for line in lines if line["event"] == "memory_request_failed"]
        assert line["reference"] in answer.json()["error"]
        assert type(fault).__name__ in line["trace_of_fault"]
        assert "in retrieve" in line["trace_of_fault"]
    else:
        assert str(fault) not in answer.text


async def test_a_search_that_could_not_look_is_no_empty_answer() -> None:
    """Section 19: found nothing and could not look are different."""
    store = BlindStore(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)
    assert (await asked(store, "/retrieve", RETRIEVE)).status_code == 503
    assert (await asked(healthy(), "/retrieve", RETRIEVE)).json() == {"records": [], "scores": []}


@pytest.mark.parametrize("bearer", ["", "Bearer ", "Bearer", BEARER])
async def test_an_empty_secret_grants_nothing(bearer: str) -> None:
    """Section 16: an unset or empty secret grants nothing (fail closed)."""
    assert (await asked(healthy(), "/write", WRITE, token="", bearer=bearer)).status_code == 401


class FullStore(InProcessStore):
    """Has no room for vectors, or breaks over them."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)
        self.fault = fault

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        raise self.fault


@pytest.mark.parametrize(
    ("fault", "status"),
    [(None, 200), (ValueError("0.123456"), 400), (StoreFullError("full"), 507), (StoreUnavailableError("gone"), 503)],
)
async def test_no_number_of_a_vector_is_told_or_logged(
    fault: Exception | None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    store = healthy() if fault is None else FullStore(fault)
    vectors = [{"id": f"mem:org:acme:{MARKER}", "values": [0.123456, -1]}]
    answer = await asked(store, "/vectors", {"scopeKey": "org:acme", "model": "test/one", "vectors": vectors})
    assert answer.status_code == status
    logged = capsys.readouterr().out
    assert "/vectors" in logged
    assert not any(hidden in answer.text + logged for hidden in ("0.123456", MARKER))


async def test_an_export_that_cannot_begin_is_refused() -> None:
    store = FailingStore(StoreUnavailableError("gone"))
    assert (await asked(store, "/export", {"scopeKey": "org:acme", "after": 1})).status_code == 503


@pytest.mark.parametrize("fault", [StoreUnavailableError("gone"), LookupError(MARKER)])
async def test_an_export_that_breaks_does_not_look_whole(fault: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    sent = await told_to(MemoryService(FailingStore(fault), TOKEN, build="test"), "/export", {"scopeKey": "org:acme"})
    assert (sent[0]["status"], len(sent[1]["body"].splitlines())) == (200, 500)
    assert all(each.get("more_body") for each in sent[1:]), "it is never finished, so the server cuts the connection"
    assert b'"end"' not in sent[-1]["body"]
    assert MARKER not in capsys.readouterr().out


class LongStore(InProcessStore):
    """One scope of many pages."""

    def __init__(self) -> None:
        super().__init__(ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=500)
        self.pages = 0

    async def records(self, scope_key: str, limit: int, *, after: int | None = None) -> Sequence[MemoryRecord]:
        self.pages += 1
        first = 0 if after is None else after + 1
        return [record(first + each) for each in range(limit)] if self.pages < 9 else []


async def test_nothing_more_is_read_for_whoever_hangs_up_in_the_middle_of_an_export() -> None:
    """A server throws away what is sent to nobody, so sending alone would never tell."""
    store, gone = LongStore(), asyncio.Event()
    content = json.dumps({"scopeKey": "org:acme"}).encode()
    parts, sent = [{"type": "http.request", "body": content, "more_body": False}], list[Json]()

    async def receive() -> Json:
        if parts:
            return parts.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))
        if len(sent) == 3:
            gone.set()

    headers = [(b"authorization", BEARER.encode()), (b"content-length", b"%d" % len(content))]
    scope = {"type": "http", "path": "/export", "method": "POST", "headers": headers}
    async with asyncio.timeout(20):
        await MemoryService(store, TOKEN, build="test")(scope, receive, send)
    assert (store.pages, len(sent)) == (3, 3)


async def told_to(service: MemoryService, route: str, body: object) -> list[Json]:
    """What the application sends."""
    content, sent = json.dumps(body).encode(), list[Json]()
    headers = [(b"authorization", BEARER.encode()), (b"content-length", b"%d" % len(content))]

    async def receive() -> Json:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await service({"type": "http", "path": route, "method": "POST", "headers": headers}, receive, send)
    return sent


async def test_whoever_hangs_up_before_the_end_of_a_body_is_not_answered() -> None:
    sent, parts = list[Any](), [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Json:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", BEARER.encode()), (b"content-length", b"10")]
    scope = {"type": "http", "path": "/write", "method": "POST", "headers": headers}
    await MemoryService(healthy(), TOKEN, build="test")(scope, receive, send)
    assert sent == []


async def test_more_than_was_declared_is_too_much() -> None:
    """A server that does not hold a client to its Content-Length must not open a way around the bound."""
    sent = list[Any]()

    async def receive() -> Json:
        return {"type": "http.request", "body": b" " * 300_000, "more_body": len(sent) == 0}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", BEARER.encode()), (b"content-length", b"10")]
    scope = {"type": "http", "path": "/write", "method": "POST", "headers": headers}
    await MemoryService(healthy(), TOKEN, build="test")(scope, receive, send)
    assert sent[0]["status"] == 413


FULL = replace(
    record(7, 'say "hi" \\ to \u2028 日本 🚀 \x00\x1f\x7f'),
    keywords=("a", 'b"c', "ü"),
    source_run_id="r1",
    source_user="U1",
    author='M"ara',
    last_used_at=datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC),
    use_count=3,
    confidence=0.1 + 0.2,
    supersedes="mem:org:acme:1",
    status=Status.EVICTED,
    is_standing=True,
)


@pytest.mark.parametrize(
    "given", [record(0), FULL, replace(FULL, confidence=1.0, keywords=()), replace(FULL, confidence=0.0)]
)
def test_a_record_is_the_same_json_whichever_way_it_is_written(given: MemoryRecord) -> None:
    assert json.loads(record_json(given)) == json.loads(json.dumps(told_record(given)))
    assert json.loads(array_of([given, given])) == [json.loads(record_json(given))] * 2
    assert lines_of([given]).decode() == record_json(given) + "\n"


@pytest.mark.parametrize("fault", [None, StoreUnavailableError("one file could not be looked at")])
async def test_nothing_that_was_erased_stays_among_what_was_told(fault: Exception | None) -> None:
    store = FailingErasure(fault)
    await asked(store, "/write", WRITE)
    assert MARKER in (await asked(store, "/retrieve", RETRIEVE)).text
    assert said_json.cache_info().currsize > 0
    answer = await asked(store, "/erase", {"threadKey": WRITE["records"][0]["sourceThreadKey"]})
    assert answer.status_code == (200 if fault is None else 503)
    assert said_json.cache_info().currsize == 0


def test_a_trace_is_noted_only_when_it_is_one() -> None:
    """W3C Trace Context, level 1."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    assert trace_id({b"traceparent": f"00-{trace}-b7ad6b7169203331-01".encode()}) == trace
    for wrong in (b"", b"00-x-y-01", f"00-{trace.upper()}-b7ad6b7169203331-01".encode(), MARKER.encode()):
        assert trace_id({b"traceparent": wrong}) is None
    assert trace_id({}) is None
