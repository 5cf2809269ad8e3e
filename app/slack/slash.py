"""Slash commands: acknowledged at once, answered to the person alone, and later where the answer takes longer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import structlog
from aiohttp import ClientError
from pydantic import BaseModel, ValidationError
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackRequestError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from app.access.actor import Places
from app.background import Spawn
from app.slack.calls import is_loopback
from app.slack.format import to_plain, without_crowd_mentions
from app.slack.payloads import Json
from app.slack.splitting import cut
from commands.grammar import without_links
from commands.registry import Registry
from commands.result import Result
from commands.spec import Caller, Origin, Surface

SLASH_UNANSWERED = "slash_unanswered"
SLASH_MALFORMED = "slash_malformed"

ANY_COMMAND = "/switchboard"
"""Takes every command; a group's own slash command (``/memory``) takes what follows its name."""
PATIENCE_S = 2.0
"""Slack waits three seconds for the acknowledgement; an answer that comes sooner goes with it."""
PIECE_CHARS = 11_000
"""Below the 12,000 of all markdown blocks of a message (Block Kit reference)."""
POST_S = 10
PIECES_MOST = 5
"""A response_url takes five messages."""

_CUT_SHORT = "\n\n_There is more than fits here; ask for less, for example with words or a smaller limit._"
_BROKEN = "⚠️ Something went wrong on my side. Please try again."
_MALFORMED = "⚠️ I did not understand what Slack sent. Please try again."

_log = structlog.stdlib.get_logger(__name__)

Ack = Callable[..., Awaitable[Any]]
Post = Callable[[str, dict[str, Any]], Awaitable[int]]
"""Sends a message to a response_url and gives the HTTP status; raises what the SDK raises."""


class _Payload(BaseModel):
    command: str
    text: str = ""
    user_id: str
    channel_id: str
    response_url: str = ""


async def post(response_url: str, message: dict[str, Any]) -> int:
    """Once: the SDK's own second try after a lost connection could show the answer twice."""
    client = AsyncWebhookClient(response_url, timeout=POST_S, retry_handlers=[])
    if is_loopback(response_url):
        client.proxy = None
    return (await client.send_dict(message)).status_code


class Slash:
    """The slash commands of one workspace."""

    def __init__(
        self, registry: Registry, spawn: Spawn, places: Places, *, patience_s: float = PATIENCE_S, post: Post = post
    ) -> None:
        self._registry = registry
        self._spawn = spawn
        self._places = places
        self._patience_s = patience_s
        self._post = post

    def register(self, bolt: AsyncApp) -> None:
        """Before the listener that declines every other slash command."""
        app = cast("Any", bolt)  # Bolt's decorators are only partly typed
        for name in self.names():
            app.command(name)(self.answer)

    def names(self) -> list[str]:
        groups = dict.fromkeys(command.group for command in self._registry.commands(Surface.SLASH))
        return [ANY_COMMAND, *(f"/{group}" for group in groups)]

    async def answer(self, ack: Ack, command: Json) -> None:
        """Only the person who typed the command sees what it says."""
        try:
            payload = _Payload.model_validate(command)
        except ValidationError:
            _log.warning(SLASH_MALFORMED)
            await ack(**_messages(_MALFORMED)[0])
            return
        said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._spawn(self._carry_out(payload, said), name="slash_command")
        done, _ = await asyncio.wait({said}, timeout=self._patience_s)
        messages = _messages(said.result()) if done else ()
        if len(messages) == 1:
            await ack(**messages[0])
            return
        # Several messages go one way only: the one in the acknowledgement might be shown last.
        await ack()
        self._spawn(self._answer_later(payload.response_url, said), name="slash_answer")

    async def _carry_out(self, payload: _Payload, said: asyncio.Future[str]) -> None:
        try:
            said.set_result((await self._run(payload)).text)
        finally:
            if not said.done():
                said.set_result(_BROKEN)

    async def _answer_later(self, response_url: str, said: asyncio.Future[str]) -> None:
        """Tell what could not go with the acknowledgement. What Slack does not take is only logged: nobody listens."""
        for message in _messages(await said):
            try:
                status = await self._post(response_url, message)
            except (ClientError, SlackRequestError, TimeoutError, OSError) as fault:
                _log.warning(SLASH_UNANSWERED, reason=type(fault).__name__)
                return
            if status != 200:  # noqa: PLR2004 - HTTP's OK
                _log.warning(SLASH_UNANSWERED, status=status)
                return

    async def _run(self, payload: _Payload) -> Result:
        group = "" if payload.command == ANY_COMMAND else payload.command.removeprefix("/")
        line = f"{group} {to_plain(without_links(payload.text))}"
        return await self._registry.run_line(line, await self._caller(payload))

    async def _caller(self, payload: _Payload) -> Caller:
        channel_id = f"slack:{payload.channel_id}"
        facts = await self._places.facts(channel_id)
        origin = Origin(channel_id=channel_id, visibility=facts.visibility.value)
        return Caller(f"slack:{payload.user_id}", Surface.SLASH, origin)


def _messages(text: str) -> Sequence[dict[str, Any]]:
    """The text as ephemeral messages that Slack takes."""
    left = without_crowd_mentions(text)
    pieces: list[str] = []
    while left and len(pieces) < PIECES_MOST:
        room = PIECE_CHARS if len(pieces) < PIECES_MOST - 1 else PIECE_CHARS - len(_CUT_SHORT)
        piece = cut(left, room)
        left = left[len(piece) :].lstrip("\n")
        pieces.append(piece.rstrip("\n"))
    if left:
        pieces[-1] += _CUT_SHORT
    return [
        {"response_type": "ephemeral", "text": piece, "blocks": [{"type": "markdown", "text": piece}]}
        for piece in pieces
    ]
