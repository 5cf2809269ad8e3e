"""The line under a thread that says what the bot is doing (assistant.threads.setStatus)."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from app.background import Spawn
from app.buckets import Buckets, Rate
from app.clock import Clock
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.posting import Thread

STATUS_REFUSED = "slack_status_refused"
SHOW_AFTER_S = 0.15
"""An answer that comes at once needs no line that says it is coming."""
REFRESH_S = 60.0
"""Slack clears a status after two minutes without news."""
RATE = Rate(burst=60, per_s=9.0)
"""Slack takes 600 a minute (its documentation of the method), and so many are these in the fullest one. What is more is
refused, after all the work of calling."""
_METHOD = "assistant.threads.setStatus"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class _Waiting:
    """A status that is not shown yet."""

    due_s: float
    begin: Callable[[], None]
    is_over: bool = False


class Statuses:
    """Of one workspace: shown as fast as Slack takes them, who waits longest first."""

    def __init__(self, calls: SlackCalls, clock: Clock, spawn: Spawn, rate: Rate = RATE) -> None:
        self.clock = clock
        self.spawn = spawn
        self._calls = calls
        self._buckets = Buckets(rate, clock)
        self._waiting: deque[_Waiting] = deque()
        self._left = 0
        """How many of them are not over."""
        self._showing: asyncio.Task[None] | None = None

    def soon(self, begin: Callable[[], None]) -> Callable[[], None]:
        """``begin`` is called when a status may be shown, unless what is returned is called before."""
        waiting = _Waiting(self.clock.monotonic() + SHOW_AFTER_S, begin)
        self._waiting.append(waiting)
        self._left += 1
        if self._showing is None:
            self._showing = self.spawn(self._show(), name="statuses", last=True)
        return lambda: self._end(waiting)

    async def room(self) -> None:
        """Return when one more call may be made, which is counted."""
        while wait_s := self._buckets.wait_s(_METHOD):
            await self.clock.sleep(wait_s)

    async def clear(self, thread: Thread) -> None:
        """At once: what is wrong under a thread cannot wait."""
        self._buckets.wait_s(_METHOD)
        await self.set(thread, "")

    async def set(self, thread: Thread, text: str) -> bool:
        """Whether Slack has taken it. Whoever calls has waited for ``room``."""
        arguments = {"channel_id": thread.channel, "thread_ts": thread.root_ts, "status": text}
        try:
            await self._calls.call(_METHOD, arguments)
        except (SlackRefusalError, SlackLostError) as fault:
            _log.debug(STATUS_REFUSED, reason=str(fault))
            return False
        return True

    def _end(self, waiting: _Waiting) -> None:
        if waiting.is_over:
            return
        waiting.is_over = True
        self._left -= 1
        if not self._left and self._showing is not None:
            self._showing.cancel()
            self._showing = None
            self._waiting.clear()

    async def _show(self) -> None:
        """One after the other, until nobody waits."""
        while self._waiting:
            first = self._waiting[0]
            if first.is_over:
                self._waiting.popleft()
            elif (early_s := first.due_s - self.clock.monotonic()) > 0:
                await self.clock.sleep(early_s)
            elif wait_s := self._buckets.wait_s(_METHOD):
                await self.clock.sleep(wait_s)
            else:
                self._waiting.popleft()
                first.is_over = True
                self._left -= 1
                first.begin()
        self._showing = None


class SlackStatus:
    """Implements ``app.channel.StatusCard`` beside the turn: calls are made in the background, in order."""

    def __init__(self, statuses: Statuses, thread: Thread) -> None:
        self._statuses = statuses
        self._thread = thread
        self._withdraw: Callable[[], None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._is_under_way = False
        """A call was begun and its end not seen: what it says may appear at any time."""
        self._is_shown = False

    async def show(self, text: str) -> None:
        """Nothing at the top of a channel, where Slack has no such line."""
        self._stop_keeping()
        if self._thread.root_ts is not None:
            self._withdraw = self._statuses.soon(lambda: self._begin(text))

    def replied(self) -> None:
        """A message of the bot has become visible, which clears the status on Slack's side."""
        self._stop_keeping()
        self._is_shown = False

    async def clear(self) -> None:
        self._stop_keeping()
        if self._is_shown or self._is_under_way:
            self._is_shown = self._is_under_way = False
            self._statuses.spawn(self._statuses.clear(self._thread), name="status", last=True)

    def _stop_keeping(self) -> None:
        if self._withdraw is not None:
            self._withdraw()
            self._withdraw = None
        if self._keeping is not None:
            self._keeping.cancel()
            self._keeping = None

    def _begin(self, text: str) -> None:
        self._keeping = self._statuses.spawn(self._keep(text), name="status", last=True)

    async def _keep(self, text: str) -> None:
        """Shown until it is cancelled; there is room for the first call."""
        while True:
            self._is_under_way = True
            self._is_shown = await self._statuses.set(self._thread, text)
            self._is_under_way = False
            if not self._is_shown:
                return
            await self._statuses.clock.sleep(REFRESH_S)
            await self._statuses.room()
