"""Learning from finished turns, off their path: what is pending is worked off now, and again after a restart."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NewType, Protocol

import structlog

from app.background import Spawn
from app.channel import Chat
from app.clock import Clock
from app.errors import StateError
from app.sessions.entry import SessionKey
from app.sessions.transcript import TranscriptMessage
from memory.outcome import Batch, Outcome
from memory.reflector import UNREADABLE, Course
from memory.turn import FinishedTurn

REFLECTION_LOST = "reflection_lost"
REFLECTION_GIVEN_UP = "reflection_given_up"
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


@dataclass(frozen=True, slots=True)
class _Look:
    """At a turn of a conversation, under way or waiting for its model."""

    session_key: str
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


class PendingReflections(Protocol):
    """Adapters: over the state database. Rows are made when a turn is kept, in the same step.

    Every call raises ``StateError``'s tree.
    """

    async def take(self, limit: int) -> Sequence[Pending]:
        """What is due, oldest first, marked as begun, so that no other taker gets it."""
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
    """Implements ``memory.reflector.Course``: a next process goes on from what is written down here."""

    def __init__(self, rows: PendingReflections, pending: Pending) -> None:
        self._rows = rows
        self._pending = pending

    async def begins(self) -> None:
        await self._keep(replace(self._pending, looks=self._pending.looks + 1))

    async def asking(self) -> None:
        await self._keep(replace(self._pending, awaits_model=False))

    async def learned(self, batches: Sequence[Batch]) -> None:
        """Where that cannot be written down, the batches themselves still can."""
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
        self._looks: dict[ReflectionId, _Look] = {}

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
        await asyncio.gather(*(look.is_over.wait() for look in self._looks.values() if look.session_key == key))

    async def work_off(self) -> int:
        """How many were looked at."""
        count = 0
        try:
            while taken := await self._pending.take(BATCH):
                await asyncio.gather(*(self._work(each) for each in taken))
                count += len(taken)
        except StateError as fault:
            _log.error(REFLECTIONS_UNREACHABLE, reason=str(fault))
        return count

    async def _work(self, pending: Pending) -> None:
        look = self._looks[pending.id] = _Look(pending.turn.session_key)
        try:
            await self._look_at(pending)
        except StateError as fault:
            _log.error(REFLECTIONS_UNREACHABLE, reason=str(fault))
        finally:
            del self._looks[pending.id]
            look.is_over.set()

    async def _look_at(self, pending: Pending) -> None:
        async with self._places:
            course = _Course(self._pending, pending)
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
