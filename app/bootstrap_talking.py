"""The part of the composition root that puts the dispatcher's ports together, for the bot and for the terminal."""

from collections.abc import Mapping

from app.access.authority import TableAuthority
from app.agents.definitions import Agent, agents
from app.agents.loop import AgentLoop
from app.agents.pricing import Price, decimal
from app.agents.windows import Windows
from app.background import Background
from app.bootstrap_commands import CommandPorts, organization_of
from app.bootstrap_state import State
from app.clock import Clock
from app.dispatch.choices import ConfiguredChoices
from app.dispatch.conversations import Asked, Kept, LiveConversations
from app.dispatch.fitting import Fitting
from app.dispatch.journal import Journal
from app.dispatch.ports import Limits, Models, Ports, Reflection
from app.dispatch.provision import Budgets, Provision, Setting
from app.dispatch.records import Keeping
from app.dispatch.resolve import Defaults, KnownModels
from app.dispatch.unlearning import Unlearning
from app.dispatch.work import Work
from app.errors import ConfigurationError
from app.sessions.busy import BusyInput
from app.sessions.compressor import BeforeLoss, Compressor, Policy, nobody
from app.sessions.compressor import Ports as CompressorPorts
from app.sessions.housekeeping import PASS_S, PRUNE_S, Housekeeping, Job, pruning, sweeping
from app.sessions.lines import Lines
from app.sessions.pressure import MemoryGauge, PressurePass, PressureRules
from app.sessions.summariser import Summariser
from commands.builtin import Configuring, Records
from commands.ports import Lessons
from commands.registry import Registry
from config.settings import Settings
from memory.recall import Recall


class Talking:
    """What conversations are led with, made once and shared by the dispatcher and the commands."""

    def __init__(
        self,
        settings: Settings,
        state: State,
        models: Models,
        clock: Clock,
        background: Background,
        before_loss: BeforeLoss = nobody,
    ) -> None:
        self._settings = settings
        self._state = state
        self._models = models
        self._clock = clock
        self._background = background
        self._agents = agents_of(settings)
        self._defaults = defaults_of(settings)
        self._prices = prices_of(settings)
        self._compressor = self._made_compressor(before_loss)
        self.lines: Lines[Work] = Lines(settings.limits.concurrent_turns, settings.sessions.queue_cap)

    @property
    def journal(self) -> Journal:
        return self._state.journal

    def commands(self, lessons: Lessons | None = None) -> CommandPorts:
        """``lessons``: in a process that learns from turns."""
        state = self._state
        lessons = lessons or Unlearning(state.erasures, state.reviews)
        choices = ConfiguredChoices(self._agents, self._defaults, self.knows_model)
        kept = Kept(self.lines, state.sessions, state.transcripts, state.keying, self._clock)
        asked = Asked(state.usage, self._compressor, state.preferences, choices, windows_of(self._settings))
        config = Configuring(state.preferences, choices)
        return CommandPorts(state.receipts, Records(LiveConversations(kept, asked), config, state.reviews, lessons))

    @property
    def knows_model(self) -> KnownModels:
        return KnownModels(frozenset(self._settings.providers))

    def ports(
        self,
        access: TableAuthority,
        commands: Registry,
        recall: Recall,
        reflection: Reflection | None,
    ) -> Ports:
        state, settings = self._state, self._settings
        budgets = Budgets(settings.limits.history_chars, settings.limits.output_tokens)
        setting = Setting(
            organization_of(settings),
            budgets,
            state.keying.rules,
            is_command=lambda text: commands.recognise(text) is not None,
            redact_pii=settings.privacy.redact_pii,
        )
        return Ports(
            journal=state.journal,
            transcripts=state.transcripts,
            access=access,
            commands=commands,
            agents=self._agents,
            knows_model=self.knows_model,
            preferences=state.preferences,
            defaults=self._defaults,
            models=self._models,
            provision=Provision(recall, state.sessions, setting),
            loop=AgentLoop(self._clock),
            reflection=reflection,
            clock=self._clock,
            spawn=self._background.spawn,
            keying=state.keying,
            usage=state.usage,
            lines=self.lines,
            keeping=Keeping(organization_of(settings), self._prices, reflects=reflection is not None),
        )

    def fitting(self) -> Fitting:
        threshold = self._settings.sessions.compression.threshold
        return Fitting(self._compressor, self._state.transcripts, windows_of(self._settings), threshold)

    def _made_compressor(self, before_loss: BeforeLoss) -> Compressor:
        state, settings, clock = self._state, self._settings, self._clock
        compression = settings.sessions.compression
        summariser = Summariser(
            self._models, state.usage, clock, prices=self._prices, timeout_s=settings.limits.model_idle_s
        )
        ports = CompressorPorts(state.sessions, summariser, self._background, clock, before_loss)
        return Compressor(ports, Policy(compression.protect_first, compression.protect_last))

    def housekeeping(self, *more: Job) -> Housekeeping:
        state, cache, sessions = self._state, self._state.cache, self._settings.sessions
        kept = sessions.cache
        rules = PressureRules(kept.memory_high_mb, kept.max_evictions_per_pass, kept.protect_recent)
        jobs = [
            sweeping(cache),
            Job("conversations_shed", PASS_S, PressurePass(cache, MemoryGauge(), rules).run),
            *pruning(state.sessions, sessions.max_age_days, lambda: self.lines.keys),
            Job("messages_pruned", PRUNE_S, state.journal.prune),
            *more,
        ]
        return Housekeeping(jobs, self._clock)


def agents_of(settings: Settings) -> Mapping[str, Agent]:
    return agents({name: Agent(name, each.prompt, each.model, each.effort) for name, each in settings.agents.items()})


def defaults_of(settings: Settings) -> Defaults:
    """Raises ``ConfigurationError``."""
    defaults = settings.defaults
    if defaults.model is None:
        raise ConfigurationError("defaults.model is not set: name one as <provider>/<model>")
    return Defaults(defaults.agent, defaults.model, defaults.effort, defaults.repo)


def limits_of(settings: Settings) -> Limits:
    limits = settings.limits
    return Limits(limits.turn_s, limits.message_chars, BusyInput(settings.sessions.busy_input))


def windows_of(settings: Settings) -> Windows:
    known = {name: each.context_tokens for name, each in settings.models.items() if each.context_tokens is not None}
    return Windows(known, settings.sessions.compression.context_tokens)


def prices_of(settings: Settings) -> Mapping[str, Price]:
    return {
        name: Price(
            decimal(each.input_usd),
            decimal(each.output_usd),
            decimal(each.cache_read_usd),
            decimal(each.cache_write_usd),
            is_included=each.included,
        )
        for name, each in settings.models.items()
        if each.has_price or each.included
    }
