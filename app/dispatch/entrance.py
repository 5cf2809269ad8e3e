"""The way in, kept narrow: a burst of messages must not hold up the acknowledgement of those still arriving."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

WIDTH = 16
"""Messages that may look around (thread, memory, names) at one time. The work is short and mostly waits for the
network; every further one at work delays the event loop's answer to Slack, which counts three seconds."""
CROWD = 64
"""Messages that may be being written down while others come in; more of them are a burst, and go first. In a busy hour
some are at nearly every moment, and dozens once the machine is slow: who waited then would come all the later."""
PATIENCE_S = 0.25
"""So long work gives way to a burst."""


class Entrance:
    """``async with`` it around the busy start of a turn; first come, first served, a burst before all."""

    def __init__(self, width: int = WIDTH, *, crowd: int = CROWD, patience_s: float = PATIENCE_S) -> None:
        self._places = asyncio.Semaphore(width)
        self._crowd = crowd
        self._patience_s = patience_s
        self._arriving = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()

    @contextmanager
    def arriving(self) -> Generator[None]:
        """Around the acceptance of a message, which the platform waits for."""
        self._arriving += 1
        if self._arriving > self._crowd:
            self._is_quiet.clear()
        try:
            yield
        finally:
            self._arriving -= 1
            if self._arriving <= self._crowd:
                self._is_quiet.set()

    async def __aenter__(self) -> None:
        await self._places.acquire()
        if self._is_quiet.is_set():
            return
        try:
            async with asyncio.timeout(self._patience_s):
                await self._is_quiet.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            self._places.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._places.release()
