"""Slack's Web API as the bot calls it: one place for deadlines, retries and the meaning of failures."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from app.slack.outcome import Refusal, refusal_of

REPEATABLE = frozenset(
    {
        "auth.test",
        "conversations.history",
        "conversations.info",
        "conversations.members",
        "conversations.replies",
        "team.info",
        "users.info",
    }
)
"""Methods that only read, so that a second call after a lost answer can do no harm."""

_SERVER_ERROR = 500


class SlackRefusalError(Exception):
    """Slack said no; the call was definitely not carried out. ``error`` is Slack's name for the reason."""

    def __init__(self, method: str, refusal: Refusal, error: str, retry_after_s: float = 1.0) -> None:
        super().__init__(f"{method}: {error}")
        self.refusal = refusal
        self.error = error
        self.retry_after_s = retry_after_s


class SlackLostError(Exception):
    """No (usable) answer came, so the call may or may not have been carried out."""


class RepeatReadsHandler(AsyncRetryHandler):
    """Repeats a reading call after a connection error or a server error; never one that changes anything.

    It takes the place of the SDK's default handler, which sends posts again after a dropped connection although
    Slack may have taken the first one.
    """

    async def _can_retry_async(
        self,
        *,
        state: RetryState,  # noqa: ARG002 - the SDK's signature
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if method_of(request.url) not in REPEATABLE:
            return False
        if error is not None:
            return isinstance(error, aiohttp.ClientConnectionError | TimeoutError)
        return response is not None and response.status_code >= _SERVER_ERROR


class WaitOutReadsHandler(AsyncRateLimitErrorRetryHandler):
    """Waits out a 429 of a reading call; a refused write is its caller's to place again."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        is_limited = await super()._can_retry_async(state=state, request=request, response=response, error=error)
        return is_limited and method_of(request.url) in REPEATABLE


def method_of(url: str) -> str:
    return url.rsplit("/", 1)[-1].split("?", 1)[0]


class SlackCalls:
    """One bot token's Web API over one pooled session."""

    def __init__(self, client: AsyncWebClient) -> None:
        self.client = client

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        """The answer's JSON object. Raises ``SlackRefusalError`` or ``SlackLostError``.

        Arguments that are ``None`` are left out. ``as_query`` sends them as a query string, as reads are sent.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        # The SDK's annotations leave the element types of its dictionaries open.
        api_call = cast("Callable[..., Awaitable[AsyncSlackResponse]]", self.client.api_call)  # pyright: ignore[reportUnknownMemberType]
        try:
            if as_query:
                response = await api_call(method, http_verb="GET", params=given)
            else:
                response = await api_call(method, json=given)
        except SlackApiError as fault:
            raise _meaning(method, fault) from fault
        except (aiohttp.ClientError, TimeoutError, SlackRequestError, OSError, AttributeError) as fault:
            # AttributeError: what the SDK raises over an answer that is no JSON object, such as a proxy's.
            raise SlackLostError(f"{method}: {type(fault).__name__}") from fault
        return cast("Mapping[str, Any]", cast("Any", response).data)

    async def upload(self, url: str, content: bytes) -> None:
        """Send a file's bytes to the address files.getUploadURLExternal gave. Raises ``SlackLostError``."""
        try:
            async with open_session(self.client.timeout) as session:
                answer = await session.post(url, data=content, proxy=self.client.proxy, allow_redirects=False)
        except (aiohttp.ClientError, TimeoutError, OSError) as fault:
            raise SlackLostError(f"upload: {type(fault).__name__}") from fault
        if answer.status != 200:  # noqa: PLR2004 - HTTP's OK
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


def _meaning(method: str, fault: SlackApiError) -> SlackRefusalError | SlackLostError:
    response = cast("Any", fault.response)
    headers: Mapping[str, str] = getattr(response, "headers", {}) or {}
    status: int = getattr(response, "status_code", 0)
    data: object = getattr(response, "data", None)
    error = str(cast("dict[str, object]", data).get("error", "")) if isinstance(data, dict) else ""
    if error == "ratelimited" or status == 429:  # noqa: PLR2004 - HTTP's own number
        return SlackRefusalError(method, Refusal.RATE_LIMITED, "ratelimited", _seconds(headers))
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
