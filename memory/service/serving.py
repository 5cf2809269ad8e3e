"""The service's server: one socket, uvicorn with uvloop, and an end that lets what is under way be answered."""

import asyncio
import gc
import resource
import signal
import socket
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import structlog
import uvicorn
from starlette.types import ASGIApp

from memory.service.protocol import DEFAULT_HTTP_BOUNDS, BoundedProtocol, HttpBounds

SERVICE_READY = "memory_service_ready"
SERVICE_STOPPED = "memory_service_stopped"

BACKLOG = 2_048
DRAIN_S = 20
KEEP_ALIVE_S = 75
"""Longer than the clients keep a connection that is not in use, so that they are the ones who close it."""
YOUNG_OBJECTS = 20_000
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


def listen(host: str, port: int) -> socket.socket:
    """A socket there; port 0 takes any free one. Raises ``OSError``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Naming the protocol is what makes asyncio send small answers at once (TCP_NODELAY).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


async def serve(service: ASGIApp, listener: socket.socket, *, request_s: float = 10.0) -> None:
    """Serve until SIGINT or SIGTERM; requests that are under way then are answered first, within ``DRAIN_S``."""
    server = _Server(config_of(service, _bounds(request_s)))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    _settle()
    await server.serve(sockets=[listener])
    _log.info(SERVICE_STOPPED)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run ``work`` to its end on uvloop where it is installed."""
    factory = None
    with suppress(ImportError):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(work())


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


def _settle() -> None:
    """What there is now lives as long as the process; the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)
