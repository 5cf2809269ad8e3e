"""One message, top to bottom: claimed once, in line behind its thread, answered, accounted for."""

import asyncio

import structlog

from app.channel import Address, Chat, IncomingMessage, ThreadKey
from app.clock import Clock
from app.dispatch import wording
from app.dispatch.answering import Answering, Outcome
from app.dispatch.entrance import Entrance
from app.dispatch.ports import Limits, Ports
from app.errors import ChannelUnavailableError
from app.sessions.lanes import Lanes

TURN_FINISHED = "turn_finished"
THREAD_UNREADABLE = "thread_unreadable"
NOT_MEANT = "not_meant"

_log = structlog.stdlib.get_logger(__name__)


class Dispatcher:
    def __init__(self, ports: Ports, limits: Limits, clock: Clock) -> None:
        self._inbox = ports.inbox
        self._entrance = Entrance()
        self._answering = Answering(ports, limits, self._entrance)
        self._lanes = Lanes(limits.concurrent_turns)
        self._clock = clock

    @property
    def conversations(self) -> int:
        """How many have a turn under way or waiting."""
        return len(self._lanes)

    async def accept(self, message: IncomingMessage) -> bool:
        """Claim the message before the platform is acknowledged; ``False`` for one that was claimed before."""
        return await self._inbox.accept(message)

    def stop(self, thread: ThreadKey) -> bool:
        """End the turn that runs in ``thread``; ``False`` when none does."""
        return self._lanes.stop(thread)

    async def handle(self, message: IncomingMessage, chat: Chat) -> str:
        """See an accepted message to its end; the outcome's name."""
        with structlog.contextvars.bound_contextvars(
            reference=message.reference, thread=message.thread_key, user=message.user_id
        ):
            if not await self._is_meant(message, chat):
                return NOT_MEANT
            try:
                return await self._in_line(message, chat)
            except asyncio.CancelledError:
                await self._answering.say(chat, wording.restarted(message.reference), "interrupted")
                raise

    async def _in_line(self, message: IncomingMessage, chat: Chat) -> str:
        arrived_s = self._clock.monotonic()
        async with self._lanes.turn(message.thread_key):
            began_s = self._clock.monotonic()
            outcome = await self._answer(message, chat)
            self._account(outcome, began_s - arrived_s, self._clock.monotonic() - began_s)
            return outcome.name

    async def _is_meant(self, message: IncomingMessage, chat: Chat) -> bool:
        if message.address is not Address.FOLLOW_UP:
            return True
        try:
            async with self._entrance:
                return await chat.takes_part()
        except ChannelUnavailableError as fault:
            # Most unmentioned replies are not for the bot, so silence is the lesser evil; the log says it was blind.
            _log.warning(THREAD_UNREADABLE, reason=str(fault))
            return False

    async def _answer(self, message: IncomingMessage, chat: Chat) -> Outcome:
        try:
            return await self._answering.answer(message, chat)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or not self._lanes.is_stopped(message.thread_key):
                raise
            task.uncancel()
            return await self._answering.say(chat, wording.STOPPED, "stopped")

    def _account(self, outcome: Outcome, waited_s: float, took_s: float) -> None:
        """The turn's one canonical line."""
        details: dict[str, object] = {}
        if outcome.result is not None and outcome.recalled is not None:
            result, recalled = outcome.result, outcome.recalled
            details = {
                "agent": outcome.agent,
                "model": outcome.model,
                "stop_reason": result.stop_reason.value,
                "input_tokens": result.usage.input_tokens,
                "output_tokens": result.usage.output_tokens,
                "cache_read_tokens": result.usage.cache_read_tokens,
                "cache_write_tokens": result.usage.cache_write_tokens,
                "memory_records": len(recalled.records),
                "memory_degraded": recalled.is_degraded,
                "first_text_ms": None if result.first_text_s is None else round(result.first_text_s * 1000),
            }
        _log.info(
            TURN_FINISHED,
            outcome=outcome.name,
            waited_ms=round(waited_s * 1000),
            took_ms=round(took_s * 1000),
            **details,
        )
