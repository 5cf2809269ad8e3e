"""Lanes: the turns of one conversation run one after the other, conversations side by side up to a limit."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from app.channel import ThreadKey


@dataclass(slots=True)
class _Lane:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Wakes its waiters first in, first out."""
    members: int = 0
    running: asyncio.Task[Any] | None = None
    is_stopped: bool = False


class Lanes:
    def __init__(self, concurrent_turns: int) -> None:
        self._lanes: dict[ThreadKey, _Lane] = {}
        self._places = asyncio.Semaphore(concurrent_turns)

    def __len__(self) -> int:
        """Conversations with a turn under way or waiting."""
        return len(self._lanes)

    @asynccontextmanager
    async def turn(self, key: ThreadKey) -> AsyncGenerator[None]:
        """Hold the conversation's lane, and one of the places, while the body runs."""
        lane = self._lanes.setdefault(key, _Lane())
        lane.members += 1
        try:
            async with lane.turn, self._places:
                lane.running, lane.is_stopped = asyncio.current_task(), False
                try:
                    yield
                finally:
                    lane.running = None
        finally:
            lane.members -= 1
            if lane.members == 0:
                del self._lanes[key]

    def stop(self, key: ThreadKey) -> bool:
        """Cancel the turn that runs in the lane; ``False`` when none does."""
        lane = self._lanes.get(key)
        if lane is None or lane.running is None:
            return False
        lane.is_stopped = True
        lane.running.cancel()
        return True

    def is_stopped(self, key: ThreadKey) -> bool:
        """Whether the running turn was cancelled by ``stop`` rather than by the end of the process."""
        lane = self._lanes.get(key)
        return lane is not None and lane.is_stopped
