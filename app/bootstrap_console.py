"""The part of the composition root for ``switchboard ask``: the bot's dispatcher without Slack."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from app.access.authority import TableAuthority
from app.agents.definitions import Agent, agents
from app.agents.loop import AgentLoop
from app.background import Background
from app.bootstrap import catalogue_of, provider_specs
from app.bootstrap_commands import Elsewhere, Strangers, TerminalStatus, grants_of, organization_of, registry_of
from app.bootstrap_memory import open_memory
from app.clock import SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.inbox import InProcessInbox
from app.dispatch.ports import Limits, Ports
from app.dispatch.provision import Budgets, Provision
from app.dispatch.resolve import Defaults, resolve
from app.errors import ConfigurationError
from app.http.bearer import Bearers
from app.sessions.store import NullSessionStore
from config.settings import Settings
from memory.reflection import NullReflection


@asynccontextmanager
async def open_dispatcher(settings: Settings, background: Background) -> AsyncGenerator[Dispatcher]:
    """One that answers in this process, over the same memory and models as the bot.

    What a turn leaves to ``background`` is finished before the memory closes. Raises ``ConfigurationError``.
    """
    clock, organization, defaults = SystemClock(), organization_of(settings), settings.defaults
    if defaults.model is None:
        raise ConfigurationError("defaults.model is not set: name one as <provider>/<model>")
    access = TableAuthority(organization, grants_of(settings, Bearers({})), people=Strangers(), places=Elsewhere())
    async with (
        open_memory(settings, provider_specs(settings), clock, None) as memory,
        aclosing(catalogue_of(settings)) as models,
    ):
        limits = settings.limits
        ports = Ports(
            inbox=InProcessInbox(clock),
            access=access,
            commands=registry_of(settings, memory.store, access, TerminalStatus(settings), clock),
            agents=agents({name: Agent(name, a.prompt, a.model, a.effort) for name, a in settings.agents.items()}),
            defaults=Defaults(defaults.agent, defaults.model, defaults.effort),
            models=models,
            sessions=NullSessionStore(),
            provision=Provision(memory.recall, organization, Budgets(limits.history_chars, limits.output_tokens)),
            loop=AgentLoop(clock),
            reflection=NullReflection(),
        )
        ports.models.resolve(resolve(ports.agents, ports.defaults).model)
        yield Dispatcher(ports, Limits(1, limits.turn_s, limits.message_chars), clock)
        await background.drain(limits.drain_s)
