"""Socket Mode: tickets, up to ten WebSocket connections for each app, envelopes and their acknowledgements."""

import asyncio
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from aiohttp import ClientConnectionError, WSCloseCode, WSMsgType, web

from app.clock import Clock
from app.playground.delivery.envelope import (
    Acked,
    DeliveredEnvelope,
    DeliveryLog,
    EnvelopeKind,
    NotAcked,
    Outcome,
    Parcel,
)
from app.playground.delivery.lines import Line, Lines
from app.playground.model import Json, SlackApp
from app.playground.origin import Origin

CONNECTIONS_MAX = 10
CONNECTION_LIFETIME_S = 18_060
TICKET_LIFETIME_S = 30.0
_HOST = "applink-playground"
_HEARTBEAT_S = 30.0
_CLOSE_S = 1.0
"""How long a client may take to confirm that its connection closes."""
_REFRESH_GRACE_S = 10.0


class SocketMode:
    """Issues tickets for ``apps.connections.open``, serves the sockets and sends envelopes over them."""

    def __init__(self, origin: Origin, clock: Clock, log: DeliveryLog, on_change: Callable[[], None]) -> None:
        self._origin = origin
        self._clock = clock
        self._log = log
        self._on_change = on_change
        self._tickets: dict[str, tuple[SlackApp, float]] = {}
        self._lines: dict[str, Lines] = {}
        self._awaited: dict[str, asyncio.Future[Json]] = {}

    def issue(self, app: SlackApp) -> str:
        """The address for one connection, to be used within ``TICKET_LIFETIME_S``."""
        ticket = secrets.token_urlsafe(16)
        self._tickets[ticket] = (app, self._clock.monotonic() + TICKET_LIFETIME_S)
        return f"{self._origin.ws_base_url}/link/?ticket={ticket}&app_id={app.id}"

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/link/", self._serve)]

    def lines(self, app_id: str) -> Lines:
        return self._lines.setdefault(app_id, Lines())

    async def send(self, parcel: Parcel, timeout_s: float) -> Outcome:
        """An event waits for a connection as long as it takes; a person's click only ``timeout_s``."""
        if parcel.kind is EnvelopeKind.EVENT:
            return await self._send(parcel, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                await self.lines(parcel.app.id).wait()
        except TimeoutError:
            return NotAcked("connection_failed", is_unreachable=True)
        return await self._send(parcel, timeout_s)

    async def _send(self, parcel: Parcel, timeout_s: float) -> Outcome:
        entry: DeliveredEnvelope | None = None
        while entry is None:
            line = await self.lines(parcel.app.id).next()
            entry = await self._put(line, parcel)
        try:
            async with asyncio.timeout(timeout_s):
                return Acked(await self._awaited[entry.envelope_id])
        except TimeoutError:
            return NotAcked("timeout")
        finally:
            del self._awaited[entry.envelope_id]

    async def _put(self, line: Line, parcel: Parcel) -> DeliveredEnvelope | None:
        """``None`` when the line turned out to be dead."""
        entry = self._log.sent(parcel)
        answer = self._awaited[entry.envelope_id] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda done: done.cancelled() or self._log.acked(entry, done.result()))
        try:
            await line.socket.send_str(json.dumps(_envelope(entry.envelope_id, parcel)))
        except (ClientConnectionError, ConnectionError):
            del self._awaited[entry.envelope_id]
            self._log.entries.remove(entry)
            self.lines(parcel.app.id).remove(line)
            return None
        return entry

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        app = self._admitted(request.query.get("ticket", ""))
        lines = self.lines(app.id)
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, timeout=_CLOSE_S)
        await socket.prepare(request)
        if len(lines) >= CONNECTIONS_MAX:
            await socket.send_json(_disconnect("too_many_websockets"))
            await socket.close()
            return socket
        line = Line(socket, request.transport)
        await socket.send_json(_hello(app, len(lines) + 1))
        lines.add(line)
        self._on_change()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._heard(str(message.data))
        finally:
            lines.remove(line)
            self._on_change()
        return socket

    def _admitted(self, ticket: str) -> SlackApp:
        app, expires_at = self._tickets.pop(ticket, (None, 0.0))
        if app is None or self._clock.monotonic() > expires_at:
            raise web.HTTPForbidden(text="invalid ticket")
        return app

    def _heard(self, text: str) -> None:
        """An acknowledgement counts on whichever connection it comes."""
        try:
            message = cast("Json", json.loads(text))
        except ValueError:
            return
        answer = self._awaited.get(str(message.get("envelope_id")))
        if answer is not None and not answer.done():
            answer.set_result(cast("Json | None", message.get("payload")) or {})

    def drop(self) -> None:
        """Cut every connection without a word."""
        for lines in self._lines.values():
            for line in lines.all():
                lines.remove(line)
                line.cut()
        self._on_change()

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every client to reconnect (``warning``, ``refresh_requested`` or ``link_disabled``).

        Nothing more is sent on these connections, and the server closes those still open after ten seconds.
        """
        for lines in self._lines.values():
            for line in lines.all():
                lines.retire(line, _REFRESH_GRACE_S)
                with suppress(ClientConnectionError, ConnectionError):
                    await line.socket.send_json(_disconnect(reason))

    async def close(self) -> None:
        open_lines = [line for lines in self._lines.values() for line in lines.all()]
        await asyncio.gather(*(line.socket.close(code=WSCloseCode.GOING_AWAY) for line in open_lines))


def _hello(app: SlackApp, connections: int) -> Json:
    return {
        "type": "hello",
        "num_connections": connections,
        "debug_info": {
            "host": _HOST,
            "build_number": 1,
            "approximate_connection_time": CONNECTION_LIFETIME_S,
        },
        "connection_info": {"app_id": app.id},
    }


def _disconnect(reason: str) -> Json:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": _HOST}}


def _envelope(envelope_id: str, parcel: Parcel) -> Json:
    envelope: Json = {
        "envelope_id": envelope_id,
        "type": parcel.kind.value,
        "payload": parcel.payload,
        "accepts_response_payload": parcel.kind is not EnvelopeKind.EVENT,
    }
    if parcel.kind is EnvelopeKind.EVENT:
        envelope |= {"retry_attempt": parcel.attempt, "retry_reason": parcel.reason or ""}
    return envelope
