"""The embeddings endpoint over a real socket: what is sent, what is read, and what every failure becomes."""

import asyncio
from collections.abc import Sequence

import pytest
from aiohttp import web

from memory.embedder import EmbedderUnavailableError, TextsRefusedError
from tests.embedding_servers import (
    DIMENSION,
    EmbeddingServer,
    embedding_server,
    endpoint_embedder,
    error_response,
    numbers_of,
    rows_answer,
)
from tests.model_servers import KEY, Answer, Ending, model_server

TEXT = "The vault's code word is heliotrope."


async def embedded(server: EmbeddingServer, texts: Sequence[str] = (TEXT,)) -> Sequence[tuple[float, ...]]:
    async with asyncio.timeout(10), endpoint_embedder(server.base_url) as embedder:
        return await embedder.embed(texts)


async def failure(answer: web.Response) -> EmbedderUnavailableError:
    async with embedding_server(lambda _: answer) as server:
        with pytest.raises(EmbedderUnavailableError) as caught:
            await embedded(server)
    assert len(server.asked) == 1, "no retry"
    return caught.value


async def test_the_request_has_the_model_the_texts_and_the_key_and_nothing_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    async with embedding_server() as server:
        await embedded(server, ["one", "two"])
    (request,) = server.requests
    assert await request.json() == {"model": "maker/embed-1", "input": ["one", "two"], "encoding_format": "float"}
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert "OpenAI-Organization" not in request.headers


async def test_a_server_without_a_key_gets_none() -> None:
    async with embedding_server() as server, endpoint_embedder(server.base_url, api_key=None) as embedder:
        await embedder.embed([TEXT])
    assert "Authorization" not in server.requests[0].headers


async def test_vectors_are_put_in_order_by_their_index() -> None:
    async with embedding_server() as server:
        first, second = await embedded(server, ["first", "second"])
    for text, vector in (("first", first), ("second", second)):
        wanted = numbers_of(text)
        assert [value / vector[0] for value in vector] == pytest.approx([value / wanted[0] for value in wanted])


async def test_vectors_without_an_index_are_taken_as_they_come() -> None:
    answer = web.json_response({"data": [{"embedding": [0.0, 2.0]}, {"embedding": [3.0, 0.0]}]})
    async with embedding_server(lambda _: answer) as server:
        assert await embedded(server, ["a", "b"]) == [(0.0, 1.0), (1.0, 0.0)]


async def test_many_texts_go_in_calls_of_thirty_two() -> None:
    async with embedding_server() as server:
        vectors = await embedded(server, [f"text {number}" for number in range(70)])
    assert [len(texts) for texts in server.asked] == [32, 32, 6]
    assert len(vectors) == 70


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_texts_are_refused_with_the_statuses_that_can_mean_them(status: int) -> None:
    assert isinstance(await failure(error_response(status)), TextsRefusedError)


@pytest.mark.parametrize("status", [401, 403, 404, 405, 429, 500, 503])
async def test_other_statuses_are_an_outage(status: int) -> None:
    assert type(await failure(error_response(status))) is EmbedderUnavailableError


async def test_the_wish_to_wait_is_kept() -> None:
    assert (await failure(error_response(429, retry_after="7"))).retry_after_s == 7


@pytest.mark.parametrize(
    "message", [f"cannot embed {TEXT!r}", f"bad key {KEY}"], ids=["echoes the text", "echoes the key"]
)
async def test_an_error_repeats_neither_text_nor_key(message: str) -> None:
    said = str(await failure(error_response(400, message)))
    assert "heliotrope" not in said
    assert KEY not in said
    assert "HTTP 400" in said


async def test_an_error_repeats_what_else_the_server_said() -> None:
    assert "only 8 GPUs" in str(await failure(error_response(400, "only 8 GPUs here")))


@pytest.mark.parametrize(
    "body", [{"detail": "input too long"}, {"detail": [{"loc": ["body"], "input": TEXT}]}], ids=["words", "list"]
)
async def test_errors_in_other_shapes_are_read_too(body: object) -> None:
    said = await failure(web.json_response(body, status=422))
    assert isinstance(said, TextsRefusedError)
    assert "heliotrope" not in str(said)


async def test_an_error_page_in_html_is_an_outage() -> None:
    page = web.Response(text="<h1>Bad gateway</h1>", status=502, content_type="text/html")
    assert type(await failure(page)) is EmbedderUnavailableError


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(text="not json", content_type="application/json"),
        web.Response(text="hello", content_type="text/plain"),
        web.json_response({"data": None}),
        web.json_response({"data": [{"embedding": "AAAA", "index": 0}]}),
        web.json_response({"data": [{"embedding": [1.0], "index": 5}]}),
        web.json_response({"data": []}),
        rows_answer([[1.0, 2.0], [3.0, 4.0]]),
        rows_answer([[0.0, 0.0]]),
        rows_answer([[]]),
        rows_answer([[float("nan"), 1.0]]),
        rows_answer([[float("inf"), 1.0]]),
        rows_answer([[0.5] * 20_000]),
    ],
    ids=[
        "no json", "text", "no data", "base64", "strange index", "nothing", "too many", "zero", "empty", "nan",
        "infinite", "endless",
    ],
)  # fmt: skip
async def test_an_unfit_answer_is_never_a_vector(answer: web.Response) -> None:
    assert type(await failure(answer)) is EmbedderUnavailableError


async def test_another_dimension_than_before_fails_that_batch_only() -> None:
    """A wrong dimension is an error of its batch, so that no store ever sees it."""
    rows = {"good": numbers_of("good"), "bad": [1.0, 2.0, 3.0]}
    async with (
        embedding_server(lambda texts: rows_answer([rows[text] for text in texts])) as server,
        endpoint_embedder(server.base_url) as embedder,
    ):
        await embedder.embed(["good"])
        with pytest.raises(EmbedderUnavailableError, match=f"3 dimensions where {DIMENSION} are expected"):
            await embedder.embed(["bad"])
        with pytest.raises(EmbedderUnavailableError, match="dimensions"):
            await embedder.embed(["good", "bad"])
        assert len(await embedder.embed(["good"])) == 1
        assert embedder.dimension == DIMENSION


async def test_nobody_listening_is_an_outage() -> None:
    async with endpoint_embedder("http://127.0.0.1:9/v1") as embedder:
        with pytest.raises(EmbedderUnavailableError, match="could not be reached"):
            await embedder.embed([TEXT])


@pytest.mark.parametrize("ending", [Ending.HANG, Ending.DROP])
async def test_an_answer_that_never_ends_is_an_outage_within_the_calls_deadline(ending: Ending) -> None:
    half = Answer([b'{"data": [{"embedding"'], headers={"Content-Type": "application/json"}, ending=ending)
    async with (
        asyncio.timeout(10),
        model_server(half) as server,
        endpoint_embedder(server.base_url, call_s=0.2) as embedder,
    ):
        with pytest.raises(EmbedderUnavailableError):
            await embedder.embed([TEXT])


async def test_bytes_that_trickle_do_not_stretch_the_deadline() -> None:
    headers = {"Content-Type": "application/json"}
    trickle = Answer([b" "] * 100, headers=headers, ending=Ending.HANG, silence_s=0.05)
    async with (
        asyncio.timeout(3),
        model_server(trickle) as server,
        endpoint_embedder(server.base_url, call_s=0.3) as embedder,
    ):
        with pytest.raises(EmbedderUnavailableError, match=r"within 0\.3 s"):
            await embedder.embed([TEXT])


async def test_the_cause_of_an_error_is_kept() -> None:
    assert (await failure(error_response(500))).__cause__ is not None
