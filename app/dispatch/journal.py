"""The journal port: what became of every message, so that none is lost or answered twice, whatever ends the process."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NewType, Protocol

from app.channel import IncomingMessage, Place
from app.sessions.entry import SessionEntry, SessionKey
from app.sessions.source import SessionSource
from app.sessions.transcript import TranscriptMessage
from app.sessions.usage import Run
from commands.spec import Replaced
from memory.turn import FinishedTurn

MessageId = NewType("MessageId", int)
"""Counts up in the order of acceptance."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that is the bot's to answer from now on."""

    id: MessageId
    message: IncomingMessage
    session_key: SessionKey
    accepted_at: datetime
    address: str | None = None
    """From which its channel finds the conversation again; ``None`` when it ends with the process."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message whose answer is not made, and that is no command."""

    id: MessageId
    session_key: SessionKey


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What a finished turn leaves behind, kept with the promise to deliver its answer."""

    run: Run
    lines: tuple[TranscriptMessage, ...]
    watermark: str | None
    prompt_tokens: int | None
    """Of the last model call; ``None`` when there was none."""
    is_success: bool
    reflection: FinishedTurn | None = None
    """What memory may learn from, kept in the same step until it was looked at."""


@dataclass(frozen=True, slots=True)
class Promise:
    """An answer that is owed: it was made, and nobody knows yet whether all of it was shown."""

    text: str
    record: TurnRecord | None
    attempts: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A message whose end is not known, as a new process finds it."""

    accepted: Accepted
    begins: int
    """How often work on it was begun."""
    is_command: bool
    promise: Promise | None


@dataclass(frozen=True, slots=True)
class Boot:
    """What a new process learns of the ones before it."""

    was_clean: bool
    """Whether the last process stopped in order, with nothing under way."""
    recent_at: tuple[datetime, ...]
    """Starts, latest first, this one included."""


class Journal(Protocol):
    """Adapters: over the state database.

    Every call returns once what it says has reached the disk, and raises ``StateError``'s tree when it has not.
    """

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        """Claim the message; ``None`` when it was claimed before.

        One message has two names: its delivery's event id, and its place (workspace, channel, position, part),
        because a mention arrives as two events. Returns before the platform is acknowledged.
        """
        ...

    async def withdraw(self, place: Place, parts: Collection[str]) -> Sequence[Waiting]:
        """The message at ``place`` is taken back: those of its ``parts`` that are ``Waiting`` end; which did."""
        ...

    async def reword(self, place: Place, text: str) -> Waiting | None:
        """The message at ``place`` says ``text`` from now on; ``None``, and no more, if it is not ``Waiting``."""
        ...

    async def begin(self, accepted: Accepted, source: SessionSource) -> SessionEntry:
        """Work on a turn begins: its session's entry, in which the turn is marked as under way."""
        ...

    async def begin_command(self, accepted: Accepted) -> None: ...

    async def posted(self, accepted: Accepted, position: str) -> None:
        """The platform's message at ``position`` belongs to this one's answer."""
        ...

    async def foreign(self, accepted: Accepted) -> frozenset[str]:
        """Positions in the same thread that belong to answers of other messages."""
        ...

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        """The answer is made; from now on it is delivered rather than made again. ``carried`` messages end with it."""
        ...

    async def lead_on(
        self, accepted: Accepted, text: str, then: IncomingMessage, replaced: Replaced | None = None
    ) -> Accepted | None:
        """Promise ``text``, a command's answer, and accept ``then``, which the command has answered, in one step.

        Another process finds ``then`` where the command stands, before all that was accepted after that, and nobody
        finds the turn in whose place it is answered. ``None``, and the promise alone, when it was claimed before.
        """
        ...

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        """The message has its visible end, and its turn is no longer under way.

        The turn is kept in the same step, transcript, tokens and usage: ``record``, or without one what was promised.
        It is kept once, whoever ends the message again, because it was not known whether its end was written. What was
        said is no longer kept here.
        """
        ...

    async def undelivered(self, accepted: Accepted, record: TurnRecord | None) -> int:
        """The answer could not be shown; the turn is kept as by ``end``, the promise stays. How often it was tried."""
        ...

    async def unfinished(self) -> Sequence[Unfinished]:
        """In the order of acceptance, as far as nothing was accepted in the place of something else."""
        ...

    async def began(self) -> Boot:
        """A process starts.

        After an unclean end, what was active is marked to be resumed; what was active in too many starts in a row is
        suspended (session lifecycle, section 7).
        """
        ...

    async def prune(self) -> int:
        """Forget the names of what ended long ago; how many messages."""
        ...

    async def stopped(self, *, is_clean: bool) -> None:
        """The process ends in order. What is still active is marked to be resumed."""
        ...
