"""What the dispatcher needs from the rest of the house, wired by ``app.bootstrap``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from app.access.authority import Asker
from app.agents.definitions import Agent
from app.agents.loop import AgentLoop
from app.agents.providers.base import ModelProvider
from app.dispatch.inbox import Inbox
from app.dispatch.provision import Provision
from app.dispatch.resolve import Defaults
from app.sessions.opening import SessionStore
from commands.ports import Decision
from commands.registry import Registry
from commands.spec import Caller
from memory.reflection import Reflection


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


class Access(Protocol):
    """Who may have what. Denies what it does not know."""

    async def asker(self, caller: Caller) -> Asker:
        """The facts about who asks and where. Never raises."""
        ...

    def may_talk(self, asker: Asker) -> Decision: ...

    def may_run_agent(self, asker: Asker, agent: str) -> Decision: ...

    def may_recall_org(self, asker: Asker) -> Decision:
        """Whether the organisation's memory may go before an answer that everybody in the place reads."""
        ...

    def admins(self) -> str:
        """Whom to ask, as people write it."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    inbox: Inbox
    access: Access
    commands: Registry
    agents: Mapping[str, Agent]
    defaults: Defaults
    models: Models
    sessions: SessionStore
    provision: Provision
    loop: AgentLoop
    reflection: Reflection


@dataclass(frozen=True, slots=True)
class Limits:
    concurrent_turns: int
    turn_s: float
    message_chars: int
