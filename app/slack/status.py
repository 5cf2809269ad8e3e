"""The line under a thread that says what the bot is doing (assistant.threads.setStatus)."""

import asyncio

import structlog

from app.background import Spawn
from app.clock import Clock
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.posting import Thread

STATUS_REFUSED = "slack_status_refused"
SHOW_AFTER_S = 0.15
"""An answer that comes at once needs no line that says it is coming."""
REFRESH_S = 60.0
"""Slack clears a status after two minutes without news."""

_log = structlog.stdlib.get_logger(__name__)


class SlackStatus:
    """Implements ``app.channel.StatusCard`` beside the turn: calls are made in the background, in order."""

    def __init__(self, calls: SlackCalls, thread: Thread, clock: Clock, spawn: Spawn) -> None:
        self._calls = calls
        self._thread = thread
        self._clock = clock
        self._spawn = spawn
        self._keeping: asyncio.Task[None] | None = None
        self._is_under_way = False
        """A call was begun and its end not seen: what it says may appear at any time."""
        self._is_shown = False

    async def show(self, text: str) -> None:
        """Nothing at the top of a channel, where Slack has no such line."""
        self._stop_keeping()
        if self._thread.root_ts is None:
            return
        self._keeping = self._spawn(self._keep(text), name="status", last=True)

    def replied(self) -> None:
        """A message of the bot has become visible, which clears the status on Slack's side."""
        self._stop_keeping()
        self._is_shown = False

    async def clear(self) -> None:
        self._stop_keeping()
        if self._is_shown or self._is_under_way:
            self._is_shown = self._is_under_way = False
            self._spawn(self._set(""), name="status", last=True)

    def _stop_keeping(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            self._keeping = None

    async def _keep(self, text: str) -> None:
        await self._clock.sleep(SHOW_AFTER_S)
        while True:
            self._is_under_way = True
            self._is_shown = await self._set(text)
            self._is_under_way = False
            if not self._is_shown:
                return
            await self._clock.sleep(REFRESH_S)

    async def _set(self, text: str) -> bool:
        arguments = {"channel_id": self._thread.channel, "thread_ts": self._thread.root_ts, "status": text}
        try:
            await self._calls.call("assistant.threads.setStatus", arguments)
        except (SlackRefusalError, SlackLostError) as fault:
            _log.debug(STATUS_REFUSED, reason=str(fault))
            return False
        return True
