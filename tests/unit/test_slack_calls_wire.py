"""Calls of Slack's Web API as they go over the wire, and what the answers to them mean."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError, open_session, web_client
from app.slack.outcome import Refusal


@asynccontextmanager
async def open_server(handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> AsyncGenerator[str]:
    runner = web.ServerRunner(web.Server(handler))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def calls_to(address: str, *, is_pooled: bool) -> AsyncGenerator[SlackCalls]:
    """Over a pooled session, or over the SDK's own that it makes for each call."""
    url = f"{address}/api/"
    if not is_pooled:
        yield SlackCalls(web_client(None, api_url=url, token="xoxb-x"))
        return
    async with open_session(5.0) as session:
        yield SlackCalls(web_client(session, api_url=url, token="xoxb-x"))


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        ("<html>log in</html>", "text/html", 200),
        ("", "application/json", 200),
        ("{", "application/json", 200),
        ("[1]", "application/json", 200),
        ("a proxy's words", "text/plain", 200),
        ("<html>bad gateway</html>", "text/html", 502),
        ('{"ok": false}', "application/json", 200),
        ('{"ok": false, "error": "internal_error"}', "application/json", 200),
        ('{"ok": true}', "application/json", 500),
        ('{"ok": true}', "text/plain", 200),
    ],
)
@pytest.mark.parametrize("is_pooled", [True, False])
async def test_an_answer_that_is_not_slacks_counts_as_lost(
    body: str, media_type: str, status: int, *, is_pooled: bool
) -> None:
    async def answer_anything(_request: web.BaseRequest) -> web.Response:
        return web.Response(text=body, content_type=media_type, status=status)

    async with open_server(answer_anything) as address, calls_to(address, is_pooled=is_pooled) as calls:
        with pytest.raises(SlackLostError) as lost:
            await calls.call("chat.postMessage", {"channel": "C1"})
    assert body not in str(lost.value) or not body


@pytest.mark.parametrize(
    ("body", "media_type", "status", "kind"),
    [
        ('{"ok": false, "error": "channel_not_found"}', "application/json", 200, Refusal.OTHER),
        ('{"ok": false, "error": "ratelimited"}', "application/json", 200, Refusal.RATE_LIMITED),
        ('{"ok": false, "error": "ratelimited"}', "application/json", 429, Refusal.RATE_LIMITED),
        ("", "text/plain", 429, Refusal.RATE_LIMITED),
        ("<html>slow down</html>", "text/html", 429, Refusal.RATE_LIMITED),
    ],
)
@pytest.mark.parametrize("is_pooled", [True, False])
async def test_a_refusal_tells_its_kind_and_how_long_to_wait(
    body: str, media_type: str, status: int, kind: Refusal, *, is_pooled: bool
) -> None:
    async def refuse(_request: web.BaseRequest) -> web.Response:
        return web.Response(text=body, content_type=media_type, status=status, headers={"Retry-After": "7"})

    async with open_server(refuse) as address, calls_to(address, is_pooled=is_pooled) as calls:
        with pytest.raises(SlackRefusalError) as refused:
            await calls.call("chat.postMessage", {"channel": "C1"})
    assert refused.value.refusal is kind
    assert refused.value.retry_after_s == (7.0 if kind is Refusal.RATE_LIMITED else 1.0)


async def test_what_is_written_over_a_pooled_session_is_what_the_sdk_would_send() -> None:
    sent: list[tuple[str, str, dict[str, str], str]] = []

    async def hear(request: web.BaseRequest) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        sent.append((request.method, request.path_qs, headers, await request.text()))
        return web.json_response({"ok": True, "ts": "2.0"})

    async with open_server(hear) as address:
        for is_pooled in (False, True):
            async with calls_to(address, is_pooled=is_pooled) as calls:
                arguments = {"channel": "C1", "thread_ts": None, "markdown_text": "hé", "unfurl_links": False}
                assert await calls.call("chat.postMessage", arguments) == {"ok": True, "ts": "2.0"}
    assert sent[0] == sent[1]
    assert json.loads(sent[1][3]) == {"channel": "C1", "markdown_text": "hé", "unfurl_links": False}


@pytest.mark.parametrize("is_pooled", [True, False])
async def test_an_answer_with_half_a_surrogate_pair_is_an_answer(*, is_pooled: bool) -> None:
    async def echo(_request: web.BaseRequest) -> web.Response:
        return web.Response(text='{"ok": true, "ts": "2.0", "text": "\\ud83d"}', content_type="application/json")

    async with open_server(echo) as address, calls_to(address, is_pooled=is_pooled) as calls:
        assert (await calls.call("chat.postMessage", {"channel": "C1"}))["ts"] == "2.0"


@pytest.mark.parametrize("is_pooled", [True, False])
async def test_a_write_whose_connection_breaks_is_lost_and_not_sent_again(*, is_pooled: bool) -> None:
    heard: list[str] = []

    async def hang_up(request: web.BaseRequest) -> web.Response:
        heard.append(await request.text())
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with open_server(hang_up) as address, calls_to(address, is_pooled=is_pooled) as calls:
        with pytest.raises(SlackLostError):
            await calls.call("chat.postMessage", {"channel": "C1"})
    assert len(heard) == 1


async def test_a_session_that_is_closed_already_still_carries_last_words() -> None:
    async def take(_request: web.BaseRequest) -> web.Response:
        return web.json_response({"ok": True, "ts": "2.0"})

    async with open_server(take) as address:
        async with calls_to(address, is_pooled=True) as calls:
            pass
        assert await calls.call("chat.postMessage", {"channel": "C1"}) == {"ok": True, "ts": "2.0"}
