"""A query's vector: made once, in time or not at all, and never a reason for a read to fail or to wait long."""

import asyncio

import pytest
from structlog.testing import capture_logs

from memory import semantic as module
from memory.embedder import EmbedderUnavailableError
from memory.semantic import CACHED_QUERIES, LONGEST_REST_S, QueryVectors
from memory.store import Vector
from tests.semantic_fakes import MODEL, FakeEmbedder


class Watch:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


async def test_a_query_is_embedded_once() -> None:
    embedder = FakeEmbedder()
    queries = QueryVectors(embedder)
    first = await queries.vector("when do we deploy")
    assert first is not None
    assert first.model == MODEL
    assert await queries.vector("when do we deploy") == first
    assert len(embedder.calls) == 1


@pytest.mark.parametrize("blank", ["", "  ", "\n\t"])
async def test_a_blank_query_has_no_vector_and_asks_nobody(blank: str) -> None:
    embedder = FakeEmbedder()
    assert await QueryVectors(embedder).vector(blank) is None
    assert embedder.calls == []


async def test_only_the_beginning_of_a_long_query_is_sent() -> None:
    embedder = FakeEmbedder()
    assert await QueryVectors(embedder).vector("a" * 50_000) is not None
    assert [len(text) for text in embedder.calls[0]] == [4_000]


async def test_any_text_is_a_query() -> None:
    embedder = FakeEmbedder()
    assert isinstance(await QueryVectors(embedder).vector("\ud83d \x00"), Vector)


async def test_the_oldest_queries_are_forgotten_first() -> None:
    embedder = FakeEmbedder()
    queries = QueryVectors(embedder)
    for number in range(CACHED_QUERIES):
        await queries.vector(f"query {number}")
    await queries.vector("query 0")
    await queries.vector("one more")
    embedder.calls.clear()
    await queries.vector("query 0")
    assert embedder.calls == []
    await queries.vector("query 1")
    assert embedder.calls == [["query 1"]]


async def test_what_was_kept_of_queries_can_be_forgotten() -> None:
    embedder = FakeEmbedder()
    queries = QueryVectors(embedder)
    await queries.vector("hello")
    queries.clear()
    await queries.vector("hello")
    assert len(embedder.calls) == 2


async def test_once_there_is_nothing_to_compare_with_no_query_is_embedded() -> None:
    embedder = FakeEmbedder()
    queries = QueryVectors(embedder)
    assert await queries.vector("hello") is not None
    queries.retire()
    assert [await queries.vector(text) for text in ("hello", "new")] == [None, None]
    assert embedder.calls == [["hello"]]


async def test_a_late_vector_is_no_vector() -> None:
    embedder = FakeEmbedder()
    embedder.is_open.clear()
    queries = QueryVectors(embedder, deadline_s=0.02)
    async with asyncio.timeout(20):
        assert await queries.vector("hello") is None


async def test_after_a_failure_reads_go_by_words_alone_without_waiting() -> None:
    watch = Watch()
    embedder = FakeEmbedder(failure=EmbedderUnavailableError("nobody there"))
    queries = QueryVectors(embedder, monotonic=watch)
    with capture_logs() as logs:
        for _ in range(5):
            assert await queries.vector("the code word is heliotrope") is None
        assert len(embedder.calls) == 1
        watch.now_s += 1
        assert await queries.vector("hello") is None
        assert len(embedder.calls) == 2
        embedder.failure = None
        watch.now_s += 2
        assert await queries.vector("hello") is not None
        assert await queries.vector("again") is not None
    assert [entry["event"] for entry in logs] == [module.QUERY_UNEMBEDDED, module.QUERIES_EMBEDDED_AGAIN]
    assert "heliotrope" not in repr(logs)


async def test_the_rest_grows_to_a_minute_and_no_further() -> None:
    watch = Watch()
    embedder = FakeEmbedder(failure=EmbedderUnavailableError("nobody there"))
    queries = QueryVectors(embedder, monotonic=watch)
    for _ in range(30):
        await queries.vector("hello")
        watch.now_s += LONGEST_REST_S
    assert len(embedder.calls) == 30
    watch.now_s -= 0.1
    await queries.vector("hello")
    assert len(embedder.calls) == 30


async def test_calls_that_fail_side_by_side_count_as_one_failure() -> None:
    watch = Watch()
    embedder = FakeEmbedder(failure=EmbedderUnavailableError("nobody there"))
    embedder.is_open.clear()
    queries = QueryVectors(embedder, monotonic=watch, deadline_s=2)
    async with asyncio.timeout(20), asyncio.TaskGroup() as reads:
        for number in range(20):
            reads.create_task(queries.vector(f"query {number}"))
        await asyncio.sleep(0)
        embedder.is_open.set()
    embedder.failure = None
    watch.now_s += 1
    assert await queries.vector("hello") is not None


async def test_a_cached_query_needs_no_embedder() -> None:
    embedder = FakeEmbedder()
    queries = QueryVectors(embedder)
    known = await queries.vector("hello")
    embedder.failure = EmbedderUnavailableError("nobody there")
    await queries.vector("other")
    assert await queries.vector("hello") == known


async def test_warming_asks_once_without_hurry_and_never_raises() -> None:
    embedder = FakeEmbedder(failure=EmbedderUnavailableError("nobody there"))
    queries = QueryVectors(embedder, deadline_s=0.01)
    with capture_logs() as logs:
        await queries.warm()
    assert [entry["event"] for entry in logs] == [module.QUERY_UNEMBEDDED]
    slow = FakeEmbedder()
    slow.is_open.clear()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        warming = tasks.create_task(QueryVectors(slow, deadline_s=0.01).warm())
        await asyncio.sleep(0.03)
        assert not warming.done()
        slow.is_open.set()
