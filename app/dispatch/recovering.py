"""A start: goes on with whatever the last process left unfinished, before anything new comes in."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from app.background import unforeseen_in
from app.channel import Chat, IncomingMessage
from app.clock import Clock
from app.dispatch import wording
from app.dispatch.dispatcher import NOT_MEANT, Dispatcher
from app.dispatch.journal import Accepted, Journal, Unfinished
from app.dispatch.judging import LOOK_AGAIN_S
from app.dispatch.outbox import ABANDONED
from app.dispatch.work import Work
from app.errors import ChannelUnavailableError, StateError
from app.sessions.restart import Abandon, AfterRestart, Left, Redeliver, Resume, Tell, after_restart, is_looping
from app.sessions.ticket import Ticket

RECOVERY_STARTED = "recovery_started"
RECOVERY_POSTPONED = "recovery_postponed"
RECOVERY_FAILED = "recovery_failed"
MESSAGE_ABANDONED = "message_abandoned"

LOOKS = 20
"""After so many in vain, nobody stands behind a message any more that cannot be looked at."""
START_S = 10.0
LOOKS_AT_ONCE = 8
"""Slack gives few readings a minute."""
LOOP_PAUSE_S = 300.0
"""A process that starts again and again may be ended by what it resumes: it comes to rest before it does so."""

_log = structlog.stdlib.get_logger(__name__)

Reopen = Callable[[IncomingMessage, str], Chat | None]
"""The conversation of a message at an address; ``None`` when there is no such conversation (any more)."""


@dataclass(frozen=True, slots=True)
class _Case:
    """An unfinished message, its conversation, and what is done about it."""

    found: Unfinished
    decision: AfterRestart
    work: Work
    is_looked_at: bool = False
    """Whether it is known what is visible of it."""


class Recovering:
    """Session lifecycle, section 7."""

    def __init__(
        self,
        journal: Journal,
        dispatcher: Dispatcher,
        reopen: Reopen,
        clock: Clock,
        *,
        freshness_s: float,
        patience_s: float = START_S,
    ) -> None:
        self._patience_s = patience_s
        self._journal = journal
        self._dispatcher = dispatcher
        self._reopen = reopen
        self._clock = clock
        self._freshness_s = freshness_s
        self._looking = asyncio.Semaphore(LOOKS_AT_ONCE)

    async def run(self, spawn: Callable[..., object]) -> int:
        """Put everything unfinished back in line, in the order of acceptance; how many messages.

        What is to be done about them goes on in the background; messages that arrive later stand behind them.
        """
        boot = await self._journal.began()
        unfinished = await self._journal.unfinished()
        if unfinished:
            _log.info(RECOVERY_STARTED, messages=len(unfinished), was_clean=boot.was_clean)
        cases = [await self._surely(found.accepted, lambda found=found: self._case(found)) for found in unfinished]
        if is_looping(boot.recent_at):
            cases = self._postponed(cases)
        looked_at = await asyncio.gather(*(self._looked_soon(case) for case in cases if case is not None))
        left = [case for case in looked_at if case is not None]
        for case in left:
            spawn(self._carry_out(case) if case.is_looked_at else self._stand(case), name="recovered_turn")
        return sum(case.is_looked_at for case in left)

    async def _looked_soon(self, case: _Case) -> _Case | None:
        """The start waits for no more: what is looked at later keeps its place in line."""
        try:
            async with asyncio.timeout(self._patience_s):
                return await self._looked(case)
        except TimeoutError:
            return case

    async def _looked(self, case: _Case) -> _Case | None:
        async with self._looking:
            return await self._surely(case.found.accepted, lambda: self._looked_at(case))

    async def _surely(self, accepted: Accepted, look: Callable[[], Awaitable[_Case | None]]) -> _Case | None:
        """What ``look`` finds of one message, or ``None``: it fails for nobody else, and the next start looks again.

        Nobody is told: how much of an answer is visible is what could not be found out.
        """
        found: list[_Case | None] = []

        async def act() -> None:
            found.append(await look())

        fault = await unforeseen_in(act)
        if fault is not None:
            message = accepted.message
            _log.error(RECOVERY_FAILED, reference=message.reference, thread=message.thread_key, exc_info=fault)
            return None
        return found[0]

    async def _case(self, found: Unfinished) -> _Case | None:
        accepted = found.accepted
        chat = None if accepted.address is None else self._reopen(accepted.message, accepted.address)
        left = Left(
            age=self._clock.now() - accepted.accepted_at,
            begins=found.begins,
            is_command=found.is_command,
            is_promised=found.promise is not None,
            is_reachable=chat is not None,
        )
        decision = after_restart(left, self._freshness_s)
        if chat is None or isinstance(decision, Abandon):
            _log.warning(MESSAGE_ABANDONED, reference=accepted.message.reference, begins=found.begins)
            await self._dispatcher.outbox.end(accepted, ABANDONED)
            return None
        return _Case(found, decision, Work(accepted, chat, is_left_over=True))

    def _postponed(self, cases: Sequence[_Case | None]) -> list[_Case | None]:
        """Without the turns that would be resumed, which come later; the conversations they belong to go on."""
        resumed = [case for case in cases if case is not None and isinstance(case.decision, Resume)]
        for case in resumed:
            self._dispatcher.redelivery.after(LOOP_PAUSE_S, lambda case=case: self._later(case))
        if resumed:
            _log.warning(RECOVERY_POSTPONED, messages=len(resumed))
        return [case for case in cases if case not in resumed]

    async def _stand(self, case: _Case) -> None:
        """In its line, until it can be looked at: what arrives meanwhile is answered after it."""
        self._look_later(case, self._dispatcher.place(case.work), LOOKS)

    def _look_later(self, case: _Case, ticket: Ticket[Work] | None, looks: int) -> None:
        self._dispatcher.redelivery.after(LOOK_AGAIN_S, lambda: self._later(case, ticket, looks))

    async def _later(self, case: _Case, ticket: Ticket[Work] | None = None, looks: int = 0) -> None:
        looked_at = await self._looked(case)
        if looked_at is None or looked_at.is_looked_at:
            try:
                if looked_at is not None:
                    await self._carry_out(looked_at, ticket)
            finally:
                self._dispatcher.give_way(ticket)
            return
        if looks == 0:
            self._dispatcher.give_way(ticket)
        self._look_later(case, ticket if looks else None, max(0, looks - 1))

    async def _looked_at(self, case: _Case) -> _Case | None:
        """With what is visible of it, as far as that could be read; ``None`` when nothing is left to do."""
        work, accepted = case.work, case.found.accepted
        try:
            if case.found.begins == 0 and not await self._dispatcher.judging.is_meant(work):
                await self._dispatcher.outbox.end(accepted, NOT_MEANT)
                return None
            left = await work.chat.remains(await self._journal.foreign(accepted))
        except (ChannelUnavailableError, StateError) as fault:
            # Without knowing what is visible, answering could double it; not answering could lose it.
            _log.warning(RECOVERY_POSTPONED, messages=1, reference=accepted.message.reference, reason=str(fault))
            return case
        if left.is_whole:
            promise = case.found.promise
            await self._dispatcher.outbox.end(accepted, "recovered", None if promise is None else promise.record)
            return None
        if case.found.begins == 0 and case.found.promise is None:
            # A turn is written down as begun before anything of it is shown: what nobody claims is another message's,
            # and would be taken by every one that waits in the thread.
            return replace(case, is_looked_at=True)
        return replace(case, work=replace(work, left=left, is_recovered=True), is_looked_at=True)

    async def _carry_out(self, case: _Case, ticket: Ticket[Work] | None = None) -> None:
        work = case.work
        await self._dispatcher.surviving(work.accepted, work.chat, lambda: self._act_on(case, ticket))

    async def _act_on(self, case: _Case, ticket: Ticket[Work] | None) -> None:
        promise = case.found.promise
        match case.decision:
            case Tell(reason):
                await self._dispatcher.give_up(case.work, wording.gave_up(reason), ticket)
            case Redeliver() if promise is not None:
                await self._dispatcher.redeliver(case.work, promise, ticket)
            case _:
                await self._dispatcher.see_to(case.work, ticket)
