"""A remote store whose memory service runs in the same loop, over a store of its own and behind a real socket."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from starlette.types import ASGIApp
from uvicorn.server import ServerState

from memory.service.asgi import MemoryService
from memory.service.operations import WholeStore
from memory.service.process import listen
from memory.service.protocol import BoundedProtocol
from memory.service.routes import application
from memory.service.serving import config_of
from memory.store import RankerName
from memory.stores.remote import RemoteStore
from memory.stores.remote_calls import Service

_TOKEN = "a-token-nobody-guesses"
_CLOSE_S = 5


@asynccontextmanager
async def served(
    behind: WholeStore, *, ranker: RankerName, now: Callable[[], datetime], cap: int | None
) -> AsyncGenerator[RemoteStore]:
    """A client of a service over ``behind``, which stays open."""
    async with _serving(behind) as base_url:
        store = RemoteStore(Service(base_url, _TOKEN), ranker=ranker, now=now, cap=cap)
        try:
            yield store
        finally:
            await store.aclose()


@asynccontextmanager
async def _serving(behind: WholeStore) -> AsyncGenerator[str]:
    """The service's address. What is under way at the end is answered first."""
    state = ServerState()
    gone = asyncio.Event()
    listener = listen("127.0.0.1", 0)
    app = application(MemoryService(behind, _TOKEN, build="0"))
    server = await asyncio.get_running_loop().create_server(_connections(app, state, gone), sock=listener)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.close()
        for connection in list(state.connections):
            connection.shutdown()
        async with asyncio.timeout(_CLOSE_S):
            if state.connections:
                await gone.wait()
            await asyncio.gather(*state.tasks)


def _connections(app: ASGIApp, state: ServerState, gone: asyncio.Event) -> Callable[[], BoundedProtocol]:
    """As uvicorn makes them. Its own server looks ten times a second whether it should end: too seldom for a test."""
    config = config_of(app)

    class Connection(BoundedProtocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if not state.connections:
                gone.set()

    return lambda: Connection(config, state, {})
