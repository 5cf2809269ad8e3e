"""What people can choose among, as the settings of the deployment make it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.agents.definitions import Agent
from app.dispatch.resolve import Defaults, KnownModels, resolve, wishes_of
from commands.preferences import InEffect, Name, Setting


@dataclass(frozen=True, slots=True)
class ConfiguredChoices:
    """Implements ``commands.ports.Choices``."""

    known: Mapping[str, Agent]
    defaults: Defaults
    models: KnownModels

    def agents(self) -> Sequence[str]:
        return sorted(self.known)

    def providers(self) -> Sequence[str]:
        return sorted(self.models.providers)

    def knows_model(self, reference: str) -> bool:
        return self.models(reference)

    def in_effect(self, kept: Sequence[Setting]) -> Sequence[InEffect]:
        resolution = resolve(self.known, self.defaults, wishes_of(kept), self.models)
        sources = resolution.sources
        return (
            InEffect(Name.AGENT, resolution.agent.name, sources.agent),
            InEffect(Name.MODEL, resolution.model, sources.model),
            InEffect(Name.EFFORT, resolution.effort, sources.effort),
            InEffect(Name.REPO, resolution.repo, sources.repo),
        )
