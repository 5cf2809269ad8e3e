"""The playground as one server on loopback: Web API, files, Socket Mode, response URLs and the page."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from app.clock import Clock
from app.playground.calls import CallLog
from app.playground.delivery import AckTimes, Delivery
from app.playground.faults import Faults
from app.playground.model import Message
from app.playground.origin import Origin
from app.playground.people import People
from app.playground.pulse import Pulse
from app.playground.rates import RateGate
from app.playground.seed import default_workspace
from app.playground.webapi import web_api_routes
from app.playground.workspace import Workspace

if TYPE_CHECKING:
    from app.playground.page import Page

T = TypeVar("T")

_UPLOAD_MAX_BYTES = 256 * 1024 * 1024
_SHUTDOWN_S = 1.0
_LAPSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Playground:
    """A running playground: what tests and the bot's operator hold on to."""

    workspace: Workspace
    people: People
    faults: Faults
    delivery: Delivery
    calls: CallLog
    rates: RateGate
    origin: Origin
    pulse: Pulse

    @property
    def base_url(self) -> str:
        return self.origin.base_url

    @property
    def api_url(self) -> str:
        """What ``SLACK_API_URL`` or a client's ``base_url`` is set to."""
        return f"{self.origin.base_url}/api/"

    async def wait_for(self, predicate: Callable[[], T | None], timeout_s: float = 20.0) -> T:
        """The first truthy answer of ``predicate``, asked again whenever something happens.

        Raises ``TimeoutError``.
        """
        return await self.pulse.wait_for(predicate, timeout_s)

    async def wait_connected(self, connections: int = 1, timeout_s: float = 20.0) -> None:
        """Until the app has that many Socket Mode connections."""
        await self.wait_for(lambda: self.delivery.connections() >= connections, timeout_s)

    def thread(self, channel: str, root_ts: str) -> list[Message]:
        """The root first."""
        return self.workspace.thread(channel, root_ts)

    def answer_text(self, channel: str, root_ts: str) -> str:
        """All the bot has said in the thread as Markdown: its messages in order, nothing put between them."""
        return "".join(_markdown(message) for message in self._said_by_bot(channel, root_ts))

    async def answer(self, channel: str, root_ts: str, timeout_s: float = 20.0) -> str:
        """``answer_text`` once the bot has said something, no stream is live and its status is cleared.

        Raises ``TimeoutError``.
        """

        def finished() -> str | None:
            said = self._said_by_bot(channel, root_ts)
            is_live = any(message.stream and message.stream.state == "in_progress" for message in said)
            is_busy = is_live or (channel, root_ts) in self.workspace.thread_status
            return None if is_busy else self.answer_text(channel, root_ts)

        return await self.wait_for(finished, timeout_s)

    def _said_by_bot(self, channel: str, root_ts: str) -> list[Message]:
        bot_id = next(iter(self.workspace.apps.values())).bot_id
        return [message for message in self.thread(channel, root_ts) if message.bot_id == bot_id]


def _markdown(message: Message) -> str:
    """What the message says: a live stream's text so far, or else its markdown blocks, or else its text."""
    if message.stream is not None and message.stream.state == "in_progress":
        return message.stream.markdown
    parts = [str(block["text"]) for block in message.blocks if block.get("type") == "markdown"]
    return "\n".join(parts) or message.text


@asynccontextmanager
async def open_playground(  # noqa: PLR0913 - each is a wish of its own, and all have defaults
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    workspace: Workspace | None = None,
    clock: Clock | None = None,
    enforce_rates: bool = True,
    with_page: bool = True,
    times: AckTimes | None = None,
) -> AsyncGenerator[Playground]:
    """A playground that serves until the context ends; ``port`` 0 takes a free one."""
    workspace = workspace or default_workspace(clock)
    listener = socket.create_server((host, port))
    with listener:
        origin = Origin(f"http://{host}:{listener.getsockname()[1]}")
        async with Delivery(workspace, origin, times=times) as delivery:
            playground = Playground(
                workspace=workspace,
                people=People(workspace, delivery),
                faults=Faults(),
                delivery=delivery,
                calls=CallLog(),
                rates=RateGate(enabled=enforce_rates, clock=workspace.clock),
                origin=origin,
                pulse=delivery.pulse,
            )
            async with _served(playground, listener, with_page=with_page):
                yield playground


@asynccontextmanager
async def _served(playground: Playground, listener: socket.socket, *, with_page: bool) -> AsyncGenerator[None]:
    application = web.Application(client_max_size=_UPLOAD_MAX_BYTES, middlewares=[_beating(playground.pulse)])
    application.add_routes(_slack_routes(playground))
    async with AsyncExitStack() as stack:
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_SHUTDOWN_S)
        stack.push_async_callback(runner.cleanup)
        if with_page:
            page = await asyncio.to_thread(_page, playground)
            application.add_routes(page.routes())
            stack.callback(page.close)
        stack.push_async_callback(playground.delivery.close)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        lapsing = asyncio.ensure_future(_lapse(playground.workspace))
        stack.callback(lapsing.cancel)
        yield


async def _lapse(workspace: Workspace) -> None:
    """End streams and statuses when their time is up, also while nobody calls."""
    while True:
        await asyncio.sleep(_LAPSE_S)
        workspace.lapse()


def _page(playground: Playground) -> "Page":
    """In a thread: the import and the look at the static files read the disk."""
    from app.playground.page import Page

    return Page(playground.workspace, playground.people)


def _slack_routes(playground: Playground) -> list[web.RouteDef]:
    return [
        *web_api_routes(
            playground.workspace,
            rates=playground.rates,
            faults=playground.faults,
            origin=playground.origin,
            log=playground.calls,
            sockets=playground.delivery.sockets,
        ),
        *playground.delivery.routes(),
    ]


def _beating(pulse: Pulse) -> Middleware:
    """Every finished request may be what a test waits for."""

    @web.middleware
    async def beat(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        finally:
            pulse.beat()

    return beat
