"""What people can choose among, as the settings of the deployment make it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.agents.definitions import Agent
from app.dispatch.resolve import Defaults, resolve, wishes_of
from commands.preferences import InEffect, Name, Setting


@dataclass(frozen=True, slots=True)
class ConfiguredChoices:
    """Implements ``commands.ports.Choices``."""

    known: Mapping[str, Agent]
    defaults: Defaults
    has_model: Callable[[str], bool]

    def agents(self) -> Sequence[str]:
        return sorted(self.known)

    def knows_model(self, reference: str) -> bool:
        return self.has_model(reference)

    def in_effect(self, kept: Sequence[Setting]) -> Sequence[InEffect]:
        resolution = resolve(self.known, self.defaults, wishes_of(kept), self.has_model)
        sources = resolution.sources
        return (
            InEffect(Name.AGENT, resolution.agent.name, sources.agent),
            InEffect(Name.MODEL, resolution.model, sources.model),
            InEffect(Name.EFFORT, resolution.effort, sources.effort),
        )
