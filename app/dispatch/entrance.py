"""The way in, kept narrow: a burst of messages must not hold up the acknowledgement of those still arriving."""

import asyncio

WIDTH = 8
"""Messages that may look around (thread, memory, names) at one time. The work is short and mostly waits for the
network; every further one at work delays the event loop's answer to Slack, which counts three seconds."""


class Entrance:
    """``async with`` it around the busy start of a turn; first come, first served."""

    def __init__(self, width: int = WIDTH) -> None:
        self._places = asyncio.Semaphore(width)

    async def __aenter__(self) -> None:
        await self._places.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._places.release()
