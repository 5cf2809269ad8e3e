"""What the dispatcher needs from the rest of the house, wired by ``app.bootstrap``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from app.agents.definitions import Agent
from app.agents.loop import AgentLoop
from app.agents.providers.base import ModelProvider
from app.dispatch.inbox import Inbox
from app.dispatch.provision import Provision
from app.dispatch.resolve import Defaults
from app.sessions.store import SessionStore
from commands.registry import Registry
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


@dataclass(frozen=True, slots=True)
class Ports:
    inbox: Inbox
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
