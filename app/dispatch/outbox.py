"""What is said to a person: promised before it goes out, closed after it is visible, tried again where it is not."""

from collections.abc import Callable, Sequence

import structlog

from app.background import Spawn
from app.channel import Chat, Remains
from app.dispatch import wording
from app.dispatch.journal import Accepted, Journal, Promise, TurnRecord
from app.dispatch.redelivery import Redelivery
from app.dispatch.work import Made, Outcome, Work
from app.errors import ChannelUnavailableError, DeliveryError

DELIVERY_FAILED = "delivery_failed"

_log = structlog.stdlib.get_logger(__name__)


class Outbox:
    """What goes through it ends in one visible answer, whatever ends the process in between."""

    def __init__(self, journal: Journal, redelivery: Redelivery, spawn: Spawn) -> None:
        self._journal = journal
        self._redelivery = redelivery
        self._spawn = spawn

    def chat(self, work: Work) -> Chat:
        """The conversation as the message's own answer is written into it: noted down, in place of what is left."""
        return work.chat.reusing(work.left.positions).noting(self._noting(work.accepted))

    async def say(
        self,
        work: Work,
        text: str,
        outcome: str,
        record: TurnRecord | None = None,
        carried: Sequence[Accepted] = (),
    ) -> Outcome:
        """One whole text, and with it the message's end, and that of the ``carried`` ones it answers, too."""
        await self._journal.promise(work.accepted, text, record, carried)
        try:
            await self.chat(work).say(text)
        except DeliveryError as fault:
            return await self.owe(work, text, record, fault)
        await self._journal.end(work.accepted, outcome, record)
        return Outcome(outcome)

    async def close(self, work: Work, made: Made, note: str, carried: Sequence[Accepted] = ()) -> Outcome:
        """End an answer that is visible but for its last word with that, the ``note``, below it."""
        await self._journal.promise(work.accepted, made.text, made.record, carried)
        try:
            await work.chat.noting(self._noting(work.accepted)).say(note)
        except DeliveryError as fault:
            _log.error(DELIVERY_FAILED, reason=str(fault))
        await self._journal.end(work.accepted, made.outcome, made.record)
        return Outcome(made.outcome)

    async def owe(self, work: Work, text: str, record: TurnRecord | None, fault: Exception) -> Outcome:
        """What was promised could not be shown; it is tried again, at last by the next process."""
        _log.error(DELIVERY_FAILED, reason=str(fault))
        attempts = await self._journal.undelivered(work.accepted, record)
        promise = Promise(text, None, attempts, work.accepted.accepted_at)
        self._redelivery.later(attempts, lambda: self.again(work, promise))
        return Outcome("undelivered")

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
        """Show an answer whose delivery is in doubt, in place of what is visible of it."""
        try:
            left = await work.chat.remains(await self._journal.foreign(work.accepted))
            if not left.is_whole:
                await self._show(work, left, promise.text)
        except (ChannelUnavailableError, DeliveryError) as fault:
            return await self.owe(work, promise.text, promise.record, fault)
        await self._journal.end(work.accepted, "redelivered", promise.record)
        return Outcome("redelivered")

    async def _show(self, work: Work, left: Remains, text: str) -> None:
        reply = work.chat.reusing(left.positions).noting(self._noting(work.accepted)).reply()
        reply.write(wording.recovered(text))
        await reply.finish()

    def _noting(self, accepted: Accepted) -> Callable[[str], None]:
        def note(position: str) -> None:
            self._spawn(self._journal.posted(accepted, position), name="note_post")

        return note
