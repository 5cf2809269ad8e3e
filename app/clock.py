"""Time as a port, so that nothing in the house reads a clock by the side door."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from and how it is waited for."""

    def now(self) -> datetime:
        """Aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow; for measuring spans."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
