"""How much, how often and how long: the limits in front of every route that programs call."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.clock import Clock

BODY_BYTES = 1_000_000
KEPT_BUCKETS = 10_000
SUBJECT = "switchboard.subject"
"""Where the scope carries whose token came with the request."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: ``burst`` requests at once, refilled by ``per_s`` a second."""

    burst: int
    per_s: float


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """The address's rate is wide, because a proxy makes one address of many callers; it only slows down guessing."""

    body_bytes: int = BODY_BYTES
    address: Rate = Rate(burst=200, per_s=50.0)
    subject: Rate = Rate(burst=60, per_s=10.0)
    command_s: float = 30.0
    turn_s: float = 900.0


class Buckets:
    """One token bucket for each key; of too many, those that waited longest are full again and forgotten."""

    def __init__(self, rate: Rate, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Take one token, giving 0; or, with none left, how long until there is one."""
        now_s = self._clock.monotonic()
        level, seen_s = self._levels.get(key, (float(self._rate.burst), now_s))
        level = min(float(self._rate.burst), level + (now_s - seen_s) * self._rate.per_s)
        is_free = level >= 1
        self._levels[key] = (level - 1 if is_free else level, now_s)
        self._levels.move_to_end(key)
        while len(self._levels) > KEPT_BUCKETS:
            self._levels.popitem(last=False)
        return 0.0 if is_free else (1 - level) / self._rate.per_s


class RateLimited:
    """429 with ``Retry-After`` beyond the rate of the token's subject or, before any token is known, of the address."""

    def __init__(self, app: ASGIApp, buckets: Buckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        wait_s = self._buckets.wait_s(str(scope.get(SUBJECT) or (client[0] if client else "")))
        if wait_s:
            seconds = str(int(wait_s) + 1)
            answer = problem(429, "too_many_requests", "Too many requests.", {"Retry-After": seconds})
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


class SizeLimited:
    """413 for a body above ``most_bytes``, by its announced length or, where that is missing or low, as it arrives."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        announced = Request(scope).headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self._most:
            await self._refuse(scope, receive, send)
            return
        body = bytearray()
        is_more = True
        while is_more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            if len(body) > self._most:
                await self._refuse(scope, receive, send)
                return
            is_more = message.get("more_body", False)
        await self._app(scope, _replayed(bytes(body), receive), send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem(413, "too_large", f"The body may have {self._most:,} bytes at most.")
        await answer(scope, receive, send)


class TimeLimited:
    """504 for an answer that has not begun after ``most_s``."""

    def __init__(self, app: ASGIApp, most_s: float) -> None:
        self._app = app
        self._most_s = most_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            async with asyncio.timeout(self._most_s):
                await self._app(scope, receive, watched)
        except TimeoutError:
            if has_begun:
                raise
            await problem(504, "timed_out", "This took too long.")(scope, receive, send)


def problem(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """What a program is told in place of an answer; never repeats what it sent."""
    return JSONResponse({"error": code, "message": message}, status_code=status, headers=headers)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A body that has been read, given out once more; after it whatever the server says next."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
