"""What the dispatcher needs from the rest of the house, wired by ``app.bootstrap``."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from app.access.authority import Asker
from app.agents.definitions import Agent
from app.agents.loop import AgentLoop
from app.agents.providers.base import ModelProvider
from app.background import Spawn
from app.channel import Chat
from app.clock import Clock
from app.dispatch import sharing
from app.dispatch.journal import Journal
from app.dispatch.keying import Keying
from app.dispatch.provision import Provision
from app.dispatch.records import Keeping
from app.dispatch.resolve import Defaults, KnownModels
from app.dispatch.work import Work
from app.sessions.busy import BusyInput
from app.sessions.cached_transcripts import Keep
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.lines import Lines
from app.sessions.transcript import TranscriptMessage
from app.sessions.usage import Usage
from commands.ports import Decision, Preferences
from commands.registry import Registry
from commands.spec import Caller
from memory.turn import FinishedTurn


class Model(Protocol):
    """A model that can be called: who to ask and by which name."""

    @property
    def provider(self) -> ModelProvider: ...

    @property
    def model(self) -> str: ...


class Models(Protocol):
    def resolve(self, reference: str) -> Model:
        """The model behind ``<provider>/<model>``. Raises ``ConfigurationError``."""
        ...


class Access(sharing.Access, Protocol):
    """Who may have what. Denies what it does not know."""

    async def asker(self, caller: Caller) -> Asker:
        """The facts about who asks and where. Never raises."""
        ...

    def may_talk(self, asker: Asker) -> Decision: ...

    def may_run_agent(self, asker: Asker, agent: str) -> Decision: ...

    def admins(self) -> str:
        """Whom to ask, as people write it."""
        ...


class Reflection(Protocol):
    """Learns from finished turns, off their path."""

    def schedule(self, turn: FinishedTurn, chat: Chat) -> None:
        """A turn is kept that may teach something. Returns at once and never raises."""
        ...


class Transcripts(Protocol):
    """What was said in sessions, at hand. Adapters: a cache over the session store."""

    async def load(self, entry: SessionEntry) -> Sequence[TranscriptMessage]:
        """Every line of the entry's session, oldest first.

        Raises ``StateError``'s tree and ``TranscriptUnreadableError``: what cannot be read is not empty.
        """
        ...

    def extend(self, entry: SessionEntry, lines: Sequence[TranscriptMessage], keep: Keep | None = None) -> None:
        """Lines that follow; ``keep`` writes down those that could not be written yet, before anybody loads them."""
        ...

    def forget(self, session_id: SessionId) -> None:
        """The session's lines are other ones now than were loaded."""
        ...

    def pinned(self, key: SessionKey) -> AbstractContextManager[None]:
        """Around a turn of the conversation, whose lines are not let go meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    journal: Journal
    transcripts: Transcripts
    access: Access
    commands: Registry
    agents: Mapping[str, Agent]
    knows_model: KnownModels
    """Whether the provider of ``<provider>/<model>`` is set up."""
    preferences: Preferences
    defaults: Defaults
    models: Models
    provision: Provision
    loop: AgentLoop
    reflection: Reflection | None
    """``None`` while memory is off, or learns only what it is told."""
    clock: Clock
    spawn: Spawn
    keying: Keying
    lines: Lines[Work]
    usage: Usage
    keeping: Keeping


@dataclass(frozen=True, slots=True)
class Limits:
    turn_s: float
    message_chars: int
    busy_input: BusyInput = BusyInput.QUEUE
