"""One message, top to bottom: claimed once, in line behind its conversation, answered, accounted for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import structlog

from app.access.actor import caller_of
from app.channel import Chat, IncomingMessage, ThreadKey
from app.dispatch import wording
from app.dispatch.arrivals import Arrivals
from app.dispatch.directives import Refused as NotUnderstood
from app.dispatch.directives import directives
from app.dispatch.entrance import Entrance
from app.dispatch.fitting import Fitting
from app.dispatch.journal import Accepted, Promise
from app.dispatch.judging import Judging
from app.dispatch.outbox import Outbox
from app.dispatch.ports import Limits, Ports
from app.dispatch.redelivery import Redelivery
from app.dispatch.revising import Revising
from app.dispatch.surviving import surviving
from app.dispatch.triage import Say, triage
from app.dispatch.turn_line import tell
from app.dispatch.turns import Turns
from app.dispatch.work import FOLLOWING, NO_WISH, Outcome, Work
from app.errors import ChannelUnavailableError
from app.sessions.busy import Arrival, BusyInput, Refused
from app.sessions.entry import SessionId
from app.sessions.ticket import ClearedError, HeldError, OutOfLineError, Ticket, WithdrawnError
from commands.registry import Recognised
from commands.spec import Followup

NOT_MEANT = "not_meant"
UNREAD = "unread"
DISMISSED = "dismissed"
HELD = "held"
STOPPED = "stopped"
CARRIED = "carried"

Completing = Callable[[IncomingMessage], Awaitable[IncomingMessage]]
"""With what its event did not say."""

AGAIN_S = 30.0
"""After a line was full, or was cleared of what waited in it."""

_log = structlog.stdlib.get_logger(__name__)


class Dispatcher:
    def __init__(self, ports: Ports, limits: Limits, fitting: Fitting | None = None) -> None:
        self._ports = ports
        self._limits = limits
        self._entrance = Entrance()
        self._arrivals = Arrivals()
        self.lines = ports.lines
        self.redelivery = Redelivery(ports.clock, ports.spawn)
        self.judging = Judging(self._entrance, self.redelivery, ports.clock)
        self.outbox = Outbox(ports.journal, self.redelivery, ports.spawn, ports.clock, self._in_place)
        self.revising = Revising(ports, limits.message_chars, self.outbox.unwritten.has)
        self._turns = Turns(ports, limits, self._entrance, self.outbox, fitting)

    @property
    def conversations(self) -> int:
        """How many have a turn under way or waiting."""
        return len(self.lines)

    async def accept(self, message: IncomingMessage, address: str | None = None) -> Accepted | None:
        """Claim the message before the platform is acknowledged; ``None`` for one that was claimed before.

        ``address``: from which the conversation is found again in another process. Raises ``StateError``.
        """
        with self._entrance.arriving():
            return await self._ports.journal.accept(message, self._ports.keying.key(message), address)

    async def dismiss(self, accepted: Accepted) -> None:
        """End a message whose author was told already that there will be no answer."""
        await self.outbox.end(accepted, DISMISSED)

    async def surviving(self, accepted: Accepted, chat: Chat, act: Callable[[], Awaitable[object]]) -> None:
        """``act`` on the message; of what fails unforeseen its author hears, and the message is dismissed."""
        await surviving(accepted, chat, act, self.outbox, DISMISSED)

    def stop(self, thread: ThreadKey) -> bool:
        """End the turns that run in ``thread``; ``False`` when none does."""
        return self.lines.stop(thread) > 0

    def hold(self) -> None:
        """The process is going to end: no turn begins any more, what waits is left to the next process."""
        self.lines.hold()

    async def handle(self, accepted: Accepted, chat: Chat, completed: Completing | None = None) -> str:
        """See an accepted message to its end; the outcome's name.

        ``completed`` finds out what the platform's event did not say; nobody overtakes the message meanwhile.
        """
        async with self._arrivals.in_order(accepted.session_key):
            if completed is not None:
                accepted = replace(accepted, message=await completed(accepted.message))
            work = Work(accepted, chat)
            try:
                is_meant = await self.judging.is_meant(work)
            except ChannelUnavailableError as fault:
                again = partial(self.surviving, accepted, chat, partial(self.handle, accepted, chat))
                if self.judging.look_later(work, fault, again):
                    return UNREAD
                is_meant = False
        if not is_meant:
            await self.outbox.end(accepted, NOT_MEANT)
            return NOT_MEANT
        return await self.see_to(work)

    async def see_to(self, work: Work, ticket: Ticket[Work] | None = None) -> str:
        """As ``handle``, for a message that is known to be meant. It stands in its line at the first chance.

        ``ticket``: with which it stands there already.
        """
        message = work.message
        with structlog.contextvars.bound_contextvars(
            reference=message.reference, thread=message.thread_key, user=message.user_id
        ):
            arrived_s = self._ports.clock.monotonic()
            outcome, waited_s = await self._answer(work, ticket)
            took_s = self._ports.clock.monotonic() - arrived_s - waited_s
            tell(outcome, waited_s, took_s)
            return outcome.name

    def place(self, work: Work) -> Ticket[Work]:
        """Take its place in line for a message that is seen to later."""
        return self._joined(work, own_turn=True)

    def give_way(self, ticket: Ticket[Work] | None) -> None:
        if ticket is not None:
            self.lines.leave(ticket)

    async def redeliver(self, work: Work, promise: Promise, ticket: Ticket[Work] | None = None) -> str:
        """Show an answer that an earlier process made and may not have shown, in its place in line."""
        return await self._in_place(work, lambda: self.outbox.again(work, promise), ticket)

    async def give_up(self, work: Work, text: str, ticket: Ticket[Work] | None = None) -> str:
        """Tell in its place in line that a message an earlier process accepted has no answer."""
        return await self._in_place(work, lambda: self.outbox.say(work, text, "given_up"), ticket)

    async def _in_place(
        self, work: Work, act: Callable[[], Awaitable[Outcome]], ticket: Ticket[Work] | None = None
    ) -> str:
        with structlog.contextvars.bound_contextvars(reference=work.message.reference, thread=work.message.thread_key):
            ticket = ticket or self.place(work)
            ticket.is_interruptible, ticket.is_final = False, True
            try:
                async with self.lines.turn(ticket):
                    return (await act()).name
            except WithdrawnError:
                return (await self.outbox.drop(work)).name
            except OutOfLineError:
                if not self.lines.is_holding:
                    self.redelivery.after(AGAIN_S, lambda: self._in_place(work, act))
                # Otherwise the next process finds the message as this one did.
                return HELD
            except asyncio.CancelledError:
                if not ticket.recovers():
                    raise
                await self.outbox.end(work.accepted, STOPPED)
                return STOPPED
            finally:
                self.lines.leave(ticket)

    async def _answer(self, work: Work, ticket: Ticket[Work] | None) -> tuple[Outcome, float]:
        """The outcome, and how long the message stood in line."""
        revised = self.revising.revised(work)
        if revised is None:
            return await self.outbox.drop(work), 0.0
        work = revised
        decision = triage(work.message, self._limits.message_chars)
        if isinstance(decision, Say):
            return await self.outbox.say(work, decision.text, decision.outcome), 0.0
        if not work.message.part and (recognised := self._ports.commands.recognise(work.message.text)):
            return await self._command(work, recognised), 0.0
        directed = directives(work.message.text, self._ports.agents, self._ports.knows_model)
        if isinstance(directed, NotUnderstood):
            return await self.outbox.say(work, wording.not_understood(directed.reason), "refused"), 0.0
        return await self._in_line(work.asking(directed), ticket)

    async def _command(self, work: Work, recognised: Recognised) -> Outcome:
        # Before anything is awaited, so that what is said after the command is answered after what it asks for.
        ticket = self._joined(work, own_turn=True) if self._ports.commands.leads_on(recognised) else None
        if ticket is not None and isinstance(ticket.admission, Refused):
            return await self.outbox.say(work, wording.line_full(ticket.admission.waiting), "refused")
        try:
            await self._ports.journal.begin_command(work.accepted)
            result = await self._ports.commands.run_text(recognised, caller_of(work.message))
            reply = result.reply
            if reply is not None and reply.is_told:
                return await self.outbox.told(work, "command")
            then = None if reply is None else reply.then
            if then is None:
                return await self.outbox.say(work, result.text, "command")
            followed = await self._led_on(work, result.text, then)
            try:
                return await self.outbox.deliver(work, result.text, "command")
            finally:
                # Whatever became of the command's own answer: nobody else in this process goes on with it.
                if followed is not None:
                    self._follow(Work(followed, work.chat.also(FOLLOWING)), ticket)
                    ticket = None
        finally:
            if ticket is not None:
                self.lines.leave(ticket)

    async def _led_on(self, work: Work, text: str, then: Followup) -> Accepted | None:
        try:
            return await self.outbox.lead_on(work, text, following(work.message, then), then.replaced)
        finally:
            if then.replaced is not None:
                # Whatever came of it: a change that failed may have been kept all the same.
                self._ports.transcripts.forget(SessionId(then.replaced.session_id))

    def _follow(self, work: Work, ticket: Ticket[Work] | None) -> None:
        async def see_to() -> None:
            try:
                await self.see_to(work, ticket)
            finally:
                if ticket is not None:
                    self.lines.leave(ticket)

        self._ports.spawn(self.surviving(work.accepted, work.chat, see_to), name="turn")

    async def _in_line(self, work: Work, ticket: Ticket[Work] | None) -> tuple[Outcome, float]:
        joined_s = self._ports.clock.monotonic()
        if ticket is None:
            ticket = self._joined(work)
        else:
            ticket.said = work
        try:
            await self._acknowledge(ticket, work)
            if isinstance(ticket.admission, Refused):
                return await self.outbox.say(work, wording.line_full(ticket.admission.waiting), "refused"), 0.0
            return await self._wait_and_run(ticket, joined_s)
        except WithdrawnError:
            return await self.outbox.drop(work), 0.0
        except ClearedError:
            return await self.outbox.say(work, wording.CLEARED, "cleared"), 0.0
        except HeldError:
            await work.chat.whisper(wording.HELD)
            return Outcome(HELD), 0.0
        finally:
            self.lines.leave(ticket)

    def _joined(self, work: Work, *, own_turn: bool = False) -> Ticket[Work]:
        arrival = Arrival(
            work.message.user_id,
            work.message.thread_key,
            BusyInput.QUEUE if work.is_left_over else self._limits.busy_input,
            is_own_turn=own_turn or work.is_own_turn,
            has_wishes=work.wish != NO_WISH,
        )
        return self.lines.join(work.accepted.session_key, arrival, work)

    async def _acknowledge(self, ticket: Ticket[Work], work: Work) -> None:
        note = wording.admitted(ticket.admission)
        if note is not None and not work.is_left_over and not work.is_own_turn:
            await work.chat.whisper(note)

    async def _wait_and_run(self, ticket: Ticket[Work], joined_s: float) -> tuple[Outcome, float]:
        carrier = await self.lines.carried(ticket)
        if carrier is not None:
            waited_s = self._ports.clock.monotonic() - joined_s
            if carrier.outcome is None:
                # Its author reads below that turn that there is no answer.
                await self.outbox.end(ticket.said.accepted, CARRIED)
            return Outcome(CARRIED), waited_s
        async with self.lines.turn(ticket):
            with self._ports.transcripts.pinned(ticket.key):
                waited_s = self._ports.clock.monotonic() - joined_s
                return await self._turns.run(ticket), waited_s


def following(message: IncomingMessage, then: Followup) -> IncomingMessage:
    """What a command asked for, as a message of its own."""
    return replace(message, text=then.text, part=f"{message.part}{FOLLOWING}")
