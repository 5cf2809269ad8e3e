"""The open Socket Mode connections of one app, used in turn."""

import asyncio
from collections import deque
from dataclasses import dataclass

from aiohttp import web


@dataclass(eq=False, slots=True)
class Line:
    """One connection."""

    socket: web.WebSocketResponse
    transport: asyncio.Transport | None
    closing: asyncio.TimerHandle | None = None

    def cut(self) -> None:
        """End it as a broken network does: no closing handshake."""
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()


class Lines:
    """Round robin over the usable connections; whoever needs one waits in the order of asking."""

    def __init__(self) -> None:
        self._usable: deque[Line] = deque()
        self._retired: set[Line] = set()
        self._arrival = asyncio.Event()

    def __len__(self) -> int:
        return len(self._usable) + len(self._retired)

    def all(self) -> list[Line]:
        return [*self._usable, *self._retired]

    def add(self, line: Line) -> None:
        self._usable.append(line)
        self._arrival.set()

    def remove(self, line: Line) -> None:
        """Does nothing for a line that is gone already."""
        self._take_out(line)
        self._retired.discard(line)
        if line.closing is not None:
            line.closing.cancel()

    def retire(self, line: Line, grace_s: float) -> None:
        """Send nothing more on it, and cut it after ``grace_s`` if the client has not closed it."""
        self._take_out(line)
        self._retired.add(line)
        line.closing = asyncio.get_running_loop().call_later(grace_s, line.cut)

    def _take_out(self, line: Line) -> None:
        if line in self._usable:
            self._usable.remove(line)
        if not self._usable:
            self._arrival.clear()

    async def wait(self) -> None:
        """Until there is a usable connection."""
        await self._arrival.wait()

    async def next(self) -> Line:
        while not self._usable:
            await self._arrival.wait()
        line = self._usable[0]
        self._usable.rotate(-1)
        return line
