"""Socket Mode: one supervised connection that is built anew when the SDK's own reconnecting does not help."""

import asyncio
from contextlib import suppress
from typing import Any, cast

import structlog
from slack_bolt.async_app import AsyncApp

from app.background import Spawn
from app.clock import Clock
from app.errors import ConfigurationError
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError, is_loopback, web_client
from app.slack.outcome import Refusal
from app.slack.receiving import PING_S, Receiver, Take

SOCKET_CONNECTED = "socket_connected"
SOCKET_REBUILT = "socket_rebuilt"

PATIENCE_S = 4 * PING_S + 5.0
"""The SDK notices a dead connection after four pings; tearing it down earlier races its own reconnect."""
WATCH_S = 5.0
CLOSE_S = 3.0
LAST_ACKS_S = 0.1

_log = structlog.stdlib.get_logger(__name__)


class SlackSocket:
    def __init__(self, bolt: AsyncApp, take: Take, spawn: Spawn, *, app_token: str, api_url: str, clock: Clock) -> None:
        """``take``: gets the messages, ``bolt`` all the rest."""
        self._bolt = bolt
        self._take = take
        self._spawn = spawn
        self._app_token = app_token
        self._api_url = api_url
        self._clock = clock
        self._client: Receiver | None = None
        self._endpoint: str | None = None
        self._greeted = asyncio.Event()
        self._last_seen_s = clock.monotonic()

    @property
    def is_connected(self) -> bool:
        """Whether Slack has said hello on the present connection."""
        return self._greeted.is_set()

    async def connected(self) -> None:
        """Return once Slack has said hello."""
        await self._greeted.wait()

    async def check_token(self) -> None:
        """Ask for an endpoint once by hand: the SDK would try a refused token again for ever.

        Raises ``ConfigurationError`` when Slack refuses the app token; a Slack out of reach is waited for later.
        """
        calls = SlackCalls(web_client(None, api_url=self._api_url, token=self._app_token))
        try:
            answer = await calls.call("apps.connections.open", {})
        except SlackRefusalError as fault:
            if fault.refusal is not Refusal.RATE_LIMITED:
                raise ConfigurationError(
                    f"Slack refuses slack.app_token ({fault.error}): make an app-level token with connections:write"
                ) from fault
        except SlackLostError:
            return
        else:
            # Slack gives out about one endpoint a minute, so this one is used for the first connection.
            self._endpoint = str(answer["url"])

    async def run(self) -> None:
        """Stay connected until cancelled."""
        try:
            while True:
                await self._open()
                await self._watch()
                _log.warning(SOCKET_REBUILT)
                await self._close()
        finally:
            await asyncio.shield(self._close())

    async def _open(self) -> None:
        self._greeted.clear()
        web = web_client(None, api_url=self._api_url, token=None)
        client = Receiver(self._take, self._spawn, bolt=self._bolt, app_token=self._app_token, web_client=web)
        self._client = client
        if is_loopback(self._api_url):
            client.proxy = None
        client.wss_uri, self._endpoint = self._endpoint, None
        listeners: list[Any] = cast("Any", client).message_listeners
        listeners.append(self._heard)
        self._last_seen_s = self._clock.monotonic()
        await client.connect()

    async def _heard(self, _client: object, message: dict[str, Any], _raw: str | None) -> None:
        if message.get("type") == "hello":
            self._greeted.set()
            _log.info(SOCKET_CONNECTED, connections=message.get("num_connections"))

    async def _watch(self) -> None:
        """Return when the connection has been down for longer than the SDK may need to mend it."""
        while self._clock.monotonic() - self._last_seen_s < PATIENCE_S:
            await self._clock.sleep(WATCH_S)
            if self._client is not None and await self._client.is_connected():
                self._last_seen_s = self._clock.monotonic()

    async def _close(self) -> None:
        client, self._client = self._client, None
        self._greeted.clear()
        if client is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._acknowledge_what_came(client)
                await client.close()

    async def _acknowledge_what_came(self, client: Receiver) -> None:
        """Take nothing more, and answer for what was taken: Slack would send it again, to nobody."""
        receiving: asyncio.Future[Any] | None = cast("Any", client).message_receiver
        if receiving is not None:
            receiving.cancel()
        await asyncio.sleep(LAST_ACKS_S)
