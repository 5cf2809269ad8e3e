"""What is said to a person: promised before it goes out, closed after it is visible, tried again where it is not."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import structlog

from app.background import Spawn
from app.channel import Chat, IncomingMessage, Remains
from app.clock import Clock
from app.dispatch import wording
from app.dispatch.journal import Accepted, Journal, MessageId, Promise, TurnRecord
from app.dispatch.redelivery import Redelivery
from app.dispatch.unwritten import Unwritten
from app.dispatch.work import Made, Outcome, Work
from app.errors import ChannelUnavailableError, DeliveryError, StateError, StoppedByUserError
from app.sessions.restart import KEPT
from commands.spec import Replaced

DELIVERY_FAILED = "delivery_failed"
PROMISE_UNWRITTEN = "promise_unwritten"
ABANDONED = "abandoned"
WITHDRAWN = "withdrawn"

PROMISE_AGAIN_S = (0.2, 1.0)
"""Before a promise is made again that could not be written: a connection that broke, or a moment's lock, costs no turn
its place in the records. Somebody waits for the end of the answer meanwhile."""

InPlace = Callable[[Work, Callable[[], Awaitable[Outcome]]], Coroutine[Any, Any, object]]
"""Acts on a message when nobody is before it in its conversation's line."""

Carried = Callable[[], Sequence[Accepted]]
"""The messages that are answered along with another one, as far as that is known by now."""

_log = structlog.stdlib.get_logger(__name__)


def nothing_carried() -> Sequence[Accepted]:
    return ()


