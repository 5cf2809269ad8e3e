"""A memory service on this machine that follows a script: good, slow, broken, malformed and half-finished answers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from memory.store import RankerName
from memory.stores.remote import RemoteStore
from memory.stores.remote_calls import Patience, Service
from tests.memory_records import EPOCH

TOKEN = "a-token-nobody-guesses"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    route: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Step = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""What becomes of one request; the connection is kept unless the step closes it."""


@dataclass(slots=True)
class ScriptedService:
    """Takes a step for each request, the last one for ever."""

    steps: Sequence[Step]
    base_url: str = ""
    asked: list[Asked] = field(default_factory=list[Asked])
    connections: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while nobody is connected."""
    _open: int = 0

    def play(self, *steps: Step) -> None:
        self.steps = steps

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open += 1
        self.idle.clear()
        try:
            while not writer.is_closing():
                self.asked.append(await _request(reader))
                step, *rest = self.steps
                self.steps = rest or [step]
                await step(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            """The client has gone."""
        finally:
            writer.close()
            self._open -= 1
            if not self._open:
                self.idle.set()


async def _request(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers["content-length"]))
    return Asked(first.split(" ")[1], headers, cast("dict[str, Any]", json.loads(body)))


def answer(value: object, status: int = 200) -> Step:
    return raw(json.dumps(value).encode(), status)


def raw(body: bytes, status: int = 200, *, declared: int | None = None) -> Step:
    """``declared`` bytes are announced; the connection ends when that is not what comes."""

    async def step(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = len(body) if declared is None else declared
        writer.write(f"HTTP/1.1 {status} Said\r\nContent-Length: {size}\r\n\r\n".encode() + body)
        await writer.drain()
        if size != len(body):
            writer.close()

    return step


def refusal(status: int, reason: str = "no") -> Step:
    return answer({"error": reason}, status)


def streamed(*parts: bytes) -> Step:
    """A body in parts, its length unknown before."""

    async def step(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 Said\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in parts:
            writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return step


async def dropped(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The request was taken, and the connection ends without an answer."""
    writer.close()


async def silence(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """No answer for as long as the client waits."""
    await reader.read()


@dataclass(slots=True)
class HandClock:
    """Seconds that pass when a test says so."""

    at_s: float = 0.0

    def __call__(self) -> float:
        return self.at_s


@dataclass(frozen=True, slots=True)
class Scripted:
    """A store, the service it asks, and the clock of its breaker."""

    store: RemoteStore
    service: ScriptedService
    clock: HandClock

    @property
    def last(self) -> Asked:
        return self.service.asked[-1]

    @property
    def routes(self) -> list[str]:
        return [each.route for each in self.service.asked]


PATIENT = Patience(call_s=20, first_try_s=10, probe_s=20, thorough_s=20)
"""Long enough for any machine; what is to be waited out says so itself."""


@asynccontextmanager
async def scripted(
    *steps: Step, cap: int | None = None, ranker: RankerName = "relevance", patience: Patience = PATIENT
) -> AsyncGenerator[Scripted]:
    service = ScriptedService(steps or [answer({})])
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    service.base_url = f"http://{host}:{port}/base"
    clock = HandClock()
    calls = Service(f"{service.base_url}//", TOKEN, patience=patience, monotonic=clock)
    store = RemoteStore(calls, ranker=ranker, now=lambda: EPOCH, cap=cap)
    try:
        yield Scripted(store, service, clock)
    finally:
        await store.aclose()
        server.close()
        await server.wait_closed()
        if service.connections:
            await asyncio.wait_for(service.idle.wait(), 5)
