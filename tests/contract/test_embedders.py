"""What the port promises of every embedder: the local model, one from a folder, and an endpoint."""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from memory.embedder import Embedder, EmbedderUnavailableError
from memory.embedders.files import local_files
from memory.embedders.onnx import local_embedder
from tests.embedding_servers import embedding_server, endpoint_embedder

Opening = Callable[[Path], AbstractAsyncContextManager[Embedder]]

TEXTS = [
    "Deployments are frozen on Fridays.",
    "Alice prefers tabs.",
    "The staging database runs PostgreSQL 17, on port 5433, and is rebuilt every night from a copy of production.",
]


@asynccontextmanager
async def built_in(_: Path) -> AsyncGenerator[Embedder]:
    embedder = await asyncio.to_thread(local_embedder, "minilm")
    try:
        yield embedder
    finally:
        await embedder.aclose()


@asynccontextmanager
async def in_a_folder(folder: Path) -> AsyncGenerator[Embedder]:
    def linked() -> Embedder:
        files = local_files("minilm")
        for name, file in (("model.onnx", files.model), ("tokenizer.json", files.tokenizer)):
            if not (folder / name).exists():
                (folder / name).symlink_to(file)
        return local_embedder(str(folder))

    embedder = await asyncio.to_thread(linked)
    try:
        yield embedder
    finally:
        await embedder.aclose()


@asynccontextmanager
async def over_the_wire(_: Path) -> AsyncGenerator[Embedder]:
    async with embedding_server() as server, endpoint_embedder(server.base_url) as embedder:
        yield embedder


@pytest.fixture(params=[built_in, in_a_folder, over_the_wire], ids=lambda opening: opening.__name__)
def opening(request: pytest.FixtureRequest) -> Opening:
    return request.param


@pytest.fixture
async def embedder(opening: Opening, tmp_path: Path) -> AsyncIterator[Embedder]:
    async with asyncio.timeout(20), opening(tmp_path) as opened:
        yield opened


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_every_text_gets_one_vector_of_length_one(embedder: Embedder) -> None:
    vectors = await embedder.embed(TEXTS)
    assert len(vectors) == len(TEXTS)
    assert {len(vector) for vector in vectors} == {embedder.dimension}
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * len(TEXTS), abs=1e-6)


async def test_the_dimension_is_known_once_there_is_a_vector(embedder: Embedder) -> None:
    assert embedder.dimension is None
    (vector,) = await embedder.embed(TEXTS[:1])
    assert embedder.dimension == len(vector)


async def test_a_text_has_the_same_vector_in_any_company(embedder: Embedder) -> None:
    together = await embedder.embed(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        (alone,) = await embedder.embed([text])
        assert cosine(alone, vector) > 0.9999


async def test_vectors_come_in_the_order_of_their_texts_however_many(embedder: Embedder) -> None:
    texts = [f"Ticket {number} " + "waits for review " * (number * 7 % 5) for number in range(40)]
    vectors = await embedder.embed(texts)
    (last,), (first,) = await embedder.embed(texts[-1:]), await embedder.embed(texts[:1])
    assert len(vectors) == len(texts)
    assert cosine(vectors[-1], last) > 0.9999
    assert cosine(vectors[0], first) > 0.9999
    assert cosine(vectors[0], last) < 0.9999


async def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert list(await embedder.embed([])) == []


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "nul\x00inside",
        "lone \ud83d surrogate",
        "🙂👩‍👩‍👧",
        "x" * 4_000,
        "word " * 20_000,
        "デプロイは金曜日に禁止",
    ],
    ids=["nul", "nul inside", "surrogate", "emoji", "one long word", "too long", "kana"],
)
async def test_any_text_can_be_embedded(embedder: Embedder, text: str) -> None:
    vectors = await embedder.embed([text, "plain"])
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0, 1.0], abs=1e-6)


async def test_calls_run_side_by_side_and_cancelling_one_harms_no_other(embedder: Embedder) -> None:
    async with asyncio.TaskGroup() as calls:
        kept = [calls.create_task(embedder.embed([text])) for text in TEXTS]
        doomed = calls.create_task(embedder.embed(TEXTS * 10))
        await asyncio.sleep(0)
        doomed.cancel()
    assert doomed.cancelled()
    expected = await embedder.embed(TEXTS)
    for call, vector in zip(kept, expected, strict=True):
        assert cosine(call.result()[0], vector) > 0.9999


async def test_a_closed_embedder_is_unavailable_and_closes_again(embedder: Embedder) -> None:
    await embedder.embed(TEXTS)
    await embedder.aclose()
    await embedder.aclose()
    with pytest.raises(EmbedderUnavailableError, match="closed"):
        await embedder.embed(TEXTS)


async def test_one_that_was_never_used_closes_too(embedder: Embedder) -> None:
    await embedder.aclose()
    with pytest.raises(EmbedderUnavailableError, match="closed"):
        await embedder.embed(TEXTS)


async def test_the_model_keeps_its_name_over_a_restart(opening: Opening, tmp_path: Path) -> None:
    async with asyncio.timeout(20), opening(tmp_path) as first, opening(tmp_path) as second:
        assert first.model == second.model
        assert "/" in first.model
