"""Real Bolt apps against the playground: made, connected and closed again."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession, web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from app.playground.delivery import AckTimes
from app.playground.happenings import EphemeralPosted, Happening
from app.playground.seed import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from app.playground.server import Playground, open_playground

Json = dict[str, Any]
Listener = Callable[..., Awaitable[None]]
Register = Callable[[Any], object]
"""Puts listeners on a Bolt app, whose own types strict checking cannot follow."""


def bolt_app(playground: Playground, signing_secret: str = SIGNING_SECRET) -> AsyncApp:
    """An app with the seed's credentials and no listeners."""
    client = AsyncWebClient(token=BOT_TOKEN, base_url=playground.api_url)
    return AsyncApp(token=BOT_TOKEN, signing_secret=signing_secret, client=client)


def listening(playground: Playground) -> tuple[AsyncApp, list[Json]]:
    """An app that takes every event, and the bodies it got."""
    app, heard = bolt_app(playground), list[Json]()

    async def hear(body: Json) -> None:
        heard.append(body)

    all_of(on_event("app_mention", hear), on_event("message", hear))(app)
    return app, heard


def slack_api(playground: Playground) -> Any:
    """The SDK's own client with the bot's token."""
    return bolt_app(playground).client


@asynccontextmanager
async def connected(
    playground: Playground, app: AsyncApp, *, ping_interval_s: float = 5
) -> AsyncGenerator[AsyncSocketModeHandler]:
    """The app over Socket Mode, connected when the block starts."""
    before = playground.delivery.connections()
    handler = AsyncSocketModeHandler(app, APP_TOKEN, ping_interval=ping_interval_s)
    try:
        await handler.connect_async()
        await playground.wait_connected(before + 1)
        yield handler
    finally:
        await handler.close_async()


@asynccontextmanager
async def playing(register: Register, timeout_s: float = 3.0) -> AsyncGenerator[Playground]:
    """A playground with a connected app on which ``register`` has put its listeners; nothing is redelivered."""
    times = AckTimes(timeout_s=timeout_s, retry_after_s=())
    async with open_playground(with_page=False, enforce_rates=False, times=times) as playground:
        app = bolt_app(playground)
        all_of(on_event("message", _ignore), register)(app)
        async with connected(playground, app):
            yield playground


async def _ignore() -> None:
    pass


def nothing(_: Any) -> None:
    """No listeners."""


def on_action(name: str, listener: Listener) -> Register:
    return lambda app: app.action(name)(listener)


def on_command(name: str, listener: Listener) -> Register:
    return lambda app: app.command(name)(listener)


def on_shortcut(name: str, listener: Listener) -> Register:
    return lambda app: app.shortcut(name)(listener)


def on_event(name: str, listener: Listener) -> Register:
    return lambda app: app.event(name)(listener)


def on_view(callback_id: str, listener: Listener) -> Register:
    return lambda app: app.view(callback_id)(listener)


def on_view_closed(callback_id: str, listener: Listener) -> Register:
    return lambda app: app.view_closed(callback_id)(listener)


def all_of(*registers: Register) -> Register:
    return lambda app: [register(app) for register in registers]


def taking(bodies: list[Json]) -> Listener:
    """A listener that acknowledges and keeps the body."""

    async def take(ack: Any, body: Json) -> None:
        await ack()
        bodies.append(body)

    return take


def ephemerals(playground: Playground) -> list[EphemeralPosted]:
    """Filled with the ephemeral messages from now on."""
    seen: list[EphemeralPosted] = []

    def see(happening: Happening) -> None:
        if isinstance(happening, EphemeralPosted):
            seen.append(happening)

    playground.workspace.subscribe(see)
    return seen


@asynccontextmanager
async def serving(application: web.Application, path: str = "/slack/events") -> AsyncGenerator[str]:
    """An aiohttp application on a free port; gives the address of ``path``."""
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = int(runner.addresses[0][1])
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def recording(playground: Playground, *, acknowledges: bool = True) -> AsyncGenerator[list[Json]]:
    """A bare Socket Mode client that keeps the payloads and acknowledges all or none of them."""
    payloads: list[Json] = []
    opened = await slack_api(playground).apps_connections_open(app_token=APP_TOKEN)
    async with ClientSession() as session, session.ws_connect(str(opened["url"])) as socket:
        await socket.receive_json(timeout=5)

        async def record() -> None:
            async for message in socket:
                envelope: Json = message.json()
                if acknowledges:
                    await socket.send_json({"envelope_id": envelope["envelope_id"]})
                payloads.append(envelope["payload"])

        task = asyncio.create_task(record())
        try:
            yield payloads
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
