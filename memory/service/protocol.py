"""How the service reads HTTP: uvicorn's own protocol, with a deadline for requests, bounds, and answers in JSON.

Uvicorn waits for a request as long as somebody keeps sending it, and its parser refuses a Content-Length that is no
number before the application can say what is wrong with it.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Any

import httptools
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from memory.service.sending import CLOSE, send_object

_END = b"\r\n\r\n"
_FRAMING = re.compile(rb"\r\n(?:content-length|transfer-encoding)[ \t]*:[^\r\n]*", re.IGNORECASE)
_TOO_LARGE = re.compile(rb"\r\ncontent-length:[ \t]*[0-9]+[ \t]*(?:\r|$)", re.IGNORECASE)
_TOO_MANY = b"\r\ncontent-length: 999999999999999999"
_UNSAID = b"\r\ntransfer-encoding: chunked"


@dataclass(frozen=True, slots=True)
class HttpBounds:
    """What the server takes from whoever connects."""

    request_s: float = 10.0
    """How long a request may take to arrive, head and body."""
    head_bytes: int = 32_768
    connections: int = 4_096
    """Beyond this many, requests are answered with 503; beyond twice as many, connections are cut."""


DEFAULT_HTTP_BOUNDS = HttpBounds()


async def overloaded(_scope: Scope, _receive: Receive, send: Send) -> None:
    """The application for requests of more connections than there may be."""
    await send_object(send, 503, to_json({"error": "too many connections; try again later"}), [CLOSE])


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    bounds = DEFAULT_HTTP_BOUNDS

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._timer: asyncio.TimerHandle | None = None
        self._unanswered: list[RequestResponseCycle] = []
        """Requests that another one came behind before their answer was whole."""
        self._is_arriving = True
        self._is_in_head = True
        self._head = b""
        """What has arrived of a head that is not whole, from the part in which it began."""
        self._before_head = 0
        """How long that part was if another request ended in it: nobody knows how much of it is the head's."""
        self._has_ended = False
        """Whether a request has, in the part that arrived last."""
        self._is_deaf = False
        """Nothing that arrives matters any more."""
        self._is_faulty = False
        """The head says something about its body that the parser does not take; it is read when it is whole."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > 2 * self.bounds.connections:
            transport.abort()
            return
        self._timer = self.loop.call_later(self.bounds.request_s, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()
        self._unanswered.clear()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._is_arriving = self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        if len(self.connections) > self.bounds.connections:
            self.app = overloaded
        if self._is_answering():
            self._unanswered = [*self._under_way(), self.cycle]
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_arriving = False
        self._has_ended = True
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        if self._is_deaf:
            return
        self._unset_keepalive_if_required()
        self._has_ended = False
        if self._is_in_head:
            self._head += data
        if self._is_faulty:
            self._read_mended()
        else:
            self._read(data)
        self._mind_the_rest(data)

    def _read(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._answer(400, "upgrades are not supported")
        except httptools.HttpParserError as fault:
            self._meet(fault, data)

    def _meet(self, fault: httptools.HttpParserError, data: bytes) -> None:
        """What the parser refuses, the application answers when it is about a body's length; else it is 400."""
        if self._is_answering():
            self._hear_no_more()
        elif self._is_in_head and ("Content-Length" in str(fault) or "Transfer-Encoding" in str(fault)):
            self._is_faulty = True
            head = self._head or data
            start = head.rfind(self.parser.get_method() + b" " + self.url)
            self._head = head[max(0, start) :]
            self._read_mended()
        else:
            self._answer(400, "this is no HTTP request")

    def _is_answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def _hear_no_more(self) -> None:
        """The connection ends with the answer that is under way."""
        self.cycle.keep_alive = False
        self._is_deaf = True

    def _read_mended(self) -> None:
        """Have a whole head parsed again, with its length in a form that the application refuses for what it is."""
        head, end, _ = self._head.partition(_END)
        if not end:
            return
        is_only_large = len(_FRAMING.findall(head)) == 1 and _TOO_LARGE.search(head) is not None
        self.parser = httptools.HttpRequestParser(self)
        try:
            self.parser.feed_data(_FRAMING.sub(b"", head) + (_TOO_MANY if is_only_large else _UNSAID) + _END)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._answer(400, "this is no HTTP request")
        else:
            self._hear_no_more()

    def _mind_the_rest(self, data: bytes) -> None:
        """Bound what is still to come of a request, by time, and of its head by size."""
        if not self._is_arriving or self._is_deaf:
            self._head = b""
            self._stop_timer()
            return
        if not self._is_in_head:
            self._head = b""
        elif self._has_ended or not self._head:
            self._head, self._before_head = data, len(data) if self._has_ended else 0
        if len(self._head) - self._before_head > self.bounds.head_bytes:
            self._answer(431, "the head is too long")
        elif self._timer is None:
            self._timer = self.loop.call_later(self.bounds.request_s, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if self._is_in_head and not self._head:
            self.transport.close()
        elif self._is_in_head or self.cycle.response_started:
            self._answer(408, "the request took too long")
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        """Tell whoever sends a body too slowly, unless the answer to an earlier request is under way to them."""
        earlier = self._under_way()
        if earlier:
            earlier[-1].keep_alive = False
            self._is_deaf = True
        else:
            self._say(408, "the request took too long")
        # The application waits for the rest, and is told that nobody is there any more.
        self.cycle.disconnected = True
        self.cycle.message_event.set()

    def _under_way(self) -> list[RequestResponseCycle]:
        return [each for each in self._unanswered if not each.response_complete]

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def send_400_response(self, msg: str) -> None:
        self._answer(400, msg)

    def _answer(self, status: int, reason: str) -> None:
        """Without the application, and for the last time on this connection."""
        if self._is_answering():
            self._hear_no_more()
        else:
            self._say(status, reason)

    def _say(self, status: int, reason: str) -> None:
        self._is_deaf = True
        content = to_json({"error": reason})
        self.transport.write(
            STATUS_LINE[status]
            + b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(content)
            + content
        )
        self.transport.close()
