"""Which turns a person ends by a word, and whether those tell of it themselves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from app.dispatch.conversation_keys import keys_of
from app.dispatch.dispatcher import STOPPED
from app.dispatch.keying import Keying
from app.dispatch.work import Work
from app.sessions.lines import Lines
from app.sessions.ticket import Ticket
from commands.conversations import Stopped
from commands.spec import Caller, Surface

CLEANUP_TIMED_OUT = "cleanup_timed_out"
CLEANUP_S = 30.0
"""How long a command waits for the turn it has stopped to say its last word."""

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Stopping:
    lines: Lines[Work]
    keying: Keying
    cleanup_s: float

    async def stop(self, caller: Caller) -> Stopped:
        """As ``commands.ports.Conversations`` has it."""
        ended = [ticket for ticket in self._meant(caller) if self.lines.stop_line(ticket.key)]
        return Stopped(len(ended), is_told=await self._is_told(ended, caller))

    async def left(self, ended: Ticket[Work]) -> None:
        """Return when the turn has said its last word, or takes too long for it."""
        try:
            async with asyncio.timeout(self.cleanup_s):
                await ended.left.wait()
        except TimeoutError:
            _log.warning(CLEANUP_TIMED_OUT, session_key=ended.key)

    def _meant(self, caller: Caller) -> Sequence[Ticket[Work]]:
        running = (self.lines.turn_of(key) for key in keys_of(self.keying, caller))
        here = next((ticket for ticket in running if ticket is not None), None)
        return [here] if here is not None else [each for each in self.lines.turns() if _is_own(each, caller)]

    async def _is_told(self, ended: Sequence[Ticket[Work]], caller: Caller) -> bool:
        """Whether all of them said so where the caller reads it. What was whole by then says nothing."""
        if not ended or not all(is_read_by(caller, each) for each in ended):
            return False
        for ticket in ended:
            await self.left(ticket)
        return all(ticket.outcome == STOPPED for ticket in ended)


def is_read_by(caller: Caller, turn: Ticket[Work]) -> bool:
    """Whether the turn's answer stands where a command of the caller's is answered."""
    return caller.surface is Surface.CHAT and turn.arrival.thread_key == caller.origin.thread_key


def _is_own(ticket: Ticket[Work], caller: Caller) -> bool:
    return ticket.arrival.sender == caller.id and ticket.said.message.channel_id == caller.origin.channel_id
