"""One message on its way through the house, and the answer as it grows."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.agents.loop import TurnResult
from app.agents.metering import Meter, Taken
from app.channel import Chat, IncomingMessage, Remains, Reply
from app.dispatch.directives import Directed
from app.dispatch.journal import Accepted, TurnRecord
from app.dispatch.resolve import NO_WISH, Wish
from app.dispatch.sharing import NOTHING, Shared
from app.sessions.entry import SessionEntry
from app.sessions.ticket import Ticket
from app.sessions.transcript import TranscriptMessage
from memory.recall import Recalled

FOLLOWING = "+"
"""The part of a message that its command asked to be run after it."""
NOTHING_LEFT = Remains()


@dataclass(frozen=True, slots=True)
class Work:
    """An accepted message and the conversation it is answered in."""

    accepted: Accepted
    chat: Chat
    left: Remains = NOTHING_LEFT
    """What an earlier attempt, broken off with its process, has left in the thread."""
    is_left_over: bool = False
    """Accepted by an earlier process."""
    is_recovered: bool = False
    """Left over, and begun there: whoever waits may have seen something of it."""
    wish: Wish = NO_WISH
    """What the message itself asks for: agent, model, effort, repository."""

    @property
    def message(self) -> IncomingMessage:
        return self.accepted.message

    @property
    def position(self) -> str:
        """Of its line in the transcript."""
        return f"{self.message.position}{self.message.part}"

    @property
    def is_own_turn(self) -> bool:
        """Asked for by a command, which has told of it: answered by itself, in its turn."""
        return bool(self.message.part)

    def saying(self, text: str) -> "Work":
        """With ``text`` for the message's words."""
        if text == self.message.text:
            return self
        return replace(self, accepted=replace(self.accepted, message=replace(self.message, text=text)))

    def asking(self, asked: Directed) -> "Work":
        """With these words, and what they ask for about their answer."""
        said = self.saying(asked.text)
        return said if asked.wish == said.wish else replace(said, wish=asked.wish)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a message ended, for the turn's one log line."""

    name: str
    agent: str | None = None
    model: str | None = None
    taken: Taken | None = None
    """By its model calls, as far as that was counted; ``None`` when no model took up any."""
    result: TurnResult | None = None
    recalled: Recalled | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """An answer that is made, and the turn that is kept with it."""

    text: str
    outcome: str
    record: TurnRecord | None


class Heard:
    """Implements ``Reply`` over another one, and remembers what was written."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.text = ""
        self.is_closed = False
        """Whether its end was asked for, whatever became of that."""

    def write(self, text: str) -> None:
        self._reply.write(text)
        self.text += text

    def hold(self) -> None:
        self._reply.hold()

    async def finish(self) -> None:
        self.is_closed = True
        await self._reply.finish()

    async def abandon(self) -> None:
        self.is_closed = True
        await self._reply.abandon()


@dataclass(slots=True)
class Progress:
    """How far a turn has come; what is known of it when it breaks off is what can be kept of it."""

    tickets: list[Ticket[Work]]
    """Of the message that is answered, and of those that are taken along with it."""
    reply: Heard
    started_at: datetime
    entry: SessionEntry | None = None
    is_shared: bool = False
    agent: str = ""
    model: str = ""
    lines: list[TranscriptMessage] = field(default_factory=list[TranscriptMessage])
    """What the transcript did not have yet, the message itself last."""
    recalled: Recalled | None = None
    teaches: Shared = NOTHING
    """Who else may remember what is said here, beside the channel and the person."""
    prior_turns: int = 0
    meter: Meter = field(default_factory=Meter)
    """What the model calls have taken so far."""
    result: TurnResult | None = None
    answer_at: int = 0
    """Where in ``reply.text`` the model's own words begin."""
    made: Made | None = None
    """As it was to be promised last."""
    shown: Outcome | None = None
    """How the turn ended, once the whole answer is visible: nothing that happens after that changes it."""

    @property
    def work(self) -> Work:
        return self.tickets[0].said

    @property
    def standing(self) -> Sequence[Ticket[Work]]:
        """Those of the messages that nobody has taken back."""
        return standing(self.tickets)

    def final(self) -> Sequence[Ticket[Work]]:
        """The ``standing`` ones in their latest words, which a model is given now: they are not changed any more."""
        final = self.standing
        for ticket in final:
            ticket.is_final = True
        return final

    def leave_behind(self) -> None:
        """Go on without the messages that were taken along, which are answered by a turn of their own."""
        others = {ticket.said.position for ticket in self.tickets[1:]}
        # In place: whoever has asked for these tickets sees them go.
        del self.tickets[1:]
        self.lines = [line for line in self.lines if line.position not in others]

    @property
    def answer(self) -> str:
        """The model's words as far as they were written."""
        return self.result.text if self.result is not None else self.reply.text[self.answer_at :]

    def outcome(self, name: str) -> Outcome:
        """What there is to tell of the turn, which ends like that."""
        agent, model = self.agent or None, self.model or None
        return Outcome(name, agent, model, self.meter.taken, self.result, self.recalled)


def standing(tickets: Sequence[Ticket[Work]]) -> Sequence[Ticket[Work]]:
    """Those of the messages that nobody has taken back."""
    return [ticket for ticket in tickets if not ticket.is_withdrawn]
