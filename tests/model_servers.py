"""A model provider on this machine: replays prepared HTTP answers over a real socket and keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from aiohttp import web

from app.agents.providers.base import ModelEvent, ModelProvider, ModelRequest, TextDelta, Turn

KEY = "sk-secret-0123456789abcdef"
REQUEST = ModelRequest(
    model="maker/model-1",
    system=("You are a bot.", "Be brief."),
    messages=(Turn("user", "Hello?"), Turn("assistant", "Hello."), Turn("user", "How is the weather?")),
    max_output_tokens=321,
)


class Ending(StrEnum):
    """What the server does after the last chunk."""

    CLOSE = "close"
    DROP = "drop"
    """Cuts the connection in the middle of the body."""
    HANG = "hang"
    """Sends nothing more and keeps the connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. Each chunk is written to the socket by itself."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    ending: Ending = Ending.CLOSE
    silence_s: float = 0
    """Waited between chunks."""
    after_calls: int = 0
    """Answer only once the server has seen that many calls, so that calls are surely side by side."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request the server took."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, object]
    raw: bytes
    """The body as it came."""


@dataclass(slots=True)
class ModelServer:
    """Gives ``answers`` in order, the last one again and again."""

    base_url: str = ""
    answers: list[Answer] = field(default_factory=list[Answer])
    calls: list[Call] = field(default_factory=list[Call])
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(Call(request.path, request.headers, await request.json(), await request.read()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        while len(self.calls) < answer.after_calls:
            await asyncio.sleep(0)
        response = web.StreamResponse(status=answer.status, headers=answer.headers)
        try:
            await response.prepare(request)
            await self._send(request, response, answer)
        except (asyncio.CancelledError, ConnectionError):
            self.disconnected.set()
            raise
        return response

    async def _send(self, request: web.Request, response: web.StreamResponse, answer: Answer) -> None:
        for chunk in answer.chunks:
            await response.write(chunk)
            await asyncio.sleep(answer.silence_s)
        if answer.ending is Ending.DROP and request.transport is not None:
            request.transport.abort()
        if answer.ending is Ending.HANG:
            await asyncio.Event().wait()


@asynccontextmanager
async def model_server(*answers: Answer) -> AsyncGenerator[ModelServer, None]:
    server = ModelServer(answers=list(answers))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        server.base_url = f"http://{host}:{port}"
        yield server
    finally:
        await runner.cleanup()


P_co = TypeVar("P_co", bound=ModelProvider, covariant=True)


class MakeProvider(Protocol[P_co]):
    """An adapter's class."""

    def __call__(
        self, name: str, *, base_url: str | None, api_key: str | None, connect_s: float, idle_s: float
    ) -> P_co: ...


async def made(
    make: MakeProvider[P_co],
    base_url: str | None,
    *,
    api_key: str | None = KEY,
    connect_s: float = 2,
    idle_s: float = 5,
) -> P_co:
    """A provider named ``vendor``, made in a thread, as the catalogue does it: making one reads files."""
    return await asyncio.to_thread(
        make, "vendor", base_url=base_url, api_key=api_key, connect_s=connect_s, idle_s=idle_s
    )


@asynccontextmanager
async def connected(
    make: MakeProvider[P_co], *answers: Answer, api_key: str | None = KEY, idle_s: float = 5
) -> AsyncGenerator[tuple[ModelServer, P_co], None]:
    """A provider named ``vendor`` and the server it calls, below the path ``/base``; bounded to ten seconds."""
    async with asyncio.timeout(10), model_server(*answers) as server:
        base_url = f"{server.base_url}/base"
        provider = await made(make, base_url, api_key=api_key, idle_s=idle_s)
        try:
            yield server, provider
        finally:
            await provider.aclose()


async def failed(make: MakeProvider[ModelProvider], answer: Answer, request: ModelRequest = REQUEST) -> None:
    """Read a call to its end, which is meant to be an error."""
    async with connected(make, answer) as (_, provider):
        await read(provider, request)


def error_answer(status: int, body: object, **headers: str) -> Answer:
    """An error in JSON; ``retry_after_ms="5"`` becomes the header ``retry-after-ms: 5``."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer((json.dumps(body).encode(),), status, {"Content-Type": "application/json", **named})


def anthropic_error(status: int, kind: str, message: str = "No.", **headers: str) -> Answer:
    return error_answer(status, {"type": "error", "error": {"type": kind, "message": message}}, **headers)


def openai_error(status: int, kind: str, code: str | None = None, message: str = "No.", **headers: str) -> Answer:
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return error_answer(status, body, **headers)


def sse(data: Mapping[str, object] | str, event: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"{f'event: {event}' + chr(10) if event else ''}data: {text}\n\n".encode()


def anthropic_event(kind: str, **fields: object) -> bytes:
    return sse({"type": kind, **fields}, event=kind)


def anthropic_start(**usage: int) -> bytes:
    message: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "maker/model-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 25, "output_tokens": 1, **usage},
    }
    return anthropic_event("message_start", message=message)


def anthropic_text(*pieces: str) -> list[bytes]:
    block = {"type": "text", "text": ""}
    return [
        anthropic_event("content_block_start", index=0, content_block=block),
        anthropic_event("ping"),
        *(
            anthropic_event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
            for piece in pieces
        ),
        anthropic_event("content_block_stop", index=0),
    ]


def anthropic_end(stop_reason: str = "end_turn", output_tokens: int = 15) -> list[bytes]:
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        anthropic_event("message_delta", delta=delta, usage={"output_tokens": output_tokens}),
        anthropic_event("message_stop"),
    ]


def openai_chunk(delta: Mapping[str, object] | None, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return sse(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": "maker/model-1",
            "choices": [choice],
        }
    )


def openai_text(*pieces: str) -> list[bytes]:
    return [openai_chunk({"role": "assistant", "content": ""}), *(openai_chunk({"content": p}) for p in pieces)]


def openai_end(finish_reason: str = "stop", usage: Mapping[str, object] | None = None) -> list[bytes]:
    counts = usage or {"prompt_tokens": 25, "completion_tokens": 15, "total_tokens": 40}
    tail: dict[str, object] = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "maker/model-1",
        "choices": [],
        "usage": counts,
    }
    return [openai_chunk({}, finish_reason), sse(tail), sse("[DONE]")]


def text_of(events: Sequence[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def read(
    provider: ModelProvider, request: ModelRequest = REQUEST, seen: list[ModelEvent] | None = None
) -> list[ModelEvent]:
    """All events of one call; ``seen`` has those before an error, too."""
    events = [] if seen is None else seen
    async for event in provider.stream(request):
        events.append(event)
    return events
