"""How much, how often and how long: the limits in front of every route that programs call."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.buckets import Buckets, Rate

BODY_BYTES = 1_000_000
ADDRESS_RATE = Rate(burst=200, per_s=50.0)
"""Wide, because a proxy makes one address of many callers; it only slows down guessing."""
SUBJECT_RATE = Rate(burst=60, per_s=10.0)
SUBJECT = "switchboard.subject"
"""Where the scope carries whose token came with the request."""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What a program may send and how long it is served."""

    body_bytes: int = BODY_BYTES
    address: Rate = ADDRESS_RATE
    subject: Rate = SUBJECT_RATE
    command_s: float = 30.0
    turn_s: float = 900.0


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
