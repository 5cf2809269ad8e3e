"""How a process runs, the bot's too: its event loop, its garbage collector, the socket it listens on."""

import asyncio
import errno
import gc
import socket
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any

BACKLOG = 2_048
YOUNG_OBJECTS = 20_000
"""A burst makes objects by the ten thousand; the default of 700 would collect dozens of times within one."""

STARTING_OBJECTS = 50_000
"""What is imported stays: to look through it again and again while it grows takes a fifth of a start."""


@contextmanager
def collecting_rarely() -> Generator[None]:
    """Around all that a process does, its imports too. Nobody looks once more through what ends with the process."""
    gc.set_threshold(STARTING_OBJECTS, 50, 50)
    try:
        yield
    finally:
        gc.freeze()


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work`` to its end on uvloop where it is installed (it is not on Windows), else on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def settle() -> None:
    """Called once everything long-lived is in place: it is collected a last time and then left alone."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)


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
    except (OverflowError, TypeError) as exc:  # How Python refuses a port, or a name, before the system is asked.
        listener.close()
        raise OSError(errno.EADDRNOTAVAIL, "there is no such place") from exc
    return listener
