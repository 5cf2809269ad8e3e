"""The record of Web API calls, and a bounded way to wait for one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from app.playground.model import Json


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call that was processed, or answered by a fault in its place."""

    method: str
    args: Json
    answer: Json | None
    """``None`` when the call was never processed."""
    at: float
    """Monotonic seconds of its arrival."""
    status: int
    """The HTTP status; 0 when the connection was closed without an answer."""

    @property
    def ok(self) -> bool:
        return bool(self.answer and self.answer.get("ok"))


class CallLog:
    """Calls in the order in which they were processed."""

    def __init__(self) -> None:
        self.calls: list[ApiCall] = []
        self._arrival = asyncio.Event()

    def add(self, call: ApiCall) -> None:
        self.calls.append(call)
        self._arrival.set()
        self._arrival = asyncio.Event()

    def of(self, method: str) -> list[ApiCall]:
        return [call for call in self.calls if call.method == method]

    async def wait_for(
        self, predicate: Callable[[ApiCall], bool], *, timeout_s: float = 20.0, since: int = 0
    ) -> ApiCall:
        """The first call from index ``since`` on that satisfies; raises ``TimeoutError``."""
        seen = since
        async with asyncio.timeout(timeout_s):
            while True:
                arrival = self._arrival
                for call in self.calls[seen:]:
                    if predicate(call):
                        return call
                seen = max(seen, len(self.calls))
                await arrival.wait()
