"""The OpenAI adapter's errors, provoked by servers over a real socket."""

import pytest

from app.agents.providers.base import ModelEvent, TextDelta
from app.agents.providers.openai import OpenAIProvider
from app.errors import (
    ModelBusyError,
    ModelKeyError,
    ModelRejectedError,
    ModelUnreachableError,
    PromptTooLongError,
)
from tests.model_servers import (
    Answer,
    Ending,
    connected,
    error_answer,
    failed,
    openai_chunk,
    openai_end,
    openai_error,
    openai_text,
    read,
    sse,
)


async def answered(*chunks: bytes, ending: Ending = Ending.CLOSE) -> list[ModelEvent]:
    async with connected(OpenAIProvider, Answer(chunks, ending=ending)) as (_, provider):
        return await read(provider)


def whole(*pieces: str) -> list[bytes]:
    return [*openai_text(*pieces), *openai_end()]


@pytest.mark.parametrize(
    ("status", "kind", "code", "error"),
    [
        (400, "invalid_request_error", None, ModelRejectedError),
        (400, "invalid_request_error", "context_length_exceeded", PromptTooLongError),
        (400, "exceed_context_size_error", None, PromptTooLongError),
        (401, "invalid_request_error", "invalid_api_key", ModelKeyError),
        (403, "request_forbidden", "unsupported_country_region_territory", ModelKeyError),
        (404, "invalid_request_error", "model_not_found", ModelRejectedError),
        (408, "timeout", None, ModelUnreachableError),
        (413, "tokens", "rate_limit_exceeded", PromptTooLongError),
        (422, "invalid_request_error", None, ModelRejectedError),
        (429, "requests", "rate_limit_exceeded", ModelBusyError),
        (429, "insufficient_quota", "insufficient_quota", ModelKeyError),
        (500, "server_error", None, ModelUnreachableError),
        (502, "server_error", None, ModelUnreachableError),
        (503, "server_error", "slow_down", ModelBusyError),
    ],
)
async def test_every_status_becomes_the_error_that_says_what_to_do(
    status: int, kind: str, code: str | None, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        await failed(OpenAIProvider, openai_error(status, kind, code))
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
        (500, "the request exceeds the available context size. try increasing it"),
        (429, "Request too large for model-1 in organization on tokens per min: Limit 30000, Requested 90000."),
    ],
)
async def test_a_prompt_over_the_window_is_too_long_in_every_servers_words(status: int, message: str) -> None:
    with pytest.raises(PromptTooLongError):
        await failed(OpenAIProvider, openai_error(status, "error", message=message))


async def test_a_wrong_path_that_answers_in_html_is_rejected() -> None:
    with pytest.raises(ModelRejectedError, match="HTTP 404"):
        await failed(OpenAIProvider, Answer([b"<h1>Not here</h1>"], 404, {"Content-Type": "text/html"}))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after_ms": "250.5"}, 0.2505),
        ({"date": "Wed, 21 Oct 2026 07:28:00 GMT", "retry_after": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0),
        ({}, None),
    ],
)
async def test_the_wish_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    with pytest.raises(ModelBusyError) as caught:
        await failed(OpenAIProvider, openai_error(429, "requests", **headers))
    assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "Sorry about that!", "type": "server_error"}, ModelUnreachableError),
        ({"message": "Rate limited", "code": 429}, ModelBusyError),
        ({"message": "Provider disconnected", "code": 502}, ModelUnreachableError),
        ({"message": "the request exceeds the available context size", "code": 400}, PromptTooLongError),
        ({"message": "Bad", "type": "BadRequestError", "code": 400}, ModelRejectedError),
        ({"message": "You exceeded your quota", "type": "insufficient_quota"}, ModelKeyError),
        ("something went wrong", ModelUnreachableError),
    ],
)
async def test_an_error_in_mid_stream_comes_after_the_text_before_it(error: object, expected: type[Exception]) -> None:
    seen: list[ModelEvent] = []
    async with connected(OpenAIProvider, Answer([*openai_text("So far"), sse({"error": error})])) as (server, provider):
        with pytest.raises(expected) as caught:
            await read(provider, seen=seen)
    assert seen == [TextDelta("So far")]
    assert type(caught.value) is expected
    assert len(server.calls) == 1


async def test_a_router_that_reports_a_broken_upstream_gives_no_answer() -> None:
    with pytest.raises(ModelUnreachableError):
        await answered(*openai_text("Half"), openai_chunk({}, "error"), sse("[DONE]"))


@pytest.mark.parametrize(
    "junk", [b"data: {broken\n\n", b"data: 17\n\n", b"data: \xff\n\n", b'data: {"choices": 1}\n\n']
)
async def test_unreadable_chunks_are_the_servers_fault(junk: bytes) -> None:
    with pytest.raises(ModelUnreachableError, match="unreadable"):
        await answered(*openai_text("Half"), junk, *openai_end())


async def test_a_body_without_a_wording_is_not_repeated() -> None:
    body = {"detail": [{"loc": ["body"], "input": "How is the weather?"}]}
    with pytest.raises(ModelRejectedError) as caught:
        await failed(OpenAIProvider, error_answer(422, body))
    assert str(caught.value) == "vendor answered with an error (HTTP 422)"
