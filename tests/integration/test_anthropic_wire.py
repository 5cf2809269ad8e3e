"""The Anthropic adapter against a server that speaks the Messages API over a real socket."""

from dataclasses import replace

import pytest

from app.agents.providers.anthropic import AnthropicProvider
from app.agents.providers.base import Completed, Counted, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from tests.model_servers import (
    KEY,
    REQUEST,
    Answer,
    Ending,
    anthropic_end,
    anthropic_event,
    anthropic_start,
    anthropic_text,
    connected,
    read,
    sse,
    text_of,
)

EPHEMERAL = {"type": "ephemeral"}


async def answered(*chunks: bytes, ending: Ending = Ending.CLOSE, idle_s: float = 5) -> list[ModelEvent]:
    async with connected(AnthropicProvider, Answer(chunks, ending=ending), idle_s=idle_s) as (_, provider):
        return await read(provider)


async def asked(request: ModelRequest) -> dict[str, object]:
    async with connected(AnthropicProvider, Answer([anthropic_start(), *anthropic_end()])) as (server, provider):
        await read(provider, request)
        return server.calls[0].body


def whole(*pieces: str) -> list[bytes]:
    return [anthropic_start(), *anthropic_text(*pieces), *anthropic_end()]


async def test_text_comes_in_order_and_is_followed_by_reason_and_usage() -> None:
    start = anthropic_start(cache_read_input_tokens=7, cache_creation_input_tokens=3)
    events = await answered(start, *anthropic_text("Fine", ", thanks."), *anthropic_end())
    assert events == [
        Counted(Usage(25, 1, cache_read_tokens=7, cache_write_tokens=3)),
        TextDelta("Fine"),
        TextDelta(", thanks."),
        Counted(Usage(25, 15, cache_read_tokens=7, cache_write_tokens=3)),
        Completed(StopReason.END, Usage(25, 15, cache_read_tokens=7, cache_write_tokens=3)),
    ]


async def test_counts_in_the_last_delta_replace_those_of_the_start() -> None:
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    usage = {"input_tokens": 30, "output_tokens": 2, "cache_read_input_tokens": 4}
    end = [anthropic_event("message_delta", delta=delta, usage=usage), anthropic_event("message_stop")]
    events = await answered(anthropic_start(), *end)
    assert events[-1] == Completed(StopReason.END, Usage(30, 2, cache_read_tokens=4))


async def test_events_of_unknown_kinds_and_thinking_are_passed_over() -> None:
    thinking = {"type": "thinking_delta", "thinking": "Hm."}
    events = await answered(
        anthropic_start(),
        anthropic_event("content_block_delta", index=0, delta=thinking),
        anthropic_event("weather_report", sun=True),
        sse(": only a comment"),
        *anthropic_text("Yes."),
        *anthropic_end(),
    )
    assert text_of(events) == "Yes."


@pytest.mark.parametrize(
    ("wire", "reason"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("tool_use", StopReason.END),
        ("something_new", StopReason.END),
        ("max_tokens", StopReason.LENGTH),
        ("model_context_window_exceeded", StopReason.LENGTH),
        ("pause_turn", StopReason.LENGTH),
        ("refusal", StopReason.REFUSAL),
    ],
)
async def test_every_stop_reason_has_its_meaning(wire: str, reason: StopReason) -> None:
    events = await answered(anthropic_start(), *anthropic_text("So"), *anthropic_end(wire))
    assert (text_of(events), events[-1]) == ("So", Completed(reason, Usage(25, 15)))


async def test_the_request_is_cached_to_the_end_of_system_and_conversation() -> None:
    assert await asked(REQUEST) == {
        "model": "maker/model-1",
        "system": [
            {"type": "text", "text": "You are a bot."},
            {"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL},
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": "How is the weather?", "cache_control": EPHEMERAL}],
            },
        ],
        "max_tokens": 321,
        "stream": True,
    }


@pytest.mark.parametrize("system", [(), ("", " \n")])
async def test_an_empty_system_prompt_is_left_out(system: tuple[str, ...]) -> None:
    assert "system" not in await asked(replace(REQUEST, system=system))


async def test_blank_parts_do_not_take_the_mark_of_the_last_part() -> None:
    body = await asked(replace(REQUEST, system=("Be brief.", "")))
    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}]


async def test_effort_is_sent_only_when_it_is_set() -> None:
    body = await asked(replace(REQUEST, effort="high"))
    assert body["output_config"] == {"effort": "high"}


async def test_the_key_goes_in_the_documented_header_and_nowhere_else() -> None:
    async with connected(AnthropicProvider, Answer(whole("Hi"))) as (server, provider):
        await read(provider)
    call = server.calls[0]
    assert call.path == "/base/v1/messages"
    assert call.headers["x-api-key"] == KEY
    assert call.headers["anthropic-version"]
    assert "Authorization" not in call.headers


async def test_a_server_without_a_key_gets_no_credentials() -> None:
    async with connected(AnthropicProvider, Answer(whole("Hi")), api_key=None) as (server, provider):
        events = await read(provider)
    assert text_of(events) == "Hi"
    assert not {"authorization", "x-api-key"} & {name.lower() for name in server.calls[0].headers}


async def test_pings_keep_a_slow_answer_alive() -> None:
    chunks = [anthropic_start(), *[anthropic_event("ping")] * 9, *anthropic_text("Late"), *anthropic_end()]
    async with connected(AnthropicProvider, Answer(chunks, silence_s=0.1), idle_s=1.0) as (_, provider):
        events = await read(provider)
    assert text_of(events) == "Late"
