"""What is told several times and done once, as far as this process remembers."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

REMEMBERED = 2_000

Name = TypeVar("Name", bound=Hashable)


class Once(Generic[Name]):
    """By name. Work that fails was not done."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._under_way: dict[Name, asyncio.Event] = {}
        self._done: OrderedDict[Name, None] = OrderedDict()

    async def is_done(self, name: Name) -> bool:
        """Waits for whoever is doing it."""
        while (under_way := self._under_way.get(name)) is not None:
            await under_way.wait()
        return name in self._done

    async def do(self, name: Name, work: Callable[[], Awaitable[object]]) -> None:
        """Returns when it is done, by whoever came first. Raises what ``work`` raises here."""
        if await self.is_done(name):
            return
        over = self._under_way[name] = asyncio.Event()
        try:
            await work()
            self._done[name] = None
        finally:
            del self._under_way[name]
            over.set()
        while len(self._done) > self._remembered:
            self._done.popitem(last=False)
