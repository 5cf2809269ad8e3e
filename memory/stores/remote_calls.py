"""Requests to the memory service: one pool of connections, one deadline for each request, every failure mapped once."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from memory.service.wire import KEY_HEADER, MOST_BODY_BYTES, TRACE_HEADER, read_object
from memory.stores.remote_faults import ServiceFaultError, ServiceSilentError, fault_of
from memory.stores.remote_guard import Guard
from memory.stores.remote_trace import traceparent
from memory.text import storable

CONNECTIONS = 64
IDLE_CONNECTIONS = 16
IDLE_S = 60.0
"""Shorter than the service keeps one, and than network address translators remember it."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for an answer."""

    call_s: float = 5.0
    """Section 19. From the first byte sent to the last one read, a second try included."""
    first_try_s: float = 3.0
    """Of a write: what is left is for the second try."""
    probe_s: float = 1.0
    """What a person's message waits at most to find out whether a silent service is back."""
    thorough_s: float = 60.0
    """For what may have to look into every scope."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a route, and what is asked."""

    route: str
    body: Mapping[str, object]
    key: str | None = None
    """Its idempotency key: with one it is applied once, however often it arrives."""
    is_read: bool = False
    """Changes nothing that a second try would change again."""
    is_thorough: bool = False
    """May have to look into every scope."""


DEFAULT_PATIENCE = Patience()


class Service:
    """The memory service at ``base_url``. Reached directly, never through a proxy; redirects are not followed."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        patience: Patience = DEFAULT_PATIENCE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Reads the machine's certificates, so it is made in a thread. ``transport`` takes the place of the network."""
        self._base_url = base_url.rstrip("/")
        self._urls: dict[str, httpx2.URL] = {}
        self._headers = [
            (b"Authorization", f"Bearer {token}".encode()),
            (b"Content-Type", b"application/json"),
            (b"Accept-Encoding", b"identity"),
        ]
        self._client = httpx2.AsyncClient(
            transport=transport,
            verify=_trusted(base_url),
            timeout=None,  # each call has one deadline as a whole
            limits=httpx2.Limits(
                max_connections=CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS, keepalive_expiry=IDLE_S
            ),
            trust_env=False,
        )
        self._guard = Guard(monotonic)
        self._patience = patience

    async def ask(self, call: Call) -> Mapping[str, Any]:
        """The JSON object that answers; an empty one for a success that is none.

        Raises ``StoreUnavailableError``'s tree, and ``ValueError`` for what the caller must not ask.
        """
        content = content_of(call.body)
        with self._guard.watching() as is_probe:
            async with _deadline(self._within_s(call, is_probe=is_probe)):
                response = await self._sent(call, content)
            answer = read_object(response.content)
            if not response.is_success:
                raise fault_of(call.route, response.status_code, answer)
            return answer

    async def lines(self, call: Call, most: int) -> list[bytes]:
        """The first ``most`` lines of an answer that is streamed, each part of it within the deadline.

        Fewer when it ends before. Raises as ``ask`` does.
        """
        request = self._request(call, content_of(call.body))
        with self._guard.watching():
            within_s = self._within_s(call, is_probe=False)
            async with _deadline(within_s) as deadline:
                response = await self._client.send(request, stream=True)
                async with aclosing(response):
                    if not response.is_success:
                        raise fault_of(call.route, response.status_code, read_object(await response.aread()))
                    return await _lines(response, most, lambda: deadline.reschedule(_now() + within_s))

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _sent(self, call: Call, content: bytes) -> httpx2.Response:
        """Sent a second time when the first one's fate is unknown and twice is as good as once."""
        if call.key is None and not call.is_read:
            return await self._client.send(self._request(call, content))
        try:
            async with asyncio.timeout(None if call.is_read else self._patience.first_try_s):
                return await self._client.send(self._request(call, content))
        except httpx2.ConnectError:
            raise
        except (TimeoutError, httpx2.TransportError):
            return await self._client.send(self._request(call, content))

    def _within_s(self, call: Call, *, is_probe: bool) -> float:
        if call.is_thorough:
            return self._patience.thorough_s
        return self._patience.probe_s if is_probe and call.is_read else self._patience.call_s

    def _request(self, call: Call, content: bytes) -> httpx2.Request:
        headers = [*self._headers, (TRACE_HEADER.encode(), traceparent().encode())]
        if call.key is not None:
            headers.append((KEY_HEADER.encode(), call.key.encode()))
        return httpx2.Request("POST", self._url(call.route), headers=headers, content=content)

    def _url(self, route: str) -> httpx2.URL:
        """Read once: that takes longer than all the rest of a request's making."""
        if route not in self._urls:
            self._urls[route] = httpx2.URL(f"{self._base_url}{route}")
        return self._urls[route]


def content_of(body: Mapping[str, object]) -> bytes:
    """``body`` as the service reads it, lone surrogates as every store keeps them.

    Raises ``ValueError`` for more than one request may carry.
    """
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    content = (text if text.isascii() else storable(text)).encode()
    if len(content) > MOST_BODY_BYTES:
        raise ValueError(f"a request to the memory service may have at most {MOST_BODY_BYTES} bytes")
    return content


@asynccontextmanager
async def _deadline(within_s: float) -> AsyncGenerator[asyncio.Timeout]:
    try:
        async with asyncio.timeout(within_s) as deadline:
            yield deadline
    except TimeoutError as exc:
        raise ServiceSilentError(f"the memory service did not answer within {within_s:g} s") from exc
    except httpx2.HTTPError as exc:
        raise ServiceFaultError(f"the memory service cannot be reached: {type(exc).__name__}") from exc


async def _lines(response: httpx2.Response, most: int, on_part: Callable[[], None]) -> list[bytes]:
    """Split at newlines only: a record's text may hold any other character that some call the end of a line."""
    whole: list[bytes] = []
    rest = b""
    async for part in response.aiter_bytes():
        on_part()
        *ended, rest = (rest + part).split(b"\n")
        whole.extend(ended)
        if len(whole) >= most:
            break
    return whole[:most]


def _trusted(base_url: str) -> ssl.SSLContext:
    """Whom the machine trusts, or nobody for an address that needs no certificates."""
    is_secure = base_url.lower().startswith("https:")
    return httpx2.create_ssl_context() if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _now() -> float:
    return asyncio.get_running_loop().time()
