"""A browser's side of the playground page, without the browser."""

import asyncio
import io
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from app.playground.model import Json
from app.playground.server import Playground, open_playground

WAIT_S = 5.0


@dataclass(slots=True)
class PageClient:
    playground: Playground
    session: ClientSession

    async def state(self, user: str) -> Json:
        async with self.session.get(f"{self.playground.base_url}/playground/state", params={"user": user}) as answer:
            assert answer.status == 200
            return await answer.json()

    async def act(self, kind: str, user: str, **details: Any) -> Json:
        """The answer with its status."""
        url = f"{self.playground.base_url}/playground/actions"
        body = io.BytesIO(json.dumps({"type": kind, "user": user, **details}).encode())
        async with self.session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
            return {"status": answer.status, **await answer.json()}

    @asynccontextmanager
    async def feed(self, user: str, boot: str, after: int) -> AsyncGenerator["Follower"]:
        url = f"{self.playground.base_url}/playground/feed"
        async with self.session.ws_connect(url, params={"user": user, "boot": boot, "after": str(after)}) as socket:
            yield Follower(socket)

    @asynccontextmanager
    async def following(self, user: str) -> AsyncGenerator["Follower"]:
        """From now on."""
        state = await self.state(user)
        async with self.feed(user, state["boot"], state["seq"]) as follower:
            yield follower


@dataclass(slots=True)
class Follower:
    socket: ClientWebSocketResponse

    async def next(self) -> Json:
        """Raises ``TimeoutError``."""
        async with asyncio.timeout(WAIT_S):
            return await self.socket.receive_json()

    async def next_of(self, kind: str) -> Json:
        """Passes over notices of other kinds."""
        while True:
            notice = await self.next()
            if notice["type"] == kind:
                return notice

    async def closed(self) -> bool:
        async with asyncio.timeout(WAIT_S):
            message = await self.socket.receive()
        return message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED)


@dataclass(slots=True)
class SocketApp:
    """An app on Socket Mode that acknowledges everything, with an answer of its own to interactions and commands."""

    socket: ClientWebSocketResponse
    answer: Json = field(default_factory=dict[str, Any])
    heard: list[Json] = field(default_factory=list[Json])

    async def run(self) -> None:
        async for message in self.socket:
            envelope = cast("Json", json.loads(message.data))
            if "envelope_id" not in envelope:
                continue
            self.heard.append(envelope)
            wants_answer = envelope.get("accepts_response_payload") and self.answer
            ack: Json = {"envelope_id": envelope["envelope_id"]}
            await self.socket.send_json(ack | {"payload": self.answer} if wants_answer else ack)

    def interactions(self, kind: str) -> list[Json]:
        return [one["payload"] for one in self.heard if one["payload"].get("type") == kind]


@asynccontextmanager
async def page_client() -> AsyncGenerator[PageClient]:
    async with open_playground() as playground, ClientSession() as session:
        yield PageClient(playground, session)


@asynccontextmanager
async def socket_app(client: PageClient, answer: Json | None = None) -> AsyncGenerator[SocketApp]:
    app = next(iter(client.playground.workspace.apps.values()))
    headers = {"Authorization": f"Bearer {app.app_token}"}
    async with client.session.post(f"{client.playground.api_url}apps.connections.open", headers=headers) as opened:
        url = (await opened.json())["url"]
    async with client.session.ws_connect(url) as socket, asyncio.TaskGroup() as tasks:
        connected = SocketApp(socket, answer or {})
        running = tasks.create_task(connected.run())
        await client.playground.wait_connected()
        yield connected
        running.cancel()
