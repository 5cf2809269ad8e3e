"""What can be asked of Slack to find out whether the bot would work; the doctor's Slack half."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from app.checks import Check
from app.slack.calls import is_loopback
from app.slack.manifest import BOT_SCOPES, EVENTS_PATH

_GOODBYE_S = 1.0
"""How long the other side may take to hang up after the check is done."""
_CONSOLE = "api.slack.com/apps"
_BOT_TOKEN_PLACE = f"{_CONSOLE} under OAuth & Permissions (Bot User OAuth Token)"
_APP_TOKEN_PLACE = f"{_CONSOLE} under Basic Information (App-Level Tokens)"

_BOT_TOKEN_ADVICE = {
    "invalid_auth": f"Slack does not know this bot token; copy it from {_BOT_TOKEN_PLACE}",
    "not_authed": f"Slack saw no bot token; copy it from {_BOT_TOKEN_PLACE}",
    "token_revoked": f"this bot token was revoked; reinstall the app and copy the new one from {_BOT_TOKEN_PLACE}",
    "token_expired": f"this bot token has expired; copy the current one from {_BOT_TOKEN_PLACE}",
    "account_inactive": f"the app was uninstalled; install it again and copy the token from {_BOT_TOKEN_PLACE}",
}
_APP_TOKEN_ADVICE = {
    "invalid_auth": f"Slack does not know this app-level token; copy it from {_APP_TOKEN_PLACE}",
    "not_authed": f"Slack saw no app-level token; copy it from {_APP_TOKEN_PLACE}",
    "token_revoked": f"this app-level token was revoked; make a new one at {_APP_TOKEN_PLACE}",
    "not_allowed_token_type": f"this is no app-level token (xapp-…); make one at {_APP_TOKEN_PLACE}",
    "missing_scope": f"the app-level token lacks connections:write; make a new one with it at {_APP_TOKEN_PLACE}",
}
_SOCKET_ADVICE = {
    "link_disabled": f"Socket Mode is switched off for this app; switch it on at {_CONSOLE} under Socket Mode",
    "too_many_websockets": "the app has its ten connections already; stop a process that uses the same app",
}


@dataclass(frozen=True, slots=True)
class SlackAccess:
    """How Slack is reached; printing it shows no secret."""

    mode: Literal["socket", "http"]
    api_url: str
    bot_token: str = field(repr=False)
    app_token: str | None = field(repr=False)
    signing_secret: str | None = field(repr=False)
    timeout_s: float


@dataclass(frozen=True, slots=True)
class _Answer:
    body: Mapping[str, object]
    headers: Mapping[str, str]
    """Names in lower case."""


class _RefusedError(Exception):
    """Slack answered, and said no; its text is Slack's name for the reason."""


class _UnreachableError(Exception):
    """Slack did not answer; its text says why."""


async def bot_token_checks(access: SlackAccess) -> list[Check]:
    """Whether the bot token works, and each scope the installation lacks."""
    name = "Slack bot token"
    try:
        answer = await _call(access, access.bot_token, "auth.test")
    except _RefusedError as error:
        return [Check(name, "fail", _advice(str(error), _BOT_TOKEN_ADVICE, "auth.test"))]
    except _UnreachableError as error:
        return [Check(name, "fail", _unreachable(access.api_url, error))]
    if not answer.body.get("bot_id"):
        return [Check(name, "fail", f"this token is not a bot's; copy it from {_BOT_TOKEN_PLACE}")]
    known_as = f"signed in to {answer.body.get('team')} as {answer.body.get('user')}"
    return [Check(name, "ok", known_as), *_scope_checks(answer.headers.get("x-oauth-scopes"))]


async def socket_check(access: SlackAccess) -> Check:
    """Whether Socket Mode works, found out by connecting once and hanging up after Slack's greeting."""
    name = "Socket Mode"
    try:
        answer = await _call(access, access.app_token or "", "apps.connections.open")
        return _judge_greeting(name, await _greeting(access, str(answer.body.get("url"))))
    except _RefusedError as error:
        return Check(name, "fail", _advice(str(error), _APP_TOKEN_ADVICE, "apps.connections.open"))
    except _UnreachableError as error:
        return Check(name, "fail", _unreachable("Slack's Socket Mode", error))


def http_check(access: SlackAccess, listen: str) -> Check:
    """What an operator has to enter for Slack over HTTP; only Slack's first request can prove the secret."""
    name = "Slack over HTTP"
    if not access.signing_secret:
        return Check(name, "fail", f"no signing secret; copy it from {_CONSOLE} under Basic Information")
    address = f"https://<public name of this bot>{EVENTS_PATH}"
    place = f"{_CONSOLE} under Event Subscriptions"
    return Check(name, "ok", f"a signing secret is set; the request URL at {place} is {address}, led to {listen}")


