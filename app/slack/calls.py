"""Slack's Web API as the bot calls it: one place for deadlines and the meaning of failures."""

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
from pydantic_core import from_json
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from app.slack.outcome import Refusal, refusal_of
from app.slack.repeating import REPEATABLE, RepeatReadsHandler, WaitOutReadsHandler

_OK, _SERVER_ERROR = 200, 500


class SlackRefusalError(Exception):
    """Slack said no; the call was definitely not carried out. ``error`` is Slack's name for the reason."""

    def __init__(self, method: str, refusal: Refusal, error: str, retry_after_s: float = 1.0) -> None:
        super().__init__(f"{method}: {error}")
        self.refusal = refusal
        self.error = error
        self.retry_after_s = retry_after_s


class SlackLostError(Exception):
    """No (usable) answer came, so the call may or may not have been carried out."""


class SlackCalls:
    """One bot token's Web API over one pooled session."""

    def __init__(self, client: AsyncWebClient) -> None:
        self.client = client
        agent = str(cast("Any", client).headers["User-Agent"])
        self._headers = {"User-Agent": agent, "Content-Type": "application/json;charset=utf-8"}
        if client.token:
            self._headers["Authorization"] = f"Bearer {client.token}"

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        """The answer's JSON object. Raises ``SlackRefusalError`` or ``SlackLostError``.

        Arguments that are ``None`` are left out. ``as_query`` sends them as a query string, as reads are sent.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        session = self.client.session
        try:
            if as_query or method in REPEATABLE or session is None or session.closed:
                return await self._by_sdk(method, given, as_query=as_query)
            return await self._by_hand(session, method, given)
        except (aiohttp.ClientError, TimeoutError, SlackRequestError, OSError, AttributeError) as fault:
            # AttributeError: what the SDK raises over an answer that is no JSON object, such as a proxy's.
            raise SlackLostError(f"{method}: {type(fault).__name__}") from fault

    async def _by_sdk(self, method: str, given: dict[str, object], *, as_query: bool) -> Mapping[str, Any]:
        # The SDK's annotations leave the element types of its dictionaries open.
        api_call = cast("Callable[..., Awaitable[AsyncSlackResponse]]", self.client.api_call)  # pyright: ignore[reportUnknownMemberType]
        try:
            if as_query:
                response = await api_call(method, http_verb="GET", params=given)
            else:
                response = await api_call(method, json=given)
        except SlackApiError as fault:
            told = cast("Any", fault.response)
            status: int = getattr(told, "status_code", 0)
            raise _meaning(method, status, getattr(told, "headers", {}), getattr(told, "data", None)) from fault
        return cast("Mapping[str, Any]", cast("Any", response).data)

    async def _by_hand(
        self, session: aiohttp.ClientSession, method: str, given: dict[str, object]
    ) -> Mapping[str, Any]:
        """As the SDK does it, in two thirds of the time: nothing here is repeated, so nothing is kept for that."""
        url, proxy = f"{self.client.base_url}{method}", self.client.proxy
        async with session.post(url, json=given, headers=self._headers, proxy=proxy) as response:
            body = await response.read()
        answer = _object(body, response.content_type)
        if response.status == _OK and answer.get("ok"):
            return answer
        raise _meaning(method, response.status, response.headers, answer)

    async def upload(self, url: str, content: bytes) -> None:
        """Send a file's bytes to the address files.getUploadURLExternal gave. Raises ``SlackLostError``."""
        try:
            async with open_session(self.client.timeout) as session:
                answer = await session.post(url, data=content, proxy=self.client.proxy, allow_redirects=False)
        except (aiohttp.ClientError, TimeoutError, OSError) as fault:
            raise SlackLostError(f"upload: {type(fault).__name__}") from fault
        if answer.status != _OK:
            raise SlackLostError(f"upload: status {answer.status}")


def open_session(timeout_s: float) -> aiohttp.ClientSession:
    """A pooled session; many turns stream at once, so the pool has no cap of its own."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=timeout_s), connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30)
    )


def web_client(session: aiohttp.ClientSession | None, *, api_url: str, token: str | None) -> AsyncWebClient:
    """The SDK's client with our retry rules; ``session`` ``None`` makes a connection for every call."""
    # A logger without a level of its own has the SDK write every call out in detail, whether anybody reads it or not.
    logger = logging.getLogger("slack_sdk")
    logger.setLevel(logging.WARNING)
    client = AsyncWebClient(
        token=token,
        base_url=api_url,
        session=session,
        logger=logger,
        retry_handlers=[RepeatReadsHandler(max_retry_count=2), WaitOutReadsHandler(max_retry_count=2)],
    )
    if is_loopback(api_url):
        client.proxy = None
    return client


def is_loopback(url: str) -> bool:
    """Whether ``url`` is this machine, to which the environment's proxy cannot lead although the SDK would use it."""
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}


def _object(body: bytes, media_type: str) -> Mapping[str, Any]:
    """Empty for what is no JSON object."""
    value: object = None
    if media_type == "application/json":
        with suppress(ValueError):
            value = _parsed(body)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _parsed(body: bytes) -> object:
    try:
        return from_json(body, cache_strings="keys")
    except ValueError:
        # Python's own parser takes twice the time, and half a surrogate pair.
        return json.loads(body)


def _meaning(
    method: str, status: int, headers: Mapping[str, str] | None, data: object
) -> SlackRefusalError | SlackLostError:
    error = str(cast("dict[str, object]", data).get("error", "")) if isinstance(data, dict) else ""
    if error == "ratelimited" or status == 429:  # noqa: PLR2004 - HTTP's own number
        return SlackRefusalError(method, Refusal.RATE_LIMITED, "ratelimited", _seconds(headers or {}))
    refusal = refusal_of(error) if error else None
    if refusal is None or status >= _SERVER_ERROR:
        return SlackLostError(f"{method}: status {status}")
    return SlackRefusalError(method, refusal, error)


def _seconds(headers: Mapping[str, str]) -> float:
    lowered = {name.lower(): value for name, value in headers.items()}
    try:
        return max(0.0, float(lowered.get("retry-after", "1")))
    except ValueError:
        return 1.0
