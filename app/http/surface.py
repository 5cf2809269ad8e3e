"""The one HTTP surface: health for whoever watches the process, and the routes that adapters bring."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from app.background import beside
from app.errors import ConfigurationError
from memory.service.process import listen

CLOSE_S = 3


def surface(is_ready: Callable[[], bool], routes: Sequence[BaseRoute] = ()) -> Starlette:
    """``/healthz`` says that the process lives, ``/readyz`` (200 or 503) whether messages reach it."""

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse({"ok": True})

    async def readyz(_request: Request) -> JSONResponse:
        ready = is_ready()
        return JSONResponse({"ready": ready}, status_code=200 if ready else 503)

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), *routes])


@asynccontextmanager
async def serving(app: Starlette, host: str, port: int) -> AsyncGenerator[int]:
    """Serve ``app`` while the body runs; yields the bound port. Raises ``ConfigurationError`` for a port in use."""
    listener = _bind(host, port)
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=CLOSE_S, server_header=False
    )
    server = _Server(config)
    with closing(listener):
        async with beside(server.serve(sockets=[listener]), name="http") as task:
            try:
                yield listener.getsockname()[1]
            finally:
                server.should_exit = True
                await asyncio.wait([task])


class _Server(uvicorn.Server):
    """Leaves the process's signals to the application, which drains before it closes."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def _bind(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except OSError as fault:
        raise ConfigurationError(
            f"http.host and http.port: cannot listen on {host}:{port} ({fault.strerror})"
        ) from fault
