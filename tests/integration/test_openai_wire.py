"""The OpenAI adapter against servers that speak Chat Completions over a real socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Turn, Usage
from app.agents.providers.openai import OpenAIProvider
from app.errors import (
    ModelRejectedError,
)
from tests.model_servers import (
    KEY,
    REQUEST,
    Answer,
    Ending,
    connected,
    error_answer,
    made,
    openai_chunk,
    openai_end,
    openai_error,
    openai_text,
    read,
    sse,
    text_of,
)


async def answered(*chunks: bytes, ending: Ending = Ending.CLOSE) -> list[ModelEvent]:
    async with connected(OpenAIProvider, Answer(chunks, ending=ending)) as (_, provider):
        return await read(provider)


async def asked(request: ModelRequest) -> dict[str, object]:
    async with connected(OpenAIProvider, Answer(whole("Hi"))) as (server, provider):
        await read(provider, request)
        return server.calls[0].body


def whole(*pieces: str) -> list[bytes]:
    return [*openai_text(*pieces), *openai_end()]


async def test_text_comes_in_order_and_is_followed_by_reason_and_usage() -> None:
    usage = {"prompt_tokens": 25, "completion_tokens": 15, "prompt_tokens_details": {"cached_tokens": 20}}
    events = await answered(*openai_text("Fine", ", thanks."), *openai_end("stop", usage))
    assert events == [
        TextDelta("Fine"),
        TextDelta(", thanks."),
        Counted(Usage(5, 15, cache_read_tokens=20)),
        Completed(StopReason.END, Usage(5, 15, cache_read_tokens=20)),
    ]


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, 2)),
        ({"prompt_tokens": None, "completion_tokens": None}, Usage()),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 4},
            },
            Usage(2, 2, 3, 4),
        ),
    ],
)
async def test_usage_is_read_as_far_as_the_server_reports_it(counts: Mapping[str, object], usage: Usage) -> None:
    assert (await answered(*openai_text("Hi"), *openai_end("stop", counts)))[-1] == Completed(StopReason.END, usage)


async def test_a_server_that_reports_no_usage_costs_nothing() -> None:
    events = await answered(*openai_text("Hi"), openai_chunk({}, "stop"))
    assert events == [TextDelta("Hi"), Completed(StopReason.END, Usage())]


async def test_comments_missing_fields_and_empty_deltas_are_passed_over() -> None:
    events = await answered(
        b": waiting in the queue\n\n",
        sse({"choices": [], "prompt_filter_results": []}),
        sse({"id": "1"}),
        openai_chunk(None),
        openai_chunk({"content": None, "reasoning_content": "Hm."}),
        *openai_text("Yes."),
        openai_chunk(None, "stop"),
        sse("[DONE]"),
    )
    assert events == [TextDelta("Yes."), Completed(StopReason.END, Usage())]


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("stop", StopReason.END),
        ("tool_calls", StopReason.END),
        ("eos", StopReason.END),
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.REFUSAL),
    ],
)
async def test_every_finish_reason_has_its_meaning(wire: str, reason: StopReason) -> None:
    events = await answered(*openai_text("So"), *openai_end(wire))
    assert (text_of(events), events[-1]) == ("So", Completed(reason, Usage(25, 15)))


async def test_the_words_of_a_refusal_are_shown() -> None:
    events = await answered(
        openai_chunk({"refusal": "I cannot"}), openai_chunk({"refusal": " do that."}), *openai_end()
    )
    assert text_of(events) == "I cannot do that."
    assert events[-1] == Completed(StopReason.REFUSAL, Usage(25, 15))


async def test_the_request_has_one_system_message_and_the_older_name_of_the_limit() -> None:
    assert await asked(REQUEST) == {
        "model": "maker/model-1",
        "messages": [
            {"role": "system", "content": "You are a bot.\n\nBe brief."},
            {"role": "user", "content": "Hello?"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "How is the weather?"},
        ],
        "max_tokens": 321,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_an_empty_system_prompt_is_left_out() -> None:
    body = await asked(ModelRequest("m", ("", " "), (Turn("user", "Hi"),), 9))
    assert body["messages"] == [{"role": "user", "content": "Hi"}]


async def test_effort_is_sent_only_when_it_is_set() -> None:
    assert (await asked(replace(REQUEST, effort="low")))["reasoning_effort"] == "low"


async def test_the_key_goes_as_a_bearer_token() -> None:
    async with connected(OpenAIProvider, Answer(whole("Hi"))) as (server, provider):
        await read(provider)
    call = server.calls[0]
    assert call.path == "/base/chat/completions"
    assert call.headers["Authorization"] == f"Bearer {KEY}"
    assert not {"OpenAI-Organization", "OpenAI-Project"} & set(call.headers)


async def test_a_server_without_a_key_gets_no_credentials() -> None:
    async with connected(OpenAIProvider, Answer(whole("Hi")), api_key=None) as (server, provider):
        events = await read(provider)
    assert text_of(events) == "Hi"
    assert "Authorization" not in server.calls[0].headers


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com/v1", "https://eu.api.openai.com/v1"])
async def test_openai_itself_is_told_the_limit_by_its_newer_name(base_url: str | None) -> None:
    provider = await made(OpenAIProvider, base_url)
    assert provider.limit_name == "max_completion_tokens"
    await provider.aclose()


@pytest.mark.parametrize(
    "refusal",
    [
        openai_error(400, "invalid_request_error", message="Unknown parameter: 'stream_options'."),
        error_answer(422, {"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]}),
    ],
)
async def test_a_server_that_cannot_report_usage_is_asked_without_it_and_remembered(refusal: Answer) -> None:
    hello = Answer([*openai_text("Hi"), openai_chunk({}, "stop"), sse("[DONE]")])
    async with connected(OpenAIProvider, refusal, hello) as (server, provider):
        assert text_of(await read(provider)) == "Hi"
        assert text_of(await read(provider)) == "Hi"
    assert ["stream_options" in call.body for call in server.calls] == [True, False, False]


async def test_calls_side_by_side_all_recover_from_that_refusal() -> None:
    said = openai_error(400, "invalid_request_error", message="Unknown parameter: 'stream_options'.")
    refusal = replace(said, after_calls=2)
    hello = Answer([*openai_text("Hi"), openai_chunk({}, "stop"), sse("[DONE]")])
    async with connected(OpenAIProvider, refusal, refusal, hello) as (server, provider):
        answers = await asyncio.gather(read(provider), read(provider))
    assert [text_of(events) for events in answers] == ["Hi", "Hi"]
    assert len(server.calls) == 4


async def test_a_server_that_refuses_twice_is_not_asked_a_third_time() -> None:
    refusal = openai_error(400, "invalid_request_error", message="stream_options? No.")
    async with connected(OpenAIProvider, refusal) as (server, provider):
        with pytest.raises(ModelRejectedError):
            await read(provider)
        assert len(server.calls) == 2
