"""The other side: what somebody writes with Bolt alone, which answers every mention in its thread."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from app.playground.seed import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from app.slack.manifest import EVENTS_PATH

Model = Callable[[], Awaitable[None]]


def bare_app(api_url: str, think: Model) -> AsyncApp:
    """The listeners of Bolt's own tutorials, with ``think`` where a model would be called."""
    app = AsyncApp(signing_secret=SIGNING_SECRET, client=AsyncWebClient(token=BOT_TOKEN, base_url=api_url))
    on: Any = app  # Bolt's decorators are only partly typed

    @on.event("app_mention")
    async def echo(event: dict[str, Any], client: Any) -> None:  # pyright: ignore[reportUnusedFunction] - Bolt calls it
        await think()
        await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text=event["text"])

    @on.event("message")
    async def pass_over() -> None:  # pyright: ignore[reportUnusedFunction] - without it, Slack would send messages again
        pass

    return app


@asynccontextmanager
async def bare_bolt(api_url: str, mode: str, think: Model) -> AsyncGenerator[int]:
    """The app while the block runs, connected or listening; yields its HTTP port, 0 in Socket Mode."""
    app = bare_app(api_url, think)
    if mode == "http":
        async with _listening(app) as port:
            yield port
        return
    handler = AsyncSocketModeHandler(app, APP_TOKEN)
    try:
        await handler.connect_async()
        yield 0
    finally:
        await handler.close_async()


@asynccontextmanager
async def _listening(app: AsyncApp) -> AsyncGenerator[int]:
    """As ``AsyncApp.start`` does, on a free port."""
    runner = web.AppRunner(app.web_app(path=EVENTS_PATH), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _run(api_url: str) -> None:
    async def think() -> None:
        pass

    async with bare_bolt(api_url, "socket", think):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1]))
