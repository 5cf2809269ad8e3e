"""Which agent answers, on which model: the layers of preference, weakest last."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.agents.definitions import Agent
from app.agents.providers.base import Effort
from app.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Defaults:
    """The last layer."""

    agent: str
    model: str
    """``<provider>/<model>``."""
    effort: Effort | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    agent: Agent
    model: str
    effort: Effort | None


def resolve(agents: Mapping[str, Agent], defaults: Defaults) -> Resolution:
    """The agent's own preferences before the defaults. Raises ``ConfigurationError`` for an unknown agent."""
    agent = agents.get(defaults.agent)
    if agent is None:
        raise ConfigurationError(f"there is no agent “{defaults.agent}”; known agents: {', '.join(sorted(agents))}")
    return Resolution(agent, agent.model or defaults.model, agent.effort or defaults.effort)
