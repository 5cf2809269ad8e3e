"""The body of one request, as it arrives. How long that may take is up to the server (``protocol``)."""

from starlette.types import Receive

from memory.service.fences import Headers, RefusedError, has_body
from memory.service.wire import MOST_BODY_BYTES


class GoneError(Exception):
    """Whoever asked has hung up, or was cut off."""


class Incoming:
    """A body that is read at most once."""

    __slots__ = ("_headers", "_is_read", "receive")

    def __init__(self, receive: Receive, headers: Headers) -> None:
        self.receive = receive
        self._headers = headers
        self._is_read = False

    @property
    def is_unread(self) -> bool:
        """Whether something of it may still come."""
        return not self._is_read and has_body(self._headers)

    async def content(self) -> bytes:
        """All of it. Raises ``RefusedError`` (413) when more comes than was declared, ``GoneError`` for less."""
        content, is_whole = await self._part()
        while not is_whole and len(content) <= MOST_BODY_BYTES:
            more, is_whole = await self._part()
            content += more
        if len(content) > MOST_BODY_BYTES:
            raise RefusedError(413, f"the body may have at most {MOST_BODY_BYTES} bytes")
        self._is_read = True
        return content

    async def _part(self) -> tuple[bytes, bool]:
        message = await self.receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        return message.get("body", b""), not message.get("more_body", False)
