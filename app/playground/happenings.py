"""What happens in the workspace, as values: the one feed that event delivery and the page both listen to."""

from dataclasses import dataclass, field

from app.playground.model import Json, Message, View


@dataclass(frozen=True, slots=True)
class MessagePosted:
    message: Message


@dataclass(frozen=True, slots=True)
class MessageChanged:
    """An edit, an unfurl or progress of a stream; ``previous`` is a copy from before."""

    message: Message
    previous: Message


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    message: Message
    deleted_ts: str
    """The ts of the deletion itself."""


@dataclass(frozen=True, slots=True)
class EphemeralPosted:
    """Shown to one person, kept nowhere."""

    channel: str
    user: str
    ts: str
    text: str
    blocks: list[Json] = field(default_factory=list[Json])
    thread_ts: str | None = None
    app_id: str | None = None
    """Whose message it is: clicks in it go there."""
    attachments: list[Json] = field(default_factory=list[Json])


@dataclass(frozen=True, slots=True)
class ReactionAdded:
    user: str
    name: str
    message: Message
    event_ts: str


@dataclass(frozen=True, slots=True)
class ReactionRemoved:
    user: str
    name: str
    message: Message
    event_ts: str


@dataclass(frozen=True, slots=True)
class FileShared:
    file_id: str
    user: str
    channel: str
    event_ts: str


@dataclass(frozen=True, slots=True)
class MemberJoined:
    channel: str
    user: str
    inviter: str | None
    event_ts: str


@dataclass(frozen=True, slots=True)
class MemberLeft:
    channel: str
    user: str
    event_ts: str


@dataclass(frozen=True, slots=True)
class ChannelCreated:
    """Also a DM that was opened for the first time."""

    channel: str


@dataclass(frozen=True, slots=True)
class ChannelChanged:
    """Renamed, archived, or a new topic or purpose."""

    channel: str


@dataclass(frozen=True, slots=True)
class HomeOpened:
    user: str
    tab: str
    """``home`` or ``messages``."""
    channel: str
    """The DM between the person and the app."""
    event_ts: str


@dataclass(frozen=True, slots=True)
class HomePublished:
    view: View


@dataclass(frozen=True, slots=True)
class ModalShown:
    """Opened, pushed or updated."""

    view: View


@dataclass(frozen=True, slots=True)
class ModalClosed:
    view: View


@dataclass(frozen=True, slots=True)
class ThreadStatus:
    """assistant.threads.setStatus; an empty text clears."""

    channel: str
    thread_ts: str
    text: str
    loading_messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestedPrompts:
    channel: str
    thread_ts: str | None
    title: str
    prompts: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class ThreadTitle:
    channel: str
    thread_ts: str
    title: str


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """agents.sessions.setStatus: ``active``, ``processing``, ``suspended`` or ``closed``."""

    channel: str
    thread_ts: str
    status: str


@dataclass(frozen=True, slots=True)
class SessionStopped:
    """A person pressed Stop."""

    channel: str
    user: str
    thread_ts: str
    streaming_ts: tuple[str, ...]
    event_ts: str


Happening = (
    MessagePosted
    | MessageChanged
    | MessageDeleted
    | EphemeralPosted
    | ReactionAdded
    | ReactionRemoved
    | FileShared
    | MemberJoined
    | MemberLeft
    | ChannelCreated
    | ChannelChanged
    | HomeOpened
    | HomePublished
    | ModalShown
    | ModalClosed
    | ThreadStatus
    | SuggestedPrompts
    | ThreadTitle
    | SessionStatus
    | SessionStopped
)
