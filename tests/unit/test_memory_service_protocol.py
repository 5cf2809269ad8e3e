"""How the memory service reads HTTP, where that shows on no answer."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from memory.service.protocol import BoundedProtocol, HttpBounds
from memory.service.sending import send_object
from memory.service.serving import config_of

REQUEST = b"POST /export HTTP/1.1\r\nHost: memory\r\nContent-Length: 2\r\n\r\n{}"


class Listening:
    """An application that answers nobody: it waits for what is heard behind the body."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.heard: list[str] = []

    async def __call__(self, _scope: Scope, receive: Receive, _send: Send) -> None:
        self.heard.append((await receive())["type"])
        self.begun.set()
        self.heard.append((await receive())["type"])


async def test_a_request_that_takes_too_long_does_not_break_into_the_answer_before_it() -> None:
    may_answer = asyncio.Event()

    async def slow(_scope: Scope, _receive: Receive, send: Send) -> None:
        await may_answer.wait()
        await send_object(send, 200, b"{}")

    class Hasty(BoundedProtocol):
        bounds = HttpBounds(request_s=0.05)

    state = ServerState()
    server = await asyncio.get_running_loop().create_server(lambda: Hasty(config_of(slow), state, {}), "127.0.0.1", 0)
    async with server, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(2 * REQUEST + REQUEST[:-1])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.5)
        may_answer.set()
        told = await reader.read()
        writer.close()
        await writer.wait_closed()
    assert (told.count(b"200 OK"), told.count(b"HTTP/1.1")) == (2, 2)


async def test_whoever_hangs_up_has_hung_up_for_every_request_of_theirs() -> None:
    """The server itself tells only the one that came last, and writing to what is closed is an error."""
    app, state = Listening(), ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: BoundedProtocol(config_of(app), state, {}), "127.0.0.1", 0
    )
    async with server, asyncio.timeout(20):
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(3 * REQUEST)
        await app.begun.wait()
        writer.close()
        await writer.wait_closed()
        await asyncio.gather(*state.tasks)
    assert app.heard == ["http.request", "http.disconnect"]
