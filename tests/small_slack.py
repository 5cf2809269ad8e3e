"""A Slack of a few answers on loopback, for looking at how the bot finds out whether Slack works."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import WSCloseCode, web

from app.slack.health import SlackAccess
from app.slack.manifest import BOT_SCOPES

BOT_TOKEN = "xoxb-test-bot"
APP_TOKEN = "xapp-test-app"
Json = dict[str, object]
IDENTITY: Json = {
    "ok": True,
    "team": "Acme",
    "team_id": "T1",
    "user": "switchboard",
    "user_id": "U1",
    "bot_id": "B1",
}


@dataclass
class SmallSlack:
    """What the server answers; a test changes what it is about."""

    identity: Json = field(default_factory=lambda: dict(IDENTITY))
    scopes: str | None = ",".join(BOT_SCOPES)
    open_error: str | None = None
    greetings: Sequence[str] = ('{"type": "hello", "num_connections": 1}',)
    hangs_up: bool = False
    silent: bool = False
    raw: tuple[int, str, str] | None = None
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    heard: list[str] = field(default_factory=list[str])
    """What came over the connection."""
    goodbyes: int = 0
    address: str = ""

    async def identify(self, request: web.Request) -> web.Response:
        self.calls.append(("auth.test", request.headers["Authorization"]))
        if self.silent:
            await asyncio.Event().wait()
        if self.raw is not None:
            status, media_type, body = self.raw
            return web.Response(status=status, content_type=media_type, text=body)
        headers = {} if self.scopes is None else {"X-OAuth-Scopes": self.scopes}
        return web.json_response(self.identity, headers=headers)

    async def open_connection(self, request: web.Request) -> web.Response:
        self.calls.append(("apps.connections.open", request.headers["Authorization"]))
        if self.open_error is not None:
            return web.json_response({"ok": False, "error": self.open_error})
        return web.json_response({"ok": True, "url": f"{self.address.replace('http', 'ws', 1)}/link?ticket=t"})

    async def link(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for greeting in self.greetings:
            await socket.send_str(greeting)
        if self.hangs_up:
            await socket.close(code=WSCloseCode.GOING_AWAY)
        async for said in socket:
            self.heard.append(said.data)
        self.goodbyes += 1
        return socket


@asynccontextmanager
async def open_small_slack() -> AsyncGenerator[SmallSlack]:
    state = SmallSlack()
    app = web.Application()
    app.router.add_post("/api/auth.test", state.identify)
    app.router.add_post("/api/apps.connections.open", state.open_connection)
    app.router.add_get("/link", state.link)
    runner = web.AppRunner(app, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    state.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield state
    finally:
        await runner.cleanup()


def access(address: str, *, timeout_s: float = 5.0, secret: str | None = None) -> SlackAccess:
    return SlackAccess(
        mode="http" if secret else "socket",
        api_url=f"{address}/api/",
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        signing_secret=secret,
        timeout_s=timeout_s,
    )
