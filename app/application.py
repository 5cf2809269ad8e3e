"""The running bot: what it listens on, whether messages reach it, and how it ends."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from starlette.routing import BaseRoute

from app.background import beside
from app.continuity import Continuity
from app.http.surface import serving, surface
from app.slack.socket import SlackSocket

APPLICATION_READY = "application_ready"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where the HTTP surface listens; port 0 takes any free one."""

    host: str
    port: int


class Application:
    """Built by ``app.bootstrap.build``. ``socket`` is ``None`` when Slack posts to ``routes`` instead."""

    def __init__(
        self,
        continuity: Continuity,
        address: Address,
        *,
        socket: SlackSocket | None,
        routes: Sequence[BaseRoute] = (),
    ) -> None:
        self.dispatcher = continuity.dispatcher
        self._continuity = continuity
        self._address = address
        self._socket = socket
        self._routes = routes

    @property
    def is_ready(self) -> bool:
        """Whether messages reach the bot."""
        return self._socket is None or self._socket.is_connected

    @property
    def busy(self) -> int:
        """Turns, reflections and deliveries under way, counted together."""
        return len(self._continuity.background)

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[int]:
        """Take messages while the body runs; yields the HTTP port. Ends by finishing what was accepted.

        Raises ``ConfigurationError`` before the body when the port is taken or Slack refuses the app token.
        """
        if self._socket is not None:
            await self._socket.check_token()
        async with (
            self._continuity.kept(),
            serving(surface(lambda: self.is_ready, self._routes), self._address.host, self._address.port) as port,
            self._listening(),
        ):
            yield port

    async def connected(self) -> None:
        """Return once messages reach the bot."""
        if self._socket is not None:
            await self._socket.connected()

    async def serve(self, stop: asyncio.Event, on_ready: Callable[[int], Awaitable[None]]) -> None:
        """Run until ``stop`` is set; ``on_ready`` is told the HTTP port once messages reach the bot."""
        async with self.serving() as port, beside(self._announce(port, on_ready), name="announce"):
            await stop.wait()

    async def _announce(self, port: int, on_ready: Callable[[int], Awaitable[None]]) -> None:
        await self.connected()
        _log.info(APPLICATION_READY, http_port=port)
        await on_ready(port)

    @asynccontextmanager
    async def _listening(self) -> AsyncGenerator[None]:
        if self._socket is None:
            yield
            return
        async with beside(self._socket.run(), name="socket"):
            yield
