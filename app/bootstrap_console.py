"""The part of the composition root for ``switchboard ask``: the bot's dispatcher without Slack."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from app.access.authority import TableAuthority
from app.agents.loop import AgentLoop
from app.background import Background
from app.bootstrap import agents_of, catalogue_of, defaults_of, provider_specs, provision_of
from app.bootstrap_commands import Elsewhere, Strangers, TerminalStatus, grants_of, organization_of, registry_of
from app.bootstrap_memory import open_memory
from app.clock import SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.inbox import InProcessInbox
from app.dispatch.ports import Limits, Ports
from app.dispatch.resolve import resolve
from app.http.bearer import Bearers
from app.sessions.opening import NullSessionStore
from config.settings import Settings
from memory.reflection import NullReflection


@asynccontextmanager
async def open_dispatcher(settings: Settings, background: Background) -> AsyncGenerator[Dispatcher]:
    """One that answers in this process, over the same memory and models as the bot.

    What a turn leaves to ``background`` is finished before the memory closes. Raises ``ConfigurationError``.
    """
    clock, defaults = SystemClock(), defaults_of(settings)
    access = TableAuthority(
        organization_of(settings), grants_of(settings, Bearers({})), people=Strangers(), places=Elsewhere()
    )
    async with (
        open_memory(settings, provider_specs(settings), clock, None) as memory,
        aclosing(catalogue_of(settings)) as models,
    ):
        limits = settings.limits
        ports = Ports(
            inbox=InProcessInbox(clock),
            access=access,
            commands=registry_of(settings, memory.store, access, TerminalStatus(settings), clock),
            agents=agents_of(settings),
            defaults=defaults,
            models=models,
            sessions=NullSessionStore(),
            provision=provision_of(settings, memory.recall),
            loop=AgentLoop(clock),
            reflection=NullReflection(),
        )
        ports.models.resolve(resolve(ports.agents, ports.defaults).model)
        yield Dispatcher(ports, Limits(1, limits.turn_s, limits.message_chars), clock)
        await background.drain(limits.drain_s)
