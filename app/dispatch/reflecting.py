"""Learning from finished turns, off their path: what is pending is worked off now, and again after a restart."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NewType, Protocol

import structlog

from app.background import Spawn
from app.channel import Chat
from app.clock import Clock
from app.dispatch.looks import Look, Looks, LookWithdrawnError
from app.errors import StateError
from app.sessions.entry import SessionKey
from app.sessions.transcript import TranscriptMessage
from memory.outcome import Batch, Outcome
from memory.reflector import UNREADABLE, Course
from memory.turn import FinishedTurn

REFLECTION_LOST = "reflection_lost"
REFLECTION_GIVEN_UP = "reflection_given_up"
REFLECTION_WITHDRAWN = "reflection_withdrawn"
REFLECTIONS_UNREACHABLE = "reflections_unreachable"

AT_ONCE = 2
"""Model calls for reflections at a time: nobody waits for them, and answers go before."""
PAUSES = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10), timedelta(hours=1))
"""Before a failed write is tried again; the last one repeats."""
KEPT = timedelta(days=1)
LOOKS = 3
"""What ended the process so often is not looked at again."""
BATCH = 50
CHATS = 1_000
"""Conversations that can be told of what was remembered; after a restart nobody is told."""

_log = structlog.stdlib.get_logger(__name__)

ReflectionId = NewType("ReflectionId", int)


@dataclass(frozen=True, slots=True)
class Pending:
    """A turn that was not looked at yet, or what could not be written of one that was."""

    id: ReflectionId
    turn: FinishedTurn
    attempts: int
    """How often it was begun, this time included."""
    created_at: datetime
    unwritten: tuple[Batch, ...] = ()
    awaits_model: bool = True
    """Whether no model was asked about it."""
    looks: int = 0
    """How often it was looked at since the last look that a process saw to its end."""

    @property
    def is_left(self) -> bool:
        """Whether a process that finds it broken off goes on with it: a model is asked once, a look made thrice."""
        return (self.awaits_model or bool(self.unwritten)) and self.looks < LOOKS


class PendingReflections(Protocol):
    """Adapters: over the state database. Rows are made when a turn is kept, in the same step.

    Every call raises ``StateError``'s tree.
    """

    async def take(self, limit: int) -> Sequence[Pending]:
        """What is due, oldest first, marked as begun, so that no other taker gets it.

        A turn comes without the words after which something of its conversation, or of the one who asked, was erased;
        one that had ended by then does not come any more.
        """
        ...

    async def keep(self, pending: Pending) -> None:
        """How far the look at it has come, which goes on."""
        ...

    async def done(self, reflection_id: ReflectionId) -> None: ...

    async def again(
        self, reflection_id: ReflectionId, turn: FinishedTurn, unwritten: Sequence[Batch], not_before_at: datetime
    ) -> None:
        """Only what is ``unwritten``, or else the whole look, is left to do, and not before that."""
        ...

    async def interrupted(self) -> Sequence[Pending]:
        """At a start: what a process that ended had begun is due again; what is not ``is_left`` is taken away."""
        ...


class Reflects(Protocol):
    """``memory.reflector.Reflector``."""

    async def reflect(self, turn: FinishedTurn, course: Course) -> Outcome: ...

    async def write_again(self, turn: FinishedTurn, unwritten: Sequence[Batch]) -> Outcome: ...


Tell = Callable[[FinishedTurn, Outcome, Chat], Awaitable[None]]
"""Shows people what a pass has remembered. Never raises."""


class _Course:
    """Implements ``memory.reflector.Course``: a next process goes on from what is written down here.

    Raises ``LookWithdrawnError``.
    """

    def __init__(self, rows: PendingReflections, pending: Pending, look: Look) -> None:
        self._rows = rows
        self._pending = pending
        self._look = look

    async def begins(self) -> None:
        self._look.goes_on(to_write=bool(self._pending.unwritten))
        await self._keep(replace(self._pending, looks=self._pending.looks + 1))

    async def asking(self) -> None:
        self._look.goes_on()
        await self._keep(replace(self._pending, awaits_model=False))

    async def learned(self, batches: Sequence[Batch]) -> None:
        """Where that cannot be written down, the batches themselves still can."""
        self._look.goes_on(to_write=True)
        try:
            await self._keep(replace(self._pending, unwritten=tuple(batches)))
        except StateError as fault:
            _log.error(REFLECTIONS_UNREACHABLE, reason=str(fault))

    async def _keep(self, pending: Pending) -> None:
        await self._rows.keep(pending)
        self._pending = pending


class Reflecting:
    """Implements ``app.dispatch.ports.Reflection``. A turn costs at most one model call, whatever happens to it."""

    def __init__(
        self, pending: PendingReflections, reflector: Reflects, clock: Clock, spawn: Spawn, tell: Tell
    ) -> None:
        self._pending = pending
        self._reflector = reflector
        self._clock = clock
        self._spawn = spawn
        self._tell = tell
        self._places = asyncio.Semaphore(AT_ONCE)
        self._chats: OrderedDict[str, Chat] = OrderedDict()
        self._looks = Looks()
        self._untold: deque[Pending] = deque()
        """Taken, and left before a model was asked: that it goes on could not be written down."""
        self._taking = asyncio.Lock()

    def schedule(self, turn: FinishedTurn, chat: Chat) -> None:
        self._chats[turn.run_id] = chat
        while len(self._chats) > CHATS:
            self._chats.popitem(last=False)
        self._spawn(self.work_off(), name="reflection")

    async def started(self) -> None:
        """A process begins: whatever the last one left is taken up, but for model calls it was in the middle of."""
        for lost in await self._pending.interrupted():
            _log.warning(REFLECTION_LOST, reference=lost.turn.run_id, session=lost.turn.session_key)
        self._spawn(self.work_off(), name="reflection")

    async def before_loss(self, key: SessionKey, _messages: Sequence[TranscriptMessage], /) -> None:
        """Implements ``app.sessions.compressor.BeforeLoss``.

        Every turn was offered when it ended. What is still to be looked at is looked at first, because that takes in
        what the conversation had said before.
        """
        await self.work_off()
        await self._looks.over(lambda turn: turn.session_key == key)

    async def withdraw(self, is_meant: Callable[[FinishedTurn], bool]) -> None:
        """Learn nothing from such turns that are looked at now; what was being written is written by then."""
        await self._looks.withdraw(is_meant)

    async def work_off(self) -> int:
        """How many were looked at."""
        count = 0
        try:
            while taken := await self._taken():
                # Each can be withdrawn as soon as it is taken: a task begins only later.
                looks = [(each, self._looks.begin(each.turn)) for each in taken]
                await asyncio.gather(*(self._work(each, look) for each, look in looks))
                count += len(taken)
        except StateError as fault:
            _log.error(REFLECTIONS_UNREACHABLE, reason=str(fault))
        return count

    async def _taken(self) -> Sequence[Pending]:
        async with self._taking:
            # Nothing is taken before: what was put back twice, because nobody heard of the first time, could be taken
            # in between, and a model be asked twice.
            while self._untold:
                left = self._untold[0]
                await self._pending.again(left.id, left.turn, left.unwritten, self._clock.now() + PAUSES[0])
                self._untold.popleft()
            return await self._pending.take(BATCH)

    async def _work(self, pending: Pending, look: Look) -> None:
        try:
            await self._look_at(pending, look)
        except LookWithdrawnError:
            _log.info(REFLECTION_WITHDRAWN, reference=pending.turn.run_id)
            with suppress(StateError):
                await self._pending.done(pending.id)
        except StateError as fault:
            _log.error(REFLECTIONS_UNREACHABLE, reason=str(fault))
            # No model was asked: nothing that comes after that raises it.
            self._untold.append(pending)
        finally:
            self._looks.end(look)

    async def _look_at(self, pending: Pending, look: Look) -> None:
        async with self._places:
            course = _Course(self._pending, pending, look)
            await course.begins()
            if pending.unwritten:
                outcome = await self._reflector.write_again(pending.turn, pending.unwritten)
            else:
                outcome = await self._reflector.reflect(pending.turn, course)
        with suppress(StateError):
            await self._settle(pending, outcome)
        chat = self._chats.pop(pending.turn.run_id, None)
        if outcome.remembered and chat is not None:
            await self._tell(pending.turn, outcome, chat)

    async def _settle(self, pending: Pending, outcome: Outcome) -> None:
        is_old = self._clock.now() - pending.created_at > KEPT
        # Where no scope could be looked into, no model was asked: the whole turn can come again.
        is_undone = bool(outcome.unwritten) or outcome.reason == UNREADABLE
        if is_undone and not is_old:
            pause = PAUSES[min(pending.attempts, len(PAUSES)) - 1]
            await self._pending.again(pending.id, pending.turn, outcome.unwritten, self._clock.now() + pause)
            return
        if is_undone:
            _log.error(REFLECTION_GIVEN_UP, reference=pending.turn.run_id, scopes=len(outcome.unwritten))
        await self._pending.done(pending.id)
