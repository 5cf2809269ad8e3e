"""How an answer leaves: its bytes, and the end of a connection on which more was sent than anybody will read."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from starlette.types import Receive, Send

from memory.service.incoming import GoneError
from memory.service.wire import MOST_BODY_BYTES

JSON = (b"content-type", b"application/json")
LINES = (b"content-type", b"application/x-ndjson")
CLOSE = (b"connection", b"close")
LINGER_S = 1.0
LINGER_BYTES = 4 * MOST_BODY_BYTES

Header = tuple[bytes, bytes]


async def send_object(send: Send, status: int, content: bytes, headers: Sequence[Header] = ()) -> None:
    await _start(send, status, [JSON, (b"content-length", b"%d" % len(content)), *headers])
    await send({"type": "http.response.body", "body": content})


async def send_last(send: Send, receive: Receive, status: int, content: bytes, headers: Sequence[Header] = ()) -> None:
    """Answer before the body was read, and close.

    What is still sent is thrown away for a moment: a connection that is closed over unread bytes is reset, and the
    answer would be lost on the way (RFC 9112, section 9.6).
    """
    await _start(send, status, [JSON, (b"content-length", b"%d" % len(content)), CLOSE, *headers])
    await send({"type": "http.response.body", "body": content, "more_body": True})
    await _linger(receive)
    await send({"type": "http.response.body", "body": b""})


async def send_lines(send: Send, receive: Receive, lines: AsyncIterator[bytes]) -> None:
    """Raises ``GoneError`` once nobody hears them any more, which a server tells only those who ask."""
    await _start(send, 200, [LINES])
    async for each in lines:
        if await _is_gone(receive):
            raise GoneError
        await send({"type": "http.response.body", "body": each, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _start(send: Send, status: int, headers: Sequence[Header]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _is_gone(receive: Receive) -> bool:
    """Without waiting for anything. The body was read, so what may still be heard is the end."""
    try:
        async with asyncio.timeout(0):
            return (await receive())["type"] == "http.disconnect"
    except TimeoutError:
        return False


async def _linger(receive: Receive) -> None:
    thrown_away, is_over = 0, False
    try:
        async with asyncio.timeout(LINGER_S):
            while not is_over and thrown_away < LINGER_BYTES:
                message = await receive()
                thrown_away += len(message.get("body", b""))
                is_over = not message.get("more_body", False)
    except TimeoutError:
        return
