"""The playground's Web API on a real port, with nothing of the playground's other parts around it."""

import socket
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from aiohttp import ClientSession, web
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from app.clock import Clock
from app.playground.calls import CallLog
from app.playground.faults import Faults
from app.playground.model import Json, SlackApp
from app.playground.origin import Origin
from app.playground.rates import RateGate
from app.playground.seed import APP_ID, BOT_TOKEN, default_workspace
from app.playground.webapi import web_api_routes
from app.playground.workspace import Workspace


class FixedSockets:
    """Hands out one address and remembers for whom."""

    def __init__(self) -> None:
        self.issued: list[str] = []

    def issue(self, app: SlackApp) -> str:
        self.issued.append(app.id)
        return "ws://127.0.0.1:1/link"


@dataclass(frozen=True, slots=True)
class Api:
    """What a test holds: the server's parts, a plain HTTP session, and Slack's own client."""

    workspace: Workspace
    origin: Origin
    calls: CallLog
    faults: Faults
    rates: RateGate
    sockets: FixedSockets
    session: ClientSession
    slack: Any
    """Slack's own ``AsyncWebClient``; ``Any``, as its methods take untyped keywords."""

    @property
    def app(self) -> SlackApp:
        return self.workspace.apps[APP_ID]

    def grant(self, *scopes: str) -> None:
        self.app.scopes.update(scopes)

    async def call(self, method: str, *, token: str | None = BOT_TOKEN, **args: Any) -> Json:
        """The answer to a call with a JSON body."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.session.post(f"{self.origin.base_url}/api/{method}", json=args, headers=headers) as response:
            answer: Json = await response.json()
            return answer

    async def error(self, method: str, *, token: str | None = BOT_TOKEN, **args: Any) -> str:
        """The name with which the call was refused; fails when it was not."""
        answer = await self.call(method, token=token, **args)
        assert answer["ok"] is False, answer
        return str(answer["error"])


async def refusal_of(call: Awaitable[Any]) -> Any:
    """The response with which a call by Slack's own client was refused; fails when it was not."""
    try:
        answer = await call
    except SlackApiError as refused:
        return cast("Any", refused).response
    raise AssertionError(answer)


@asynccontextmanager
async def open_api(*, clock: Clock | None = None, rates: bool = False) -> AsyncGenerator[Api]:
    workspace = default_workspace(clock)
    calls, faults, sockets = CallLog(), Faults(), FixedSockets()
    gate = RateGate(enabled=rates, clock=clock)
    server = web.Application()
    runner = web.AppRunner(server, shutdown_timeout=0.5)
    listening = socket.create_server(("127.0.0.1", 0))
    origin = Origin(f"http://127.0.0.1:{listening.getsockname()[1]}")
    server.add_routes(web_api_routes(workspace, rates=gate, faults=faults, origin=origin, log=calls, sockets=sockets))
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        async with ClientSession() as session:
            slack = AsyncWebClient(token=BOT_TOKEN, base_url=f"{origin.base_url}/api/", session=session)
            yield Api(workspace, origin, calls, faults, gate, sockets, session, slack)
    finally:
        await runner.cleanup()
