"""The channel of programs and of the terminal: a message without a platform, and the answer as plain text."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

from app.background import Spawn, beside
from app.channel import (
    Address,
    ChannelId,
    Chat,
    EventId,
    IncomingMessage,
    Reference,
    Remains,
    ThreadKey,
    ThreadMessage,
    UserId,
    Visibility,
    WorkspaceId,
    no_others,
)
from app.clock import Clock
from app.dispatch.journal import Accepted

DEFAULT_PLACE = "default"
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@/#+-]{0,99}$"
"""A subject, channel or thread as programs name it: no colon, which separates the parts of a key."""
COMPLETED, FAILED = "completed", "failed"
_WHOLE = frozenset({"ran", "command", "greeted"})
"""Outcomes of a turn that are the answer that was asked for."""


class Dispatch(Protocol):
    """What takes messages; ``app.dispatch.dispatcher.Dispatcher`` does."""

    async def accept(self, message: IncomingMessage) -> Accepted | None: ...

    async def handle(self, accepted: Accepted, chat: Chat) -> str:
        """See the message to its end; the outcome's name."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program speaks: ``platform`` is ``cli``, ``http`` or ``mcp``; the names hold no colon."""

    platform: str
    subject: str
    channel: str = DEFAULT_PLACE
    thread: str = DEFAULT_PLACE

    @property
    def caller_id(self) -> str:
        return f"{self.platform}:{self.subject}"

    @property
    def channel_id(self) -> str:
        return f"{self.platform}:{self.channel}"

    @property
    def thread_key(self) -> str:
        return f"{self.channel_id}:{self.thread}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program says, and what was said before as far as it tells."""

    place: Place
    text: str
    history: tuple[ThreadMessage, ...] = ()


def incoming(asked: Asked, clock: Clock) -> IncomingMessage:
    """The message of a program: always meant for the bot, never seen before."""
    place, unique, now = asked.place, uuid4().hex, clock.now()
    return IncomingMessage(
        event_id=EventId(f"{place.platform}:{unique}"),
        workspace_id=WorkspaceId(place.platform),
        channel_id=ChannelId(place.channel_id),
        user_id=UserId(place.caller_id),
        thread_key=ThreadKey(place.thread_key),
        position=unique,
        text=asked.text,
        visibility=Visibility.MACHINE,
        address=Address.DIRECT,
        starts_thread=not asked.history,
        sent_at=now,
        received_at=now,
        reference=Reference(unique[:8]),
        brings_history=bool(asked.history),
    )


class ConsoleReply:
    """One answer as it is collected."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def hold(self) -> None:
        """Nothing is shown before the end anyway."""

    async def finish(self) -> None:
        """Everything written is there already."""

    async def abandon(self) -> None:
        """What was written stays."""


class ConsoleStatus:
    """Shows nothing; a turn that says what it is doing has begun."""

    def __init__(self, has_begun: asyncio.Event) -> None:
        self._has_begun = has_begun

    async def show(self, text: str) -> None:  # noqa: ARG002 - nobody watches a status here
        self._has_begun.set()

    async def clear(self) -> None:
        """There is nothing to clear."""


class ConsoleChat:
    """Collects what the bot says to one message."""

    def __init__(self, subject: str, history: Sequence[ThreadMessage] = ()) -> None:
        self.has_begun = asyncio.Event()
        self._subject = subject
        self._history = history
        self._replies: list[ConsoleReply] = []
        self._status = ConsoleStatus(self.has_begun)

    @property
    def text(self) -> str:
        """Everything said, in order, with a blank line between answers."""
        return "\n\n".join(reply.text.strip("\n") for reply in self._replies if reply.text.strip())

    async def takes_part(self) -> bool:
        return True

    async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:  # noqa: ARG002 - it is given as a whole
        return self._history

    async def asker(self) -> str:
        return self._subject

    def knows_asker(self) -> bool:
        return True

    async def say(self, text: str) -> None:
        self.reply().write(text)

    async def whisper(self, text: str) -> None:
        """Nobody watches while a program waits."""

    async def notice(self, text: str, token: str) -> None:
        """A program that is answered hears of nothing else."""

    async def remains(self, foreign: Collection[str]) -> Remains:  # noqa: ARG002 - nothing outlives the process here
        return Remains()

    def also(self, part: str) -> "ConsoleChat":  # noqa: ARG002 - everything that is said goes to the one who waits
        return self

    def reusing(self, positions: Sequence[str]) -> "ConsoleChat":  # noqa: ARG002 - as above
        return self

    def noting(
        self,
        on_posted: Callable[[str], None],  # noqa: ARG002 - as above
        others: Callable[[], Collection[str]] = no_others,  # noqa: ARG002 - as above
    ) -> "ConsoleChat":
        return self

    def status(self) -> ConsoleStatus:
        return self._status

    def reply(self) -> ConsoleReply:
        reply = ConsoleReply()
        self._replies.append(reply)
        return reply


class ConsoleTurn:
    """A message of a program on its way through the dispatcher."""

    def __init__(self, message: IncomingMessage, chat: ConsoleChat, task: asyncio.Task[None]) -> None:
        self.reference = message.reference
        self.thread_key = message.thread_key
        self._chat = chat
        self._task = task
        self.outcome: str | None = None

    @property
    def text(self) -> str:
        return self._chat.text

    @property
    def is_crashed(self) -> bool:
        """Whether it ended in a way that nobody foresaw; the log has the reason."""
        return self.outcome is None

    @property
    def status(self) -> str:
        """``completed`` for the answer that was asked for, else ``failed``."""
        return COMPLETED if self.outcome in _WHOLE else FAILED

    async def end(self) -> None:
        """Return once the turn has ended; cancelling this cancels the turn."""
        await self._task

    async def end_or_beginning(self, patience_s: float) -> bool:
        """Wait for the turn's end, its agent's beginning or ``patience_s``; whether it has ended."""
        async with beside(self._chat.has_begun.wait(), name="console_beginning") as beginning:
            await asyncio.wait({self._task, beginning}, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        return self._task.done()


class Console:
    """Sends what programs say through the same dispatcher as everybody else."""

    def __init__(self, dispatcher: Dispatch, spawn: Spawn, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._spawn = spawn
        self._clock = clock

    def begin(self, asked: Asked) -> ConsoleTurn:
        message, chat = incoming(asked, self._clock), ConsoleChat(asked.place.subject, asked.history)
        turn: ConsoleTurn

        async def handle() -> None:
            accepted = await self._dispatcher.accept(message)
            if accepted is not None:
                turn.outcome = await self._dispatcher.handle(accepted, chat)

        turn = ConsoleTurn(message, chat, self._spawn(handle(), name="console_turn"))
        return turn

    async def ask(self, asked: Asked) -> ConsoleTurn:
        """Begin a turn and see it to its end."""
        turn = self.begin(asked)
        await turn.end()
        return turn
