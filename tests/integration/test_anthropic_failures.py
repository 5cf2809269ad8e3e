"""The Anthropic adapter's errors, provoked by a server over a real socket."""

import pytest

from app.agents.providers.anthropic import AnthropicProvider
from app.agents.providers.base import Counted, ModelEvent, TextDelta, Usage
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
    anthropic_end,
    anthropic_error,
    anthropic_event,
    anthropic_start,
    anthropic_text,
    connected,
    failed,
    read,
)

EPHEMERAL = {"type": "ephemeral"}


async def answered(*chunks: bytes, ending: Ending = Ending.CLOSE, idle_s: float = 5) -> list[ModelEvent]:
    async with connected(AnthropicProvider, Answer(chunks, ending=ending), idle_s=idle_s) as (_, provider):
        return await read(provider)


def whole(*pieces: str) -> list[bytes]:
    return [anthropic_start(), *anthropic_text(*pieces), *anthropic_end()]


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", ModelRejectedError),
        (401, "authentication_error", ModelKeyError),
        (402, "billing_error", ModelKeyError),
        (403, "permission_error", ModelKeyError),
        (404, "not_found_error", ModelRejectedError),
        (408, "timeout_error", ModelUnreachableError),
        (413, "request_too_large", PromptTooLongError),
        (429, "rate_limit_error", ModelBusyError),
        (500, "api_error", ModelUnreachableError),
        (500, "overloaded_error", ModelBusyError),
        (503, "overloaded_error", ModelBusyError),
        (504, "timeout_error", ModelUnreachableError),
        (529, "overloaded_error", ModelBusyError),
    ],
)
async def test_every_status_becomes_the_error_that_says_what_to_do(
    status: int, kind: str, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        await failed(AnthropicProvider, anthropic_error(status, kind))
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None
    assert f"HTTP {status}" in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 215000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ],
)
async def test_a_prompt_over_the_window_is_too_long(message: str) -> None:
    with pytest.raises(PromptTooLongError):
        await failed(AnthropicProvider, anthropic_error(400, "invalid_request_error", message))


async def test_an_account_without_credit_is_the_operators_affair() -> None:
    with pytest.raises(ModelKeyError, match="no credit"):
        await failed(
            AnthropicProvider, anthropic_error(400, "invalid_request_error", "Your credit balance is too low.")
        )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "0.25"}, 0.25),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"date": "Wed, 21 Oct 2026 07:28:00 GMT", "retry_after": "Wed, 21 Oct 2026 07:28:30 GMT"}, 30),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
async def test_the_wish_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    with pytest.raises(ModelBusyError) as caught:
        await failed(AnthropicProvider, anthropic_error(429, "rate_limit_error", **headers))
    assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("overloaded_error", ModelBusyError),
        ("rate_limit_error", ModelBusyError),
        ("api_error", ModelUnreachableError),
        ("invalid_request_error", ModelRejectedError),
        ("authentication_error", ModelKeyError),
    ],
)
async def test_an_error_in_mid_stream_comes_after_the_text_before_it(kind: str, error: type[Exception]) -> None:
    broken = anthropic_event("error", error={"type": kind, "message": "Sorry."})
    seen: list[ModelEvent] = []
    async with connected(AnthropicProvider, Answer([anthropic_start(), *anthropic_text("So far"), broken])) as (
        server,
        provider,
    ):
        with pytest.raises(error) as caught:
            await read(provider, seen=seen)
    assert seen == [Counted(Usage(25, 1)), TextDelta("So far")]
    assert type(caught.value) is error
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "junk",
    [
        b"event: content_block_delta\ndata: {broken\n\n",
        b"event: content_block_delta\ndata: [1, 2]\n\n",
        b"event: content_block_delta\ndata: {}\n\n",
        b"event: content_block_delta\ndata: \xff\xfe\n\n",
        b'event: message_delta\ndata: {"type": "message_delta", "usage": "none"}\n\n',
    ],
)
async def test_unreadable_events_are_the_servers_fault(junk: bytes) -> None:
    with pytest.raises(ModelUnreachableError, match="unreadable"):
        await answered(anthropic_start(), junk, *anthropic_end())


async def test_a_harmless_wording_of_the_provider_is_kept_for_the_operator() -> None:
    with pytest.raises(ModelRejectedError, match="max_tokens: 9 is too many"):
        await failed(AnthropicProvider, anthropic_error(400, "invalid_request_error", "max_tokens: 9 is too many"))
