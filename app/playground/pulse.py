"""A heartbeat of the playground: something happened, so whoever waits for something looks again."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_LOOK_AGAIN_S = 0.05
"""A condition may also read things outside the playground (the bot's own state), which beat no pulse."""


class Pulse:
    """Beats are coalesced: a waiter looks once after any number of them."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def beat(self) -> None:
        self._next.set()
        self._next = asyncio.Event()

    async def wait_for(self, predicate: Callable[[], T | None], timeout_s: float = 20.0) -> T:
        """The first truthy answer of ``predicate``; raises ``TimeoutError`` when there is none in time."""
        async with asyncio.timeout(timeout_s):
            while True:
                following = self._next
                found = predicate()
                if found:
                    return found
                try:
                    async with asyncio.timeout(_LOOK_AGAIN_S):
                        await following.wait()
                except TimeoutError:
                    continue