def _client(access: SlackAccess, token: str) -> AsyncWebClient:
    silent = logging.getLogger("switchboard.health")
    silent.disabled = True
    client = AsyncWebClient(token, base_url=access.api_url, retry_handlers=[], logger=silent)
    client.proxy = _proxy(access, client)
    return client


def _proxy(access: SlackAccess, client: AsyncWebClient) -> str | None:
    """The environment's proxy as the SDK found it, which cannot lead to this machine itself."""
    return None if is_loopback(access.api_url) else client.proxy


@asynccontextmanager
async def _bounded(access: SlackAccess) -> AsyncGenerator[None]:
    """Turns every way of getting no answer in time into ``_UnreachableError``."""
    try:
        async with asyncio.timeout(access.timeout_s):
            yield
    except TimeoutError as error:
        raise _UnreachableError(f"no answer within {access.timeout_s:g} s") from error
    except (SlackClientError, aiohttp.ClientError, OSError, ValueError) as error:
        raise _UnreachableError(str(error) or type(error).__name__) from error


async def _call(access: SlackAccess, token: str, method: str) -> _Answer:
    # The SDK's annotations leave the element types of its dictionaries open.
    api_call = cast("Callable[[str], Awaitable[Any]]", _client(access, token).api_call)  # pyright: ignore[reportUnknownMemberType]
    async with _bounded(access):
        try:
            answer = await api_call(method)
        except SlackApiError as error:
            raise _RefusedError(_refusal(error)) from error
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        return _Answer(cast("Mapping[str, object]", answer.data), headers)


async def _greeting(access: SlackAccess, url: str) -> Mapping[str, object]:
    """The first message on the socket that says how things stand."""
    proxy = _proxy(access, _client(access, ""))
    async with _bounded(access), aiohttp.ClientSession() as session:
        socket = await session.ws_connect(url, proxy=proxy)
        greeting = await _first_word(socket)
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await socket.close()
        return greeting


async def _first_word(socket: aiohttp.ClientWebSocketResponse) -> Mapping[str, object]:
    async for message in socket:
        content: object = json.loads(message.data) if message.type is aiohttp.WSMsgType.TEXT else None
        if isinstance(content, dict):
            greeting = cast("Mapping[str, object]", content)
            if greeting.get("type") in {"hello", "disconnect"}:
                return greeting
    return {"type": "disconnect", "reason": "closed"}


def _judge_greeting(name: str, greeting: Mapping[str, object]) -> Check:
    if greeting["type"] != "hello":
        reason = str(greeting.get("reason"))
        return Check(name, "fail", _SOCKET_ADVICE.get(reason, f"Slack hung up at once ({reason}); try again"))
    connections = greeting.get("num_connections")
    if isinstance(connections, int) and connections > 1:
        shared = f"{connections - 1} more connection(s) of this app are open, and each event goes to only one"
        return Check(name, "ok", f"Slack said hello; {shared}")
    return Check(name, "ok", "Slack said hello")


def _scope_checks(granted_scopes: str | None) -> Iterator[Check]:
    name = "Slack scopes"
    if granted_scopes is None:
        yield Check(name, "warn", "Slack did not say which scopes are granted, so none could be compared")
        return
    granted = {scope.strip() for scope in granted_scopes.split(",")}
    missing = {scope: reason for scope, reason in BOT_SCOPES.items() if scope not in granted}
    for scope, reason in missing.items():
        what_to_do = f"add it at {_CONSOLE} under OAuth & Permissions, then reinstall the app"
        yield Check(name, "fail", f"{scope} is missing, needed {reason}; {what_to_do}")
    if not missing:
        yield Check(name, "ok", f"all {len(BOT_SCOPES)} are granted")


def _advice(refusal: str, known: Mapping[str, str], method: str) -> str:
    return known.get(refusal, f"Slack refused {method}: {refusal}")


def _refusal(error: SlackApiError) -> str:
    """Slack's name for the refusal, or what came in place of an answer of the Web API."""
    response = cast("Any", error.response)
    data: object = getattr(response, "data", None)
    name = cast("Mapping[str, object]", data).get("error") if isinstance(data, dict) else None
    status: object = getattr(response, "status_code", getattr(response, "status", "unknown"))
    return str(name) if name else f"HTTP status {status} without Slack's JSON; check slack.api_url"


def _unreachable(what: str, error: Exception) -> str:
    return f"{what} cannot be reached ({error}); check the network and slack.api_url"
