"""The promises of the port ``ModelProvider``, kept by every adapter."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import pytest

from app.agents.providers.anthropic import AnthropicProvider
from app.agents.providers.base import (
    Completed,
    Counted,
    ModelEvent,
    ModelProvider,
    ModelRequest,
    StopReason,
    TextDelta,
    Turn,
    Usage,
)
from app.agents.providers.offline import OfflineProvider
from app.agents.providers.openai import OpenAIProvider
from app.errors import (
    ModelBusyError,
    ModelKeyError,
    ModelRejectedError,
    ModelUnreachableError,
    PromptTooLongError,
)
from tests.model_servers import (
    KEY,
    REQUEST,
    Answer,
    Ending,
    MakeProvider,
    anthropic_end,
    anthropic_error,
    anthropic_start,
    anthropic_text,
    connected,
    made,
    model_server,
    openai_end,
    openai_error,
    openai_text,
    read,
    text_of,
)

TEXT = "naïve ÷ 日本語 🙂"


class Streaming(ModelProvider, Protocol):
    """The port as the adapters keep it: the iterator is a generator, so it can be closed."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]: ...


@dataclass(frozen=True)
class Vendor:
    """How one vendor's server says what the contract is about."""

    make: MakeProvider[Streaming]
    begun: list[bytes]
    ended: Callable[[str], list[bytes]]
    length: str
    refusal: str
    error: Callable[[int, str, str], Answer]


VENDORS = {
    "anthropic": Vendor(
        AnthropicProvider,
        [anthropic_start(), *anthropic_text("naïve ÷ ", "日本語 🙂")],
        lambda reason: anthropic_end(reason or "end_turn"),
        "max_tokens",
        "refusal",
        lambda status, kind, message: anthropic_error(status, kind, message, retry_after="3"),
    ),
    "openai": Vendor(
        OpenAIProvider,
        openai_text("naïve ÷ ", "日本語 🙂"),
        lambda reason: openai_end(reason or "stop"),
        "length",
        "content_filter",
        lambda status, kind, message: openai_error(status, kind, message=message, retry_after="3"),
    ),
}

of_vendors = pytest.mark.parametrize("vendor", VENDORS.values(), ids=VENDORS)
of_all = pytest.mark.parametrize("name", [*VENDORS, "offline"])


@asynccontextmanager
async def answering(name: str) -> AsyncGenerator[Streaming, None]:
    if name == "offline":
        yield OfflineProvider(pause_s=0)
        return
    vendor = VENDORS[name]
    async with connected(vendor.make, Answer([*vendor.begun, *vendor.ended("")])) as (_, provider):
        yield provider


@of_all
async def test_text_comes_in_pieces_and_one_completion_comes_last(name: str) -> None:
    async with answering(name) as provider:
        events = await read(provider)
    *pieces, last = events
    assert len(pieces) > 1
    assert all(isinstance(piece, Counted) or (isinstance(piece, TextDelta) and piece.text) for piece in pieces)
    assert isinstance(last, Completed)
    assert last.stop_reason is StopReason.END
    assert last.usage.input_tokens > 0
    assert last.usage.output_tokens > 0


@of_all
async def test_a_count_on_the_way_is_never_more_than_the_last_one(name: str) -> None:
    async with answering(name) as provider:
        *events, last = await read(provider)
    assert isinstance(last, Completed)
    counts = [event.usage for event in events if isinstance(event, Counted)]
    assert counts
    for usage in counts:
        assert usage.input_tokens <= last.usage.input_tokens
        assert usage.output_tokens <= last.usage.output_tokens


@of_all
async def test_calls_side_by_side_do_not_disturb_each_other(name: str) -> None:
    async with answering(name) as provider:
        alone = text_of(await read(provider))
        together = await asyncio.gather(*(read(provider) for _ in range(3)))
    assert [text_of(events) for events in together] == [alone] * 3


@of_all
async def test_a_closed_call_says_nothing_more_and_the_provider_lives_on(name: str) -> None:
    async with answering(name) as provider:
        events = provider.stream(REQUEST)
        await anext(events)
        await events.aclose()
        await events.aclose()
        assert [event async for event in events] == []
        assert isinstance((await read(provider))[-1], Completed)


@of_all
async def test_closing_the_provider_twice_is_harmless(name: str) -> None:
    async with answering(name) as provider:
        assert await read(provider)
        await provider.aclose()
        await provider.aclose()


@of_vendors
async def test_a_closed_provider_is_unreachable_and_calls_nobody(vendor: Vendor) -> None:
    async with connected(vendor.make, Answer()) as (server, provider):
        await provider.aclose()
        with pytest.raises(ModelUnreachableError, match="vendor is closed"):
            await read(provider)
        assert server.calls == []


@of_vendors
async def test_letters_cut_in_the_middle_of_their_bytes_arrive_whole(vendor: Vendor) -> None:
    body = b"".join([*vendor.begun, *vendor.ended("")])
    chunks = [body[at : at + 5] for at in range(0, len(body), 5)]
    async with connected(vendor.make, Answer(chunks)) as (_, provider):
        assert text_of(await read(provider)) == TEXT


