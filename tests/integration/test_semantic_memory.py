"""Dense scores in the product's own path: a store, its vectors, the worker and the model on this machine."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memory.backfill import Backfill
from memory.embedder import Embedder, EmbedderUnavailableError
from memory.embedders.onnx import local_embedder
from memory.ranker import NO_SIMILARITY, KeywordRanker
from memory.record import MemoryCandidate, MemoryRecord
from memory.relevance import RelevanceRanker
from memory.semantic import QueryVectors, SemanticStore, VectorStore
from memory.store import Hit, Query, Retrieved, VectorKeeper
from memory.stores.inprocess import InProcessStore
from memory.stores.sqlite import SqliteStore
from tests.fakes import EPOCH, until
from tests.semantic_fakes import FakeEmbedder

ORG = "org:acme"
THREAD = "slack:C1:1700000000.000100"
FREEZE = "Releases are never shipped on a Friday"
CODE_WORD = "The vault's code word is heliotrope"


@dataclass(slots=True)
class WatchedRanker:
    """The reference ranker, and what it was told about similarity."""

    told: list[Mapping[str, float]] = field(default_factory=list[Mapping[str, float]])

    def rank(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        now: datetime,
        similarity: Mapping[str, float] = NO_SIMILARITY,
        limit: int | None = None,
    ) -> list[Hit]:
        self.told.append(similarity)
        return KeywordRanker().rank(records, query, now, limit=limit)

    def pooled(self, hits: Sequence[Hit], query: str) -> list[Hit]:
        return KeywordRanker().pooled(hits, query)


OpenStore = Callable[[Path, WatchedRanker], VectorStore]


def in_process(_: Path, ranker: WatchedRanker) -> VectorStore:
    return InProcessStore(ranker=ranker, now=lambda: EPOCH)


def in_files(folder: Path, ranker: WatchedRanker) -> VectorStore:
    return SqliteStore(folder, ranker=ranker, now=lambda: EPOCH)


@pytest.fixture(params=[in_process, in_files], ids=lambda opening: opening.__name__)
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    return request.param


@dataclass(slots=True)
class Memory:
    """Everything that is wired together when an embedding is configured."""

    store: SemanticStore
    keeper: VectorKeeper
    queries: QueryVectors
    backfill: Backfill
    ranker: WatchedRanker
    model: str

    async def write(self, *texts: str) -> None:
        await self.store.write(ORG, [MemoryCandidate("fact", text, THREAD) for text in texts])

    async def ask(self, text: str) -> Mapping[str, float]:
        """What the ranker is told when ``text`` is looked for."""
        await self.store.retrieve(ORG, Query(text, 8, await self.queries.vector(text)))
        return self.ranker.told[-1]

    async def embedded(self) -> None:
        """Wait until no record lacks its vector."""
        async with asyncio.timeout(10):
            while await self.keeper.unembedded(ORG, self.model, 1):
                await asyncio.sleep(0.005)


@asynccontextmanager
async def remembering(folder: Path, open_store: OpenStore, embedder: Embedder) -> AsyncGenerator[Memory]:
    ranker = WatchedRanker()
    store = open_store(folder, ranker)
    backfill = Backfill(store, embedder)
    queries = QueryVectors(embedder, deadline_s=5)
    async with asyncio.timeout(20):
        worker = asyncio.create_task(backfill.run())
        try:
            yield Memory(SemanticStore(store, backfill, queries), store, queries, backfill, ranker, embedder.model)
        finally:
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)
            await store.aclose()


@asynccontextmanager
async def minilm() -> AsyncGenerator[Embedder]:
    embedder = await asyncio.to_thread(local_embedder, "minilm")
    try:
        yield embedder
    finally:
        await embedder.aclose()


async def test_a_paraphrase_is_closer_than_what_shares_nothing(tmp_path: Path, open_store: OpenStore) -> None:
    async with minilm() as embedder, remembering(tmp_path, open_store, embedder) as memory:
        await memory.write(FREEZE, "Alice is allergic to peanuts", "The office has a coffee machine")
        await memory.embedded()
        similarity = await memory.ask("can we deploy at the end of the week?")
    assert len(similarity) == 3
    assert max(similarity, key=similarity.__getitem__) == f"mem:{ORG}:0"
    assert similarity[f"mem:{ORG}:0"] > similarity[f"mem:{ORG}:1"] + 0.15


async def test_every_scope_that_is_read_is_looked_at_for_records_without_vectors() -> None:
    inner, embedder = in_process(Path(), WatchedRanker()), FakeEmbedder()
    backfill = Backfill(inner, embedder)
    store = SemanticStore(inner, backfill, QueryVectors(embedder))
    assert store.retrieve_at_once(ORG, Query("deploys", 8)) == Retrieved()
    assert len(backfill) == 1
    assert await store.retrieve("user:slack:U1", Query("deploys", 8)) == Retrieved()
    assert len(backfill) == 2


async def test_a_record_is_found_by_its_meaning_alone(tmp_path: Path) -> None:
    """With the ranker of the product: not a word of the question stands in the record."""
    async with minilm() as embedder:
        queries = QueryVectors(embedder, deadline_s=5)
        store = SqliteStore(tmp_path, ranker=RelevanceRanker(), now=lambda: EPOCH)
        texts = ["The car belongs to the physician", "Lunch is served at noon in the canteen", "Bob likes chess"]
        await store.write(ORG, [MemoryCandidate("fact", text, THREAD) for text in texts])
        question = "Does any doctor own an automobile?"
        by_words = await store.retrieve(ORG, Query(question, 8))
        records = await store.unembedded(ORG, embedder.model, 8)
        vectors = await embedder.embed([record.text for record in records])
        await store.keep_vectors(ORG, embedder.model, dict(zip([each.id for each in records], vectors, strict=True)))
        by_meaning = await store.retrieve(ORG, Query(question, 8, await queries.vector(question)))
        await store.aclose()
    assert by_words.hits == ()
    assert [hit.record.text for hit in by_meaning.hits] == texts[:1]


async def test_a_read_before_the_vectors_are_made_goes_by_words(tmp_path: Path, open_store: OpenStore) -> None:
    embedder = FakeEmbedder()
    async with remembering(tmp_path, open_store, embedder) as memory:
        await memory.queries.vector("friday")
        embedder.is_open.clear()
        await memory.write(FREEZE)
        await until(lambda: len(embedder.calls) > 1)
        assert await memory.ask("friday") == {}
        found = await memory.store.retrieve(ORG, Query("friday", 8))
        assert [hit.record.text for hit in found.hits] == [FREEZE]
        embedder.is_open.set()
        await memory.embedded()
        assert list(await memory.ask("friday")) == [f"mem:{ORG}:0"]


async def test_a_failing_embedder_fails_no_read_and_no_write(tmp_path: Path, open_store: OpenStore) -> None:
    embedder = FakeEmbedder(failure=EmbedderUnavailableError("nobody there"))
    with capture_logs() as logs:
        async with remembering(tmp_path, open_store, embedder) as memory:
            await memory.write(CODE_WORD)
            found = await memory.store.retrieve(ORG, Query("heliotrope", 8, await memory.queries.vector("heliotrope")))
            await until(lambda: len(logs) >= 2)
    assert [hit.record.text for hit in found.hits] == [CODE_WORD]
    assert not found.is_degraded
    assert {entry["event"] for entry in logs} == {"query_unembedded", "embedding_failed"}
    assert "heliotrope" not in repr(logs)


async def test_another_model_embeds_again_and_words_do_meanwhile(tmp_path: Path) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(model="fake/other")
    async with remembering(tmp_path, in_files, first) as memory:
        await memory.write(FREEZE)
        await memory.embedded()
    async with remembering(tmp_path, in_files, second) as memory:
        second.is_open.clear()
        query = asyncio.create_task(memory.queries.vector("friday"))
        await memory.store.retrieve(ORG, Query("friday", 8))
        await until(lambda: len(second.calls) == 2)
        second.is_open.set()
        await query
        await memory.embedded()
        assert list(await memory.ask("friday")) == [f"mem:{ORG}:0"]
        assert not await memory.keeper.unembedded(ORG, "fake/other", 8)
        assert await memory.keeper.unembedded(ORG, first.model, 8), "the old model's vectors are gone"


async def test_vectors_of_another_model_are_never_compared(tmp_path: Path, open_store: OpenStore) -> None:
    embedder, other = FakeEmbedder(), FakeEmbedder(model="fake/other")
    async with remembering(tmp_path, open_store, embedder) as memory:
        await memory.write(FREEZE)
        await memory.embedded()
        await memory.store.retrieve(ORG, Query("friday", 8, await QueryVectors(other).vector("friday")))
        assert memory.ranker.told[-1] == {}


async def test_a_restart_embeds_nothing_again(tmp_path: Path) -> None:
    async with remembering(tmp_path, in_files, FakeEmbedder()) as memory:
        await memory.write(FREEZE, CODE_WORD)
        await memory.embedded()
    embedder = FakeEmbedder()
    async with remembering(tmp_path, in_files, embedder) as memory:
        assert len(await memory.ask("friday")) == 2
        await until(lambda: not len(memory.backfill))
        assert embedder.calls == [["friday"]]


async def test_records_that_are_older_than_the_embedding_are_embedded_at_first_use(tmp_path: Path) -> None:
    store = in_files(tmp_path, WatchedRanker())
    await store.write(ORG, [MemoryCandidate("fact", FREEZE, THREAD)])
    await store.aclose()
    async with remembering(tmp_path, in_files, FakeEmbedder()) as memory:
        assert await memory.ask("friday") == {}
        await memory.embedded()
        assert len(await memory.ask("friday")) == 1


async def test_what_is_retired_while_it_is_embedded_keeps_no_vector(tmp_path: Path, open_store: OpenStore) -> None:
    embedder = FakeEmbedder()
    async with remembering(tmp_path, open_store, embedder) as memory:
        embedder.is_open.clear()
        await memory.write(FREEZE, CODE_WORD, "Alice prefers tabs")
        await until(lambda: len(embedder.calls) == 1)
        await memory.store.forget(ORG, f"mem:{ORG}:0")
        await memory.store.erase(ORG, f"mem:{ORG}:1")
        embedder.is_open.set()
        await memory.embedded()
        assert list(await memory.ask("tabs")) == [f"mem:{ORG}:2"]


async def test_erasing_forgets_the_queries_too(tmp_path: Path, open_store: OpenStore) -> None:
    embedder = FakeEmbedder()
    async with remembering(tmp_path, open_store, embedder) as memory:
        for erase in (memory.store.erase(ORG), memory.store.erase_thread(THREAD)):
            await memory.queries.vector("heliotrope")
            embedder.calls.clear()
            await erase
            await memory.queries.vector("heliotrope")
            assert embedder.calls == [["heliotrope"]]


async def test_the_store_inside_answers_everything_else(tmp_path: Path, open_store: OpenStore) -> None:
    async with remembering(tmp_path, open_store, FakeEmbedder()) as memory:
        candidate = MemoryCandidate("fact", FREEZE, THREAD, is_standing=True)
        assert (await memory.store.write(ORG, [candidate])).inserted == 1
        assert (await memory.store.write(ORG, [candidate])).deduped == 1
        first = f"mem:{ORG}:0"
        assert [each.id for each in (await memory.store.retrieve(ORG, Query("", 0, standing=8))).standing] == [first]
        assert [each.id for each in await memory.store.get(ORG, [first])] == [first]
        assert [each.id for each in await memory.store.list(ORG, 8, query="friday", kind="fact", before=1)] == [first]
        assert await memory.store.list(ORG, 8, before=0) == []
        said = ("Alice prefers tabs", "PR #12 is in review", CODE_WORD)
        passing = [MemoryCandidate("fact", text, THREAD) for text in said]
        for _ in range(2):
            assert (await memory.store.write(ORG, passing, idempotency_key="k", cap=3)).evicted == 1
        for dry_run in (True, False):
            assert list(await memory.store.sweep(ORG, dry_run=dry_run)) == [f"mem:{ORG}:2"]
        assert [each.text for each in await memory.store.list(ORG, 8)] == [CODE_WORD, FREEZE]
        assert (await memory.store.erase_thread(THREAD)).records == 4
        await memory.store.aclose()
