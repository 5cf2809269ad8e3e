"""What any channel is to the bot: a message that came in, and the conversation it is answered in."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol

UserId = NewType("UserId", str)
"""Platform-namespaced person: ``slack:U…``."""
ChannelId = NewType("ChannelId", str)
"""Platform-namespaced place: ``slack:C…``."""
WorkspaceId = NewType("WorkspaceId", str)
"""Platform-namespaced workspace: ``slack:T…``."""
ThreadKey = NewType("ThreadKey", str)
"""Platform-namespaced conversation: ``slack:C…:<ts of the thread's root>``, or the channel's id for its top."""
EventId = NewType("EventId", str)
"""One delivery as the platform names it; a redelivery carries the same one."""
Reference = NewType("Reference", str)
"""A short id shown to people and bound to every log line of the turn it names."""


class Visibility(StrEnum):
    """Who can see what is said in a channel; decides how far a memory may travel."""

    PUBLIC = "public"
    PRIVATE = "private"
    DM = "dm"
    MACHINE = "machine"
    UNKNOWN = "unknown"


class Address(StrEnum):
    """Why the bot may be meant."""

    DIRECT = "direct"
    """Said to the bot alone, in a DM."""
    MENTION = "mention"
    """Names the bot."""
    FOLLOW_UP = "follow_up"
    """An unmentioned reply in a thread: meant for the bot only if the bot takes part in that thread."""


@dataclass(frozen=True, slots=True)
class IncomingFile:
    """A file that came with a message; its bytes stay with the platform until somebody needs them."""

    id: str
    name: str
    media_type: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands on its platform, and nothing else does."""

    workspace_id: WorkspaceId
    channel_id: ChannelId
    position: str


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """One message from a person, normalised at the edge."""

    event_id: EventId
    workspace_id: WorkspaceId
    channel_id: ChannelId
    user_id: UserId
    thread_key: ThreadKey
    position: str
    """The platform's own name for the message's place in its channel (Slack: ``ts``)."""
    text: str
    """What was said, entities decoded, the bot's own mention taken out."""
    visibility: Visibility
    address: Address
    starts_thread: bool
    """True when the message is itself the root of its thread; what is answered at the top of a channel is no root."""
    sent_at: datetime
    received_at: datetime
    reference: Reference
    files: tuple[IncomingFile, ...] = ()
    part: str = ""
    """Which turn of the message this is: empty for itself, else what its command asked to be run after it."""
    brings_history: bool = False
    """True for a program's message that comes with what was said before, so that nothing is kept for it here."""

    @property
    def place(self) -> Place:
        return Place(self.workspace_id, self.channel_id, self.position)


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """One earlier message of a thread."""

    position: str
    author: str
    """The author's display name, one line."""
    by_bot: bool
    """True for the bot's own messages."""
    text: str
    files: int = 0
    """How many came with it; none are counted of the bot's own."""


@dataclass(frozen=True, slots=True)
class Remains:
    """What an earlier, broken-off attempt to answer a message left in the thread."""

    positions: tuple[str, ...] = ()
    """The bot's messages that belong to no other turn, oldest first."""
    is_whole: bool = False
    """True when they are a complete answer."""


def no_others() -> Collection[str]:
    """For answers that are one message's alone."""
    return ()


def nobody_listens(_position: str) -> None:
    """For answers whose messages nobody keeps track of."""


class Reply(Protocol):
    """One answer being written into a thread while it is produced. One task writes it.

    What was given to ``write`` becomes visible in order, each character once, whatever the platform refuses
    on the way; the adapter splits it into as many messages as the platform's limits ask for.
    """

    def write(self, text: str) -> None:
        """Take more of the answer; returns at once. The text is visible about a second later at the latest."""
        ...

    def hold(self) -> None:
        """All is written and ``finish`` comes next: what is not visible yet may wait for it, a moment at most."""
        ...

    async def finish(self) -> None:
        """Return once everything written is visible and the answer is closed.

        Raises ``DeliveryError`` when the platform definitely took none of the ways to show it.
        """
        ...

    async def abandon(self) -> None:
        """Close the answer where it stands, keeping what is visible. Safe after any failure; never raises."""
        ...


class StatusCard(Protocol):
    """The line under a thread that says what the bot is doing. Advisory: never raises, never delays a turn."""

    async def show(self, text: str) -> None:
        """Show ``text`` until the next ``show``, ``clear`` or reply; the adapter keeps it alive."""
        ...

    async def clear(self) -> None: ...


class Chat(Protocol):
    """The one conversation a message belongs to."""

    async def takes_part(self) -> bool:
        """Whether the bot has spoken in this thread or was mentioned in it, decided from the thread itself.

        Raises ``ChannelUnavailableError`` when the platform could not be asked.
        """
        ...

    async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:
        """The thread before the message, oldest first; empty for a message that starts its thread.

        With ``after`` only what stands behind that position.

        Raises ``ChannelUnavailableError`` when the platform could not be asked.
        """
        ...

    async def asker(self) -> str:
        """The display name of whoever wrote the message, one line; their id when the platform does not tell."""
        ...

    def knows_asker(self) -> bool:
        """Whether ``asker`` need not wait for anybody now."""
        ...

    async def say(self, text: str) -> None:
        """Post one whole message into the thread. Raises ``DeliveryError``."""
        ...

    async def whisper(self, text: str) -> None:
        """Tell only the one who wrote, as far as the platform can. Advisory: never raises."""
        ...

    async def notice(self, text: str, token: str) -> None:
        """Show only the one who wrote that something was remembered, with a way to take it back by ``token``.

        Advisory: never raises.
        """
        ...

    async def remains(self, foreign: Collection[str]) -> Remains:
        """What is left of an earlier attempt at this message; ``foreign`` positions belong to other turns.

        Raises ``ChannelUnavailableError`` when the platform could not be asked.
        """
        ...

    def also(self, part: str) -> "Chat":
        """The same conversation, for one more turn that the message asked for."""
        ...

    def reusing(self, positions: Sequence[str]) -> "Chat":
        """The same conversation, whose next answer takes the place of these messages of the bot."""
        ...

    def noting(self, on_posted: Callable[[str], None], others: Callable[[], Collection[str]] = no_others) -> "Chat":
        """The same conversation; ``on_posted`` hears where answers stand in it that do not tell whose they are.

        Its next answer is also that of the messages at ``others``, asked for when it ends: another process finds it
        when it looks for the ``remains`` of an answer to one of them.
        """
        ...

    def status(self) -> StatusCard: ...

    def reply(self) -> Reply: ...
