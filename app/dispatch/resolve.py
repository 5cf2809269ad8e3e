"""Which agent answers, on which model, with how much effort, about which repository: the layers, weakest last."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.agents.definitions import Agent
from app.agents.providers.base import Effort
from app.errors import ConfigurationError
from commands.preferences import OF_A_REPO, Layer, Name, Setting
from memory.repository import NONE, chosen

T = TypeVar("T")

SAID_OR_SET = (Layer.REQUEST, Layer.THREAD, Layer.USER, Layer.CHANNEL)
"""Layers in which somebody asked for something, strongest first. The agent's own preference and the defaults follow:
an agent is configured for its model, so that goes before what holds for all; whoever names one knows better."""
BINDING = (Layer.REQUEST, *OF_A_REPO)
"""Layers in which somebody said what repository this is about. An agent has none of its own."""
_EFFORTS: Mapping[str, Effort] = {"low": "low", "medium": "medium", "high": "high"}


@dataclass(frozen=True, slots=True)
class Defaults:
    """The last layer."""

    agent: str
    model: str
    """``<provider>/<model>``."""
    effort: Effort | None = None
    repo: str | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What one layer asks for; ``None`` where it leaves the choice to weaker ones."""

    agent: str | None = None
    model: str | None = None
    effort: Effort | None = None
    repo: str | None = None


NO_WISH = Wish()
Wishes = Mapping[Layer, Wish]
NO_WISHES: Wishes = {}


@dataclass(frozen=True, slots=True)
class Sources:
    """The layer that each part of a resolution comes from."""

    agent: Layer = Layer.DEFAULTS
    model: Layer = Layer.DEFAULTS
    effort: Layer = Layer.DEFAULTS
    repo: Layer = Layer.DEFAULTS


@dataclass(frozen=True, slots=True)
class Resolution:
    agent: Agent
    model: str
    effort: Effort | None
    repo: str | None
    """As ``memory.repository`` spells it; ``None`` for what is about none."""
    sources: Sources = Sources()


@dataclass(frozen=True, slots=True)
class _Found(Generic[T]):
    value: T
    layer: Layer


@dataclass(frozen=True, slots=True)
class KnownModels:
    """Whether ``<provider>/<model>`` may be asked for: its provider is set up. Which it has, only the vendor knows."""

    providers: frozenset[str]

    def __call__(self, reference: str) -> bool:
        return reference.partition("/")[0] in self.providers


def any_model(_reference: str) -> bool:
    """For those who check a model when it is called."""
    return True


def resolve(
    agents: Mapping[str, Agent],
    defaults: Defaults,
    wishes: Wishes = NO_WISHES,
    knows_model: Callable[[str], bool] = any_model,
) -> Resolution:
    """Agent, model, effort and repository, each from the strongest layer that has one; they are found independently.

    A layer that asks for an agent or a model that is no longer there is passed over, because it was set at another
    time and must not silence everybody; what the message itself asks for is checked when it is read (``directives``).
    Raises ``ConfigurationError`` for a default agent that does not exist.
    """
    asked = [(layer, wishes[layer]) for layer in SAID_OR_SET if layer in wishes]
    agent = _strongest((layer, agents.get(wish.agent or "")) for layer, wish in asked)
    agent = agent or _Found(_default_agent(agents, defaults), Layer.DEFAULTS)
    known = ((layer, wish.model if wish.model and knows_model(wish.model) else None) for layer, wish in asked)
    model = _strongest([*known, (Layer.AGENT, agent.value.model)]) or _Found(defaults.model, Layer.DEFAULTS)
    effort = _strongest([*((layer, wish.effort) for layer, wish in asked), (Layer.AGENT, agent.value.effort)])
    repo = _strongest((layer, wish.repo) for layer, wish in asked if layer in BINDING)
    return Resolution(
        agent.value,
        model.value,
        effort.value if effort else defaults.effort,
        _repository(repo.value if repo else defaults.repo),
        Sources(agent.layer, model.layer, _layer_of(effort), _layer_of(repo)),
    )


def wishes_of(kept: Iterable[Setting], request: Wish | None = None) -> Wishes:
    """What was set, by layer, and what the message itself asks for."""
    values: dict[Layer, dict[Name, str]] = {}
    for setting in kept:
        if setting.value is not None:
            values.setdefault(setting.slot.layer, {})[setting.slot.name] = setting.value
    wishes = {layer: _wish(named) for layer, named in values.items()}
    return wishes | {Layer.REQUEST: request or NO_WISH}


def effort_of(word: str) -> Effort | None:
    """``None`` for what is none."""
    return _EFFORTS.get(word)


def instructions_of(kept: Sequence[Setting], layer: Layer) -> str | None:
    """The advice that is kept in one layer."""
    found = (each.value for each in kept if each.slot.layer is layer and each.slot.name is Name.INSTRUCTIONS)
    return next(found, None)


def _wish(named: Mapping[Name, str]) -> Wish:
    effort, repo = effort_of(named.get(Name.EFFORT, "")), chosen(named.get(Name.REPO, ""))
    return Wish(named.get(Name.AGENT), named.get(Name.MODEL), effort, repo)


def _default_agent(agents: Mapping[str, Agent], defaults: Defaults) -> Agent:
    agent = agents.get(defaults.agent)
    if agent is None:
        raise ConfigurationError(f"there is no agent “{defaults.agent}”; known agents: {', '.join(sorted(agents))}")
    return agent


def _repository(chosen_one: str | None) -> str | None:
    return None if chosen_one == NONE else chosen_one


def _strongest(layers: Iterable[tuple[Layer, T | None]]) -> _Found[T] | None:
    for layer, value in layers:
        if value:
            return _Found(value, layer)
    return None


def _layer_of(found: _Found[T] | None) -> Layer:
    return found.layer if found else Layer.DEFAULTS
