"""Load on an HTTP server of this machine: requests made beforehand, over connections that are kept open."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from httptools import HttpResponseParser

from benchmarks.children import BenchmarkError
from memory.service.process import run

HOST = "127.0.0.1"
_OK = 200
_TOLD_BYTES = 200


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a number of requests, all of them answered with 200."""

    times_s: Sequence[float]
    """Of each, from the moment it was handed to the socket to its last byte."""
    took_s: float
    cpu_s: float
    """Of this process, which made the load."""
    body_bytes: int
    """Of all answers together."""

    @property
    def per_s(self) -> float:
        return len(self.times_s) / self.took_s


def post(path: str, body: bytes, headers: Sequence[tuple[str, str]] = ()) -> bytes:
    """A whole request."""
    told = [("Host", HOST), ("Content-Type", "application/json"), ("Content-Length", str(len(body))), *headers]
    head = "".join(f"{name}: {value}\r\n" for name, value in told)
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def loaded(port: int, requests: Iterator[bytes], count: int, connections: int, *, patience_s: float = 60.0) -> Loaded:
    """Send ``count`` of ``requests``, on each connection the next one as soon as the last is answered.

    One on each connection goes before and does not count. Raises ``BenchmarkError`` for any other answer than 200,
    for a connection that is lost, and when it takes longer than ``patience_s``.
    """
    first, counted = list(islice(requests, connections)), list(islice(requests, count))
    if len(counted) < count:
        raise BenchmarkError(f"only {len(counted)} of {count} requests were made beforehand")
    outcome: list[Loaded] = []
    run(_load(port, first, counted, outcome, patience_s))
    return outcome[0]


async def _load(
    port: int, first: Sequence[bytes], counted: Sequence[bytes], outcome: list[Loaded], patience_s: float
) -> None:
    loop = asyncio.get_running_loop()
    opened: list[_Connection] = []
    try:
        async with asyncio.timeout(patience_s):
            opened += [(await loop.create_connection(_Connection, HOST, port))[1] for _ in first]
            await _Round(first).over(opened)
            cpu_s, began_s = time.process_time(), time.perf_counter()
            counting = _Round(counted)
            await counting.over(opened)
            took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    except TimeoutError:
        raise BenchmarkError(f"{len(counted)} requests took longer than {patience_s:g} s") from None
    finally:
        for each in opened:
            each.close()
    outcome.append(Loaded(counting.times_s, took_s, cpu_s, counting.body_bytes))


class _Round:
    """Requests that are shared out among connections."""

    def __init__(self, requests: Sequence[bytes]) -> None:
        self._left = iter(requests)
        self._count = len(requests)
        self._done = asyncio.get_running_loop().create_future()
        self.times_s: list[float] = []
        self.body_bytes = 0

    async def over(self, connections: Sequence["_Connection"]) -> None:
        for each in connections:
            each.serve(self)
        await self._done

    def next(self) -> bytes | None:
        return next(self._left, None)

    def note(self, took_s: float, body_bytes: int) -> None:
        self.times_s.append(took_s)
        self.body_bytes += body_bytes
        if len(self.times_s) == self._count and not self._done.done():
            self._done.set_result(None)

    def fail(self, reason: str) -> None:
        if not self._done.done():
            self._done.set_exception(BenchmarkError(reason))


class _Connection(asyncio.Protocol):
    """One request under way at a time; also what its parser calls."""

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self._round: _Round | None = None
        self._sent_s = 0.0
        self._body = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - a stream's
        self._transport = transport

    def serve(self, requests: _Round) -> None:
        self._round = requests
        self._send()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        took_s = time.perf_counter() - self._sent_s
        status = self._parser.get_status_code()
        if self._round is None or status != _OK:
            self._fail(f"a request was answered with status {status}: {self._body[:_TOLD_BYTES].decode()}")
            return
        requests, body_bytes, self._body = self._round, len(self._body), b""
        requests.note(took_s, body_bytes)
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base class's signature
        self._fail("a connection was lost")

    def close(self) -> None:
        self._round = None
        self._transport.close()

    def _send(self) -> None:
        request = None if self._round is None else self._round.next()
        if request is not None:
            self._sent_s = time.perf_counter()
            self._transport.write(request)

    def _fail(self, reason: str) -> None:
        if self._round is not None:
            self._round.fail(reason)
