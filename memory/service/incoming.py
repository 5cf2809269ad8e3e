"""The body of one request, as it arrives."""

import asyncio

from starlette.types import Receive

from memory.service.fences import RefusedError
from memory.service.wire import MOST_BODY_BYTES


class GoneError(Exception):
    """Whoever asked has hung up."""


class Incoming:
    """A body that is read at most once, within ``deadline_s``; ``is_unread`` as long as something may still come."""

    __slots__ = ("_deadline_s", "is_unread", "receive")

    def __init__(self, receive: Receive, deadline_s: float, *, is_unread: bool) -> None:
        self.receive = receive
        self.is_unread = is_unread
        self._deadline_s = deadline_s

    async def content(self) -> bytes:
        """All of it. Raises ``RefusedError``: 408 when it is too slow, 413 when more comes than was declared."""
        try:
            async with asyncio.timeout(self._deadline_s):
                content, is_whole = await self._part()
                while not is_whole and len(content) <= MOST_BODY_BYTES:
                    more, is_whole = await self._part()
                    content += more
        except TimeoutError:
            raise RefusedError(408, "the body took too long") from None
        if len(content) > MOST_BODY_BYTES:
            raise RefusedError(413, f"the body may have at most {MOST_BODY_BYTES} bytes")
        self.is_unread = False
        return content

    async def _part(self) -> tuple[bytes, bool]:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        return message.get("body", b""), not message.get("more_body", False)