class Outbox:
    """What goes through it ends in one visible answer, whatever ends the process in between."""

    def __init__(self, journal: Journal, redelivery: Redelivery, spawn: Spawn, clock: Clock, in_place: InPlace) -> None:
        self._in_place = in_place
        self._journal = journal
        self._clock = clock
        self._redelivery = redelivery
        self._spawn = spawn
        self._watched: dict[MessageId, list[str]] = {}
        self.unwritten = Unwritten(redelivery)

    @contextmanager
    def watching(self, accepted: Accepted) -> Generator[Sequence[str]]:
        """Around the work on a message: how it ends, from the moment on in which its answer is shown."""
        shown = self._watched[accepted.id] = []
        try:
            yield shown
        finally:
            del self._watched[accepted.id]

    def shown(self, accepted: Accepted, outcome: str) -> None:
        """The message has its whole answer, which it ends with."""
        self._watched.get(accepted.id, []).append(outcome)

    def ending(self, accepted: Accepted) -> str | None:
        """How the message ends, if it has its whole answer already."""
        shown = self._watched.get(accepted.id)
        return shown[-1] if shown else None

    def chat(self, work: Work, carried: Carried = nothing_carried) -> Chat:
        """The conversation as the message's own answer is written into it: noted down, in place of what is left.

        ``carried``: what it is the answer to, too, which its end tells should the records never have it.
        """
        return self._own(work, carried).reusing(work.left.positions)

    def _own(self, work: Work, carried: Carried) -> Chat:
        def others() -> Sequence[str]:
            return [each.message.position for each in carried()]

        return work.chat.noting(self._noting(work.accepted), others)

    async def say(
        self,
        work: Work,
        text: str,
        outcome: str,
        record: TurnRecord | None = None,
        carried: Sequence[Accepted] = (),
    ) -> Outcome:
        """One whole text, and with it the message's end, and that of the ``carried`` ones it answers, too."""
        await self.promise(work.accepted, text, record, carried)
        return await self.deliver(work, text, outcome, record)

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        """As the journal does it; promising again adds nothing. Raises ``StateError`` when none of them was written."""
        for pause_s in PROMISE_AGAIN_S:
            try:
                return await self._journal.promise(accepted, text, record, carried)
            except StateError as fault:
                _log.warning(PROMISE_UNWRITTEN, error=type(fault).__name__, reason=str(fault))
            await self._clock.sleep(pause_s)
        return await self._journal.promise(accepted, text, record, carried)

    async def lead_on(
        self, work: Work, text: str, then: IncomingMessage, replaced: Replaced | None = None
    ) -> Accepted | None:
        """Promise a command's answer, which is to be delivered, with what the command has answered after it.

        In one step, for each without the other would be wrong: what the command asks for is lost, or it is called cut
        off and given again although it took effect.
        """
        return await self._journal.lead_on(work.accepted, text, then, replaced)

    async def deliver(self, work: Work, text: str, outcome: str, record: TurnRecord | None = None) -> Outcome:
        """Show what was promised whole, and end the message with it; whoever stops reading has had enough of it."""
        try:
            with suppress(StoppedByUserError):
                await self.chat(work).say(text)
        except DeliveryError as fault:
            return await self.owe(work, text, record, fault)
        self.shown(work.accepted, outcome)
        await self.end(work.accepted, outcome, record)
        return Outcome(outcome)

    async def told(self, work: Work, outcome: str) -> Outcome:
        """End a message whose author reads elsewhere in the thread what became of it."""
        self.shown(work.accepted, outcome)
        await self.end(work.accepted, outcome)
        return Outcome(outcome)

    async def drop(self, work: Work, record: TurnRecord | None = None) -> Outcome:
        """End a message that its author has taken back; what an earlier attempt left visible gives way to a word."""
        if work.left.positions:
            return await self.say(work, wording.STOPPED, WITHDRAWN, record)
        await self.end(work.accepted, WITHDRAWN, record)
        return Outcome(WITHDRAWN)

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        """The message has its visible end.

        Where that cannot be written down it is ``unwritten``, and nobody is told: whoever reads an answer has it, and
        an apology below would take it back.
        """

        async def write() -> None:
            await self._journal.end(accepted, outcome, record)

        try:
            await write()
        except (StateError, asyncio.CancelledError) as fault:
            self.unwritten.add(accepted, fault, write)
            if not isinstance(fault, StateError):
                raise

    async def close(
        self, work: Work, made: Made, note: str, carried: Sequence[Accepted] = (), *, is_told: bool = False
    ) -> Outcome:
        """End an answer that is visible but for its last word with that, the ``note``, below it.

        Records that cannot be used keep nobody from hearing that word. ``is_told``: somebody else says it, so that it
        only tells a next process, which may find no records, that this is all of the answer.
        """
        fault = await self._promised(work, made, carried)
        try:
            if fault is not None or not is_told:
                await self._own(work, lambda: carried).say(note)
        except (DeliveryError, StoppedByUserError) as unsaid:
            _log.error(DELIVERY_FAILED, reason=str(unsaid))
        self.shown(work.accepted, made.outcome)
        if fault is None:
            await self.end(work.accepted, made.outcome, made.record)
        else:
            self.unwritten.add(work.accepted, fault, lambda: self.settle(work, made, carried))
        return Outcome(made.outcome)

    async def _promised(self, work: Work, made: Made, carried: Sequence[Accepted]) -> StateError | None:
        try:
            await self._journal.promise(work.accepted, made.text, made.record, carried)
        except StateError as fault:
            return fault
        return None

    async def owe(self, work: Work, text: str, record: TurnRecord | None, fault: Exception) -> Outcome:
        """What was promised could not be shown; it is tried again while it helps anybody, by the next process too."""
        _log.error(DELIVERY_FAILED, reason=str(fault))
        attempts = await self._journal.undelivered(work.accepted, record)
        if self._clock.now() - work.accepted.accepted_at > KEPT:
            await self.end(work.accepted, ABANDONED)
            return Outcome(ABANDONED)
        promise = Promise(text, None, attempts, work.accepted.accepted_at)
        self._later(work, promise)
        return Outcome("undelivered")

    def _later(self, work: Work, promise: Promise) -> None:
        self._redelivery.later(
            max(1, promise.attempts), lambda: self._in_place(work, lambda: self.again(work, promise))
        )

    async def settle(
        self, work: Work, made: Made, carried: Sequence[Accepted] = (), fault: DeliveryError | None = None
    ) -> None:
        """Write down what could not be written when it was made; ``fault``: why not all of it was shown then.

        Nobody knows which steps of it were written after all, so each is one that adds nothing a second time.
        """
        await self._journal.promise(work.accepted, made.text, made.record, carried)
        if fault is None:
            await self._journal.end(work.accepted, made.outcome, made.record)
        else:
            await self.owe(work, made.text, made.record, fault)

    async def again(self, work: Work, promise: Promise) -> Outcome:
        """Show an answer whose delivery is in doubt, in place of what is visible of it.

        Called in its place in line: what a turn beside it shows could be taken for a part of it.
        """
        try:
            return await self._again(work, promise)
        except StateError as fault:
            # Each attempt looks at the thread first, so one that could not be counted doubles nothing.
            _log.error(DELIVERY_FAILED, reason=str(fault))
            self._later(work, promise)
            return Outcome("undelivered")

    async def _again(self, work: Work, promise: Promise) -> Outcome:
        try:
            left = await work.chat.remains(await self._journal.foreign(work.accepted))
            if not left.is_whole:
                with suppress(StoppedByUserError):
                    await self._show(work, left, promise.text)
        except (ChannelUnavailableError, DeliveryError) as fault:
            return await self.owe(work, promise.text, promise.record, fault)
        self.shown(work.accepted, "redelivered")
        await self.end(work.accepted, "redelivered", promise.record)
        return Outcome("redelivered")

    async def _show(self, work: Work, left: Remains, text: str) -> None:
        reply = work.chat.reusing(left.positions).noting(self._noting(work.accepted)).reply()
        reply.write(wording.recovered(text) if work.is_left_over else wording.late(text))
        await reply.finish()

    def _noting(self, accepted: Accepted) -> Callable[[str], None]:
        def note(position: str) -> None:
            self._spawn(self._journal.posted(accepted, position), name="note_post")

        return note
