"""Answers that could not be shown, tried again after a while."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from app.background import Spawn, beside
from app.clock import Clock

PAUSES_S = (30.0, 120.0, 600.0, 3600.0)
"""After the first failure, the second and so on, the last one for ever: a platform may be away for hours."""

Attempt = Callable[[], Coroutine[Any, Any, object]]


@dataclass(frozen=True, slots=True)
class _Owed:
    due_s: float
    attempt: Attempt


class Redelivery:
    """``run`` it beside the bot; ended with the process, it leaves what is owed to the journal.

    Each attempt is a task of its own: one that fails or takes long holds up no other, and the drain counts it.
    """

    def __init__(self, clock: Clock, spawn: Spawn) -> None:
        self._clock = clock
        self._spawn = spawn
        self._owed: list[_Owed] = []
        self._more = asyncio.Event()

    def __len__(self) -> int:
        return len(self._owed)

    def later(self, attempts: int, attempt: Attempt) -> None:
        """Call ``attempt`` after the pause that ``attempts`` so far ask for."""
        self.after(PAUSES_S[min(attempts, len(PAUSES_S)) - 1], attempt)

    def after(self, pause_s: float, attempt: Attempt) -> None:
        self._owed.append(_Owed(self._clock.monotonic() + pause_s, attempt))
        self._more.set()

    async def run(self) -> None:
        while True:
            self._more.clear()
            if not self._owed:
                await self._more.wait()
                continue
            first = min(self._owed, key=lambda owed: owed.due_s)
            pause_s = first.due_s - self._clock.monotonic()
            if pause_s > 0:
                await self._rest(pause_s)
                continue
            self._owed.remove(first)
            self._spawn(first.attempt(), name="redelivery")

    async def _rest(self, pause_s: float) -> None:
        """Until the pause is over, or there is more, which may be due before."""
        async with beside(self._wake_after(pause_s), name="redelivery_pause"):
            await self._more.wait()

    async def _wake_after(self, pause_s: float) -> None:
        await self._clock.sleep(pause_s)
        self._more.set()
