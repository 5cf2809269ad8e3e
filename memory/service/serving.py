"""The service's server: one socket, uvicorn with uvloop, and an end that lets what is under way be answered."""

import asyncio
import resource
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import structlog
import uvicorn
from starlette.types import ASGIApp

from memory.service.process import settle
from memory.service.protocol import DEFAULT_HTTP_BOUNDS, BoundedProtocol, HttpBounds

SERVICE_READY = "memory_service_ready"
SERVICE_STOPPED = "memory_service_stopped"

DRAIN_S = 20
KEEP_ALIVE_S = 75
"""Longer than the clients keep a connection that is not in use, so that they are the ones who close it."""
_SPARE_FILES = 512

_log = structlog.stdlib.get_logger(__name__)


class _Server(uvicorn.Server):
    """Tells when it is ready, and leaves the process's signals to ``serve``."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or [])[0].getsockname()[:2]
        _log.info(SERVICE_READY, host=host, http_port=port)

    def stop(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(service: ASGIApp, listener: socket.socket, *, request_s: float = 10.0) -> None:
    """Serve until SIGINT or SIGTERM; requests that are under way then are answered first, within ``DRAIN_S``."""
    server = _Server(config_of(service, _bounds(request_s)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    settle()
    await server.serve(sockets=[listener])
    _log.info(SERVICE_STOPPED)


def config_of(service: ASGIApp, bounds: HttpBounds = DEFAULT_HTTP_BOUNDS) -> uvicorn.Config:
    """How ``service`` is served: over the bounded protocol, which adds nothing to its answers."""
    protocol = type("Protocol", (BoundedProtocol,), {"bounds": bounds})
    return uvicorn.Config(
        service,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=DRAIN_S,
    )


def _bounds(request_s: float) -> HttpBounds:
    """Every connection is an open file, and the usual allowance of 1,024 is a small one: take what there is."""
    wanted = 2 * DEFAULT_HTTP_BOUNDS.connections + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return replace(DEFAULT_HTTP_BOUNDS, request_s=request_s, connections=max(1, (most - _SPARE_FILES) // 2))
