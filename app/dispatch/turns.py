"""One turn of an agent, from the session it belongs to, to the answer that is delivered and kept."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from app.agents.loop import TurnResult
from app.channel import Reference
from app.dispatch import wording
from app.dispatch.boundary import TurnBoundary
from app.dispatch.entrance import Entrance
from app.dispatch.fitting import Fitting
from app.dispatch.journal import Accepted, TurnRecord
from app.dispatch.outbox import WITHDRAWN, Outbox
from app.dispatch.ports import Limits, Ports
from app.dispatch.preparing import Preparing, Ready
from app.dispatch.records import record_of, run_of
from app.dispatch.work import Heard, Made, Outcome, Progress, Work, standing
from app.errors import (
    DeliveryError,
    NotAllowedError,
    PromptTooLongError,
    StateError,
    StoppedByUserError,
    SwitchboardError,
)
from app.sessions.accounting import account
from app.sessions.ticket import Ticket
from app.sessions.usage import Task

TURN_FAILED = "turn_failed"
TURN_REFUSED = "turn_refused"

_log = structlog.stdlib.get_logger(__name__)


class Turns:
    """Runs turns, each within its line. Holds no state between them."""

    def __init__(
        self, ports: Ports, limits: Limits, entrance: Entrance, outbox: Outbox, fitting: Fitting | None = None
    ) -> None:
        self._ports = ports
        self._limits = limits
        self._preparing = Preparing(ports, entrance, fitting)
        self._outbox = outbox

    async def run(self, ticket: Ticket[Work]) -> Outcome:
        """Every path ends with something visible in the thread; what the process cuts off is left to the next one.

        Called within the ticket's turn. What it raises is the end of the process, or nobody foresaw it.
        """
        work, tickets = ticket.said, [ticket, *ticket.carries]
        # Of the tickets, not of the progress: a reply that holds what holds it would be freed by a collection only.
        status, reply = work.chat.status(), self._outbox.chat(work, lambda: _along(tickets)).reply()
        progress = Progress(tickets, Heard(reply), self._ports.clock.now())
        try:
            # Before all is cleared away: nobody ends what has ended.
            ticket.outcome = (await self._ended(progress, ticket)).name
            return progress.outcome(ticket.outcome)
        finally:
            if not progress.reply.is_closed:
                await progress.reply.abandon()
            await status.clear()

    async def _ended(self, progress: Progress, ticket: Ticket[Work]) -> Outcome:
        try:
            return await self._told(progress, ticket)
        except asyncio.CancelledError:
            if not ticket.recovers():
                await self._break_off(progress)
                raise
            if ticket.is_withdrawn:
                return await self._taken_back(progress)
            note = wording.STOPPED if ticket.is_stopped else wording.INTERRUPTED
            return await self._cut(progress, note, "stopped" if ticket.is_stopped else "interrupted")

    async def _told(self, progress: Progress, ticket: Ticket[Work]) -> Outcome:
        """The turn, and a word of what went wrong with it, which can be cut like the answer itself."""
        try:
            return await self._turn(progress, ticket)
        except StoppedByUserError:
            return await self._cut(progress, wording.STOPPED, "stopped")
        except NotAllowedError as fault:
            _log.info(TURN_REFUSED, reason=str(fault))
            text = wording.not_allowed(self._ports.access.admins())
            return await self._outbox.say(progress.work, text, "refused", carried=_carried(progress))
        except StateError as fault:
            return await self._unrecorded(progress, fault)
        except (SwitchboardError, TimeoutError) as fault:
            return await self._failed(progress, fault)

    async def _failed(self, progress: Progress, fault: SwitchboardError | TimeoutError) -> Outcome:
        if progress.shown is not None:
            raise fault
        # No traceback: a vendor's exception behind ours may quote the prompt.
        _log.warning(TURN_FAILED, error=type(fault).__name__, reason=str(fault))
        try:
            return await self._finish(progress, f"\n\n{wording.apology(fault, _reference(progress))}", "failed")
        except StateError as unwritable:
            return await self._unrecorded(progress, unwritable)

    async def _turn(self, progress: Progress, ticket: Ticket[Work]) -> Outcome:
        async with asyncio.timeout(self._limits.turn_s):
            boundary = TurnBoundary(progress, ticket, lambda: self._ports.lines.steered(ticket.key))
            ready = await self._preparing.ready(progress)
            if progress.work.is_recovered:
                progress.reply.write(f"{wording.RECOVERED}\n\n")
                progress.answer_at = len(progress.reply.text)
            progress.result = await self._asked(progress, ready, boundary)
        # Showing and writing have deadlines of their own: a late end of a good answer is not a question too large.
        return await self._finish(progress, "", "ran")

    async def _asked(self, progress: Progress, ready: Ready, boundary: TurnBoundary) -> TurnResult:
        """The model's answer; a conversation that is too long for it is summarised once."""
        loop = self._ports.loop
        try:
            return await loop.run(ready.provider, ready.request, progress.reply, progress.meter, boundary)
        except PromptTooLongError:
            shorter = None if progress.answer else await self._preparing.shorter(progress, ready)
            if shorter is None:
                raise
        return await loop.run(shorter.provider, shorter.request, progress.reply, progress.meter, boundary)

    async def _finish(self, progress: Progress, note: str, outcome: str) -> Outcome:
        """Promise what was written with ``note`` behind it, see it shown, and keep the turn."""
        work, reply = progress.work, progress.reply
        text = f"{reply.text}{note}".strip("\n")
        record = self._record(progress, outcome)
        progress.made = Made(text, outcome, record)
        reply.hold()
        await self._outbox.promise(work.accepted, text, record, _carried(progress))
        try:
            if note:
                reply.write(note)
            await reply.finish()
        except StoppedByUserError:
            return await self._cut(progress, wording.STOPPED, "stopped")
        except DeliveryError as fault:
            owed = await self._outbox.owe(work, text, record, fault)
            self._keep(progress, record)
            return owed
        progress.shown = Outcome(outcome)
        self._outbox.shown(work.accepted, outcome)
        try:
            await self._outbox.end(work.accepted, outcome, record)
        finally:
            self._keep(progress, record)
        if record is not None and record.reflection is not None and self._ports.reflection is not None:
            self._ports.reflection.schedule(record.reflection, work.chat)
        return progress.shown

    async def _unrecorded(self, progress: Progress, fault: StateError) -> Outcome:
        """The bot's own records cannot be written: the person is told, and the conversation stays at hand."""
        if progress.shown is not None:
            raise fault
        _log.error(TURN_FAILED, error=type(fault).__name__, reason=str(fault))
        note = wording.UNRECORDED if progress.result is not None else wording.apology(fault, _reference(progress))
        made, unshown = progress.made or self._made(progress, note, "unrecorded"), None
        try:
            progress.reply.write(f"\n\n{note}")
            await progress.reply.finish()
            self._outbox.shown(progress.work.accepted, made.outcome)
        except StoppedByUserError as stopped:
            _log.info(TURN_FAILED, error=type(stopped).__name__, reason=str(stopped))
        except DeliveryError as undelivered:
            _log.error(TURN_FAILED, error=type(undelivered).__name__, reason=str(undelivered))
            unshown = undelivered
        work, carried = progress.work, _carried(progress)
        self._outbox.unwritten.add(work.accepted, fault, lambda: self._outbox.settle(work, made, carried, unshown))
        self._keep(progress, made.record)
        return Outcome("unrecorded")

    async def _cut(self, progress: Progress, note: str, outcome: str) -> Outcome:
        """A person ended the answer: what is visible stays, and ``note``, or who ended it, says so below."""
        if progress.shown is not None:
            return progress.shown
        ending = self._outbox.ending(progress.work.accepted)
        if ending is not None:
            # The turn has said its last word before, and was ended while that was being written down.
            self._keep(progress, None if progress.made is None else progress.made.record)
            return Outcome(ending)
        await progress.reply.abandon()
        progress.made = made = self._made(progress, note, outcome)
        is_told, carried = progress.tickets[0].is_told, _carried(progress)
        closed = await self._outbox.close(progress.work, made, note, carried, is_told=is_told)
        self._keep(progress, made.record)
        return closed

    async def _taken_back(self, progress: Progress) -> Outcome:
        """Its author wants no answer any more. What is visible of one ends as a stopped one does; else nothing is."""
        progress.leave_behind()
        if progress.reply.text:
            return await self._cut(progress, wording.STOPPED, "stopped")
        # The conversation does not know of it: what else was said in the thread is read by the next turn.
        progress.lines = []
        return await self._outbox.drop(progress.work, self._record(progress, WITHDRAWN))

    async def _break_off(self, progress: Progress) -> None:
        """The process ends. A message whose answer is not whole stays unfinished, and the next process goes on."""
        if progress.shown is not None:
            return
        with suppress(DeliveryError, StoppedByUserError):
            progress.reply.write(f"\n\n{wording.UNFINISHED}" if progress.reply.text else wording.UNFINISHED)
            await progress.reply.abandon()
        await self._account(progress)

    async def _account(self, progress: Progress) -> None:
        """What the turn took until it was broken off; the next process accounts for what it takes itself."""
        now, keeping = self._ports.clock.now(), self._ports.keeping
        run = run_of(progress, now, keeping, "broken_off", Task.BROKEN_OFF)
        # What is made already is accounted for with its promise, which the next process keeps.
        if run is None or progress.meter.taken is None or progress.made is not None:
            return
        await account(self._ports.usage, run)

    def _record(self, progress: Progress, outcome: str) -> TurnRecord | None:
        return record_of(progress, self._ports.clock.now(), self._ports.keeping, outcome)

    def _made(self, progress: Progress, note: str, outcome: str) -> Made:
        """What there is of the answer, with ``note`` below it."""
        return Made(f"{progress.reply.text}\n\n{note}".strip("\n"), outcome, self._record(progress, outcome))

    def _keep(self, progress: Progress, record: TurnRecord | None) -> None:
        """The conversation at hand goes on from here; what could not be written is before anybody loads it."""
        work = progress.work
        if progress.entry is not None and record is not None and not work.message.brings_history:
            self._ports.transcripts.extend(progress.entry, record.lines, self._outbox.unwritten.of(work.accepted))


def _carried(progress: Progress) -> list[Accepted]:
    """The messages that were taken into the answer of the first, and from here on end with it."""
    progress.tickets[0].is_answered = True
    return _along(progress.tickets)


def _along(tickets: Sequence[Ticket[Work]]) -> list[Accepted]:
    return [ticket.said.accepted for ticket in standing(tickets)[1:]]


def _reference(progress: Progress) -> Reference:
    return progress.work.message.reference
