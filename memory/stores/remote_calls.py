"""Requests to the memory service: one pool of connections, one deadline for each request, every failure mapped once."""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from pydantic_core import PydanticSerializationError, to_json

from memory.service.wire import KEY_HEADER, MOST_BODY_BYTES, TRACE_HEADER, read_object
from memory.store import StoreUnavailableError
from memory.stores.remote_faults import ServiceFaultError, ServiceSilentError, fault_of
from memory.stores.remote_guard import Guard
from memory.stores.remote_trace import traceparent
from memory.text import storable

CONNECTIONS = 64
IDLE_S = 60.0
"""Shorter than the service keeps one, and than network address translators remember it."""
MOST_ANSWER_BYTES = 16 * 1024 * 1024
"""More than the service ever has to say at once; what answers at a wrong address may never end."""
MOST_LINE_BYTES = MOST_BODY_BYTES
"""Of an export: each record came in a request."""


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
_CLOSED = "the memory store is closed"
_TOO_LARGE = "the memory service's answer is too large to be one"


class Service:
    """The memory service at ``base_url``. Reached directly, never through a proxy; redirects are not followed."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        trust: ssl.SSLContext | None = None,
        patience: Patience = DEFAULT_PATIENCE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Belongs to the running loop. Without ``trust`` it trusts whom the machine trusts."""
        self._base_url = base_url.rstrip("/")
        self._session = _session(token, trust)
        self._guard = Guard(monotonic)
        self._patience = patience

    async def ask(self, call: Call) -> Mapping[str, Any]:
        """The JSON object that answers; an empty one for a success that is none.

        Raises ``StoreUnavailableError``'s tree, and ``ValueError`` for what the caller must not ask.
        """
        content = content_of(call.body)
        with self._guard.watching() as is_probe:
            async with _deadline(self._within_s(call, is_probe=is_probe)):
                status, body = await self._answered(call, content)
            answer = read_object(body)
            if not _is_success(status):
                raise fault_of(call.route, status, answer)
            return answer

    async def lines(self, call: Call, most: int) -> list[bytes]:
        """The first ``most`` lines of an answer that is streamed, each part of it within the deadline.

        Fewer when it ends before. Raises as ``ask`` does.
        """
        content = content_of(call.body)
        with self._guard.watching():
            within_s = self._within_s(call, is_probe=False)
            async with _deadline(within_s) as deadline, await self._sent(call, content) as response:
                if not _is_success(response.status):
                    raise fault_of(call.route, response.status, read_object(await _whole(response)))
                return await _lines(response, most, lambda: deadline.reschedule(_now() + within_s))

    async def aclose(self) -> None:
        """What is under way fails."""
        await self._session.close()

    async def _answered(self, call: Call, content: bytes) -> tuple[int, bytes]:
        """Sent a second time when the first one's fate is unknown and twice is as good as once."""
        if call.key is None and not call.is_read:
            return await self._answer(call, content)
        try:
            async with asyncio.timeout(None if call.is_read else self._patience.first_try_s):
                return await self._answer(call, content)
        except aiohttp.ClientConnectorError:
            raise
        except (TimeoutError, aiohttp.ClientError):
            return await self._answer(call, content)

    async def _answer(self, call: Call, content: bytes) -> tuple[int, bytes]:
        async with await self._sent(call, content) as response:
            return response.status, await _whole(response)

    async def _sent(self, call: Call, content: bytes) -> aiohttp.ClientResponse:
        """Sent once: of itself the session repeats only methods that are idempotent, and POST is none."""
        headers = {TRACE_HEADER: traceparent()}
        if call.key is not None:
            headers[KEY_HEADER] = call.key
        try:
            if self._session.closed:
                raise StoreUnavailableError(_CLOSED)
            return await self._session.post(
                f"{self._base_url}{call.route}", data=content, headers=headers, allow_redirects=False
            )
        except asyncio.CancelledError as exc:
            # A session that closes cancels what waits for a connection. That is nobody's task.
            if not self._session.closed or _is_cancelled():
                raise
            raise StoreUnavailableError(_CLOSED) from exc
        except ValueError as exc:
            if isinstance(exc, aiohttp.ClientError):
                raise
            raise StoreUnavailableError("the memory service's bearer token is none that a request can carry") from exc

    def _within_s(self, call: Call, *, is_probe: bool) -> float:
        if call.is_thorough:
            return self._patience.thorough_s
        return self._patience.probe_s if is_probe and call.is_read else self._patience.call_s


def content_of(body: Mapping[str, object]) -> bytes:
    """``body`` as the service reads it, lone surrogates as every store keeps them.

    Raises ``ValueError`` for more than one request may carry.
    """
    try:
        content = to_json(body)  # of a thousand numbers in a fraction of the time
    except PydanticSerializationError:
        content = storable(json.dumps(body, ensure_ascii=False, separators=(",", ":"))).encode()
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
    except aiohttp.ClientConnectorCertificateError as exc:
        raise ServiceFaultError(f"the memory service's certificate is not trusted{_why(exc)}") from exc
    except aiohttp.ClientError as exc:
        raise ServiceFaultError(f"the memory service cannot be reached: {type(exc).__name__}") from exc


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    parts: list[bytes] = []
    room = MOST_ANSWER_BYTES
    async for part in response.content.iter_any():
        parts.append(part)
        room -= len(part)
        if room < 0:
            raise ServiceFaultError(_TOO_LARGE)
    return b"".join(parts)


async def _lines(response: aiohttp.ClientResponse, most: int, on_part: Callable[[], None]) -> list[bytes]:
    """Split at newlines only: a record's text may hold any other character that some call the end of a line."""
    whole: list[bytes] = []
    rest = b""
    async for part in response.content.iter_any():
        on_part()
        *ended, rest = (rest + part).split(b"\n")
        whole.extend(ended)
        if len(whole) >= most:
            break
        if len(rest) > MOST_LINE_BYTES:
            raise ServiceFaultError(_TOO_LARGE)
    return whole[:most]


def _session(token: str, trust: ssl.SSLContext | None) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=CONNECTIONS, keepalive_timeout=IDLE_S, resolver=aiohttp.ThreadedResolver(), ssl=trust or True
        ),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
        },
        skip_auto_headers=("User-Agent", "Accept"),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),  # each call has one deadline as a whole
        auto_decompress=False,
        trust_env=False,
    )


def _why(fault: aiohttp.ClientConnectorCertificateError) -> str:
    """With what to do where nobody is known who could vouch for it; a wrong name or an old date tells by itself."""
    told = getattr(fault.certificate_error, "verify_message", "")
    return f" ({told}); memory.worker.ca_file names the authority" if told else ""


def _is_success(status: int) -> bool:
    return status // 100 == 2  # noqa: PLR2004 - RFC 9110, section 15.3


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _now() -> float:
    return asyncio.get_running_loop().time()
