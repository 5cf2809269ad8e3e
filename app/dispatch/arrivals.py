"""The way from acceptance to the line: whatever has to be looked up before, nobody overtakes there."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from app.sessions.entry import SessionKey


class Arrivals:
    """Messages of one conversation, in the order in which they came; conversations do not wait for each other."""

    def __init__(self) -> None:
        self._coming: dict[SessionKey, list[asyncio.Event]] = {}

    @asynccontextmanager
    async def in_order(self, key: SessionKey) -> AsyncGenerator[None]:
        """Bodies run side by side and are left in the order in which they were entered.

        What follows without a wait is done before the next one leaves.
        """
        is_first = asyncio.Event()
        coming = self._coming.setdefault(key, [])
        if not coming:
            is_first.set()
        coming.append(is_first)
        try:
            yield
            await is_first.wait()
        finally:
            coming.remove(is_first)
            if coming:
                coming[0].set()
            else:
                del self._coming[key]
