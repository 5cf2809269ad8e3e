"""What comes over Socket Mode: messages are taken as they come, all the rest goes the SDK's way to Bolt."""

import json
from collections.abc import Awaitable, Callable
from time import time
from typing import Any, cast

import structlog
from pydantic_core import from_json
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from app.background import Spawn
from app.slack.payloads import Json, is_message

ACKNOWLEDGEMENT_LOST = "acknowledgement_lost"

PING_S = 10.0

_log = structlog.stdlib.get_logger(__name__)

Take = Callable[[Json], Awaitable[None]]
"""Takes what somebody said, or what became of it; returns when that may be acknowledged."""


class Receiver(SocketModeClient):
    """The SDK's own, but for messages: what comes over the socket is Slack's, and nobody has to find out about it.

    They are most of what is said in a workspace, each mention twice, the bot's own answers too. So each begins to be
    taken in the very next turn of the event loop, in the order in which they come.
    """

    def __init__(self, take: Take, spawn: Spawn, *, bolt: AsyncApp, app_token: str, web_client: AsyncWebClient) -> None:
        """``take``: gets the messages, ``bolt`` all the rest."""
        super().__init__(app_token, logger=bolt.logger, web_client=web_client, ping_interval=PING_S)
        self._take = take
        self._spawn = spawn
        self._bolt = bolt
        self.socket_mode_request_listeners.append(self._hand_to_bolt)

    async def enqueue_message(self, message: str) -> None:
        """Waits for nothing that a message asks for: behind it on the connection comes the next one."""
        envelope = message_envelope(message)
        if envelope is None:
            await super().enqueue_message(message)
        else:
            self._spawn(self._accept(envelope), name="message")

    async def _accept(self, envelope: Json) -> None:
        await self._take(envelope["payload"])
        try:
            await self.send_message(f'{{"envelope_id": {json.dumps(envelope["envelope_id"])}}}')
        except ConnectionError as fault:
            # Slack sends the message again, and it is known by then.
            _log.warning(ACKNOWLEDGEMENT_LOST, error=type(fault).__name__)

    async def _hand_to_bolt(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        began_s = time()
        response = await run_async_bolt_app(self._bolt, request)
        await send_async_response(client, request, response, began_s)


def message_envelope(text: str) -> Json | None:
    """The envelope that ``text`` is, if there is a message in it, and if so strict a parser reads it.

    What Python's own parser takes beside that, such as half a surrogate pair, comes by way of Bolt.
    """
    try:
        envelope: object = from_json(text, cache_strings="keys")
    except ValueError:
        return None
    if not isinstance(envelope, dict):
        return None
    known = cast("dict[str, Any]", envelope)
    payload: object = known.get("payload")
    return known if "envelope_id" in known and isinstance(payload, dict) and is_message(cast("Json", payload)) else None
