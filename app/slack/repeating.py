"""Which of Slack's Web API calls are made again by themselves: those that only read."""

import aiohttp
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

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