@of_vendors
async def test_a_cut_and_a_refused_answer_are_told_apart(vendor: Vendor) -> None:
    answers = [Answer([*vendor.begun, *vendor.ended(reason)]) for reason in (vendor.length, vendor.refusal)]
    async with connected(vendor.make, *answers) as (_, provider):
        ends = [(await read(provider))[-1] for _ in answers]
    assert [end.stop_reason for end in ends if isinstance(end, Completed)] == [StopReason.LENGTH, StopReason.REFUSAL]


@of_vendors
@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", ModelRejectedError),
        (401, "authentication_error", ModelKeyError),
        (403, "permission_error", ModelKeyError),
        (404, "not_found_error", ModelRejectedError),
        (413, "request_too_large", PromptTooLongError),
        (429, "rate_limit_error", ModelBusyError),
        (500, "api_error", ModelUnreachableError),
        (503, "overloaded_error", ModelBusyError),
    ],
)
async def test_a_refused_call_is_made_once_and_raises_what_to_do(
    vendor: Vendor, status: int, kind: str, error: type[Exception]
) -> None:
    async with connected(vendor.make, vendor.error(status, kind, "No.")) as (server, provider):
        with pytest.raises(error) as caught:
            await read(provider)
        assert len(server.calls) == 1
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None
    if isinstance(caught.value, ModelBusyError):
        assert caught.value.retry_after_s == 3


@of_vendors
async def test_neither_key_nor_prompt_appear_in_an_error(vendor: Vendor) -> None:
    secret = "The launch code of the rocket is nine nine four."
    request = replace(REQUEST, messages=(Turn("user", secret),))
    echoes = [f"Invalid text: {secret[4:40]}", f"Unknown key {KEY}", secret[:12], "Marker: rocket-77"]
    short = replace(REQUEST, messages=(Turn("user", "rocket-77"),))
    for message in echoes:
        answer = vendor.error(400, "invalid_request_error", message)
        async with connected(vendor.make, answer) as (_, provider):
            with pytest.raises(ModelRejectedError) as caught:
                await read(provider, short if "rocket-77" in message else request)
        assert str(caught.value) == "vendor answered with an error (HTTP 400, invalid_request_error)"


@of_vendors
@pytest.mark.parametrize("ending", [Ending.CLOSE, Ending.DROP])
async def test_a_stream_without_its_end_is_no_answer(vendor: Vendor, ending: Ending) -> None:
    seen: list[ModelEvent] = []
    async with connected(vendor.make, Answer(vendor.begun, ending=ending)) as (server, provider):
        with pytest.raises(ModelUnreachableError):
            await read(provider, seen=seen)
        assert len(server.calls) == 1
    assert text_of(seen) == TEXT


@of_vendors
@pytest.mark.parametrize("begins", [False, True])
async def test_silence_ends_the_call_at_both_sides(vendor: Vendor, *, begins: bool) -> None:
    answer = Answer(vendor.begun if begins else [], ending=Ending.HANG)
    async with connected(vendor.make, answer, idle_s=0.15) as (server, provider):
        with pytest.raises(ModelUnreachableError, match="fell silent"):
            await asyncio.wait_for(read(provider), 20)
        await server.disconnected.wait()
        assert len(server.calls) == 1


@of_vendors
async def test_closing_early_disconnects_from_the_server(vendor: Vendor) -> None:
    async with connected(vendor.make, Answer(vendor.begun, ending=Ending.HANG)) as (server, provider):
        events = provider.stream(REQUEST)
        first = await anext(events)
        assert isinstance(first, Counted) or first == TextDelta("naïve ÷ ")
        assert not server.disconnected.is_set()
        await events.aclose()
        await server.disconnected.wait()


@of_vendors
async def test_cancelling_the_reader_disconnects_from_the_server(vendor: Vendor) -> None:
    async with connected(vendor.make, Answer(vendor.begun, ending=Ending.HANG)) as (server, provider):
        begun = asyncio.Event()

        async def follow() -> None:
            async for _ in provider.stream(REQUEST):
                begun.set()

        following = asyncio.create_task(follow())
        await begun.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        await server.disconnected.wait()
        assert len(server.calls) == 1


@of_vendors
async def test_an_address_where_nobody_listens_is_unreachable(vendor: Vendor) -> None:
    async with model_server(Answer()) as server:
        base_url = server.base_url
    provider = await made(vendor.make, base_url)
    with pytest.raises(ModelUnreachableError, match="vendor could not be reached"):
        await read(provider)
    await provider.aclose()


@of_vendors
async def test_a_connection_that_never_comes_about_is_given_up(vendor: Vendor) -> None:
    """The server takes the connection and then leaves the client waiting for TLS."""
    gone = asyncio.Event()

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        gone.set()
        writer.close()

    async with asyncio.timeout(20), await asyncio.start_server(ignore, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        base_url = f"https://127.0.0.1:{port}"
        provider = await made(vendor.make, base_url, connect_s=0.05, idle_s=60)
        with pytest.raises(ModelUnreachableError, match="vendor could not be reached"):
            await read(provider)
        await gone.wait()
        await provider.aclose()


def test_usage_of_several_calls_adds_up() -> None:
    assert Usage(1, 2, 3, 4) + Usage(10, 20, 30, 40) == Usage(11, 22, 33, 44)
