"""The part of the composition root for a terminal beside the bot: its commands, and its dispatcher without Slack."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

from app.access.authority import TableAuthority
from app.background import Background
from app.bootstrap_commands import (
    CommandPorts,
    Elsewhere,
    Strangers,
    TerminalStatus,
    grants_of,
    organization_of,
    registry_of,
)
from app.bootstrap_memory import open_memory
from app.bootstrap_models import catalogue_of, provider_specs
from app.bootstrap_state import open_state
from app.bootstrap_talking import Talking, limits_of
from app.clock import Clock, SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.resolve import resolve
from app.http.bearer import Bearers
from commands.receipts import InProcessReceipts
from commands.registry import Registry
from config.settings import Settings


@asynccontextmanager
async def open_dispatcher(settings: Settings, background: Background) -> AsyncGenerator[Dispatcher]:
    """One that answers in this process, over the same memory, records and models as the bot.

    What a turn leaves to ``background`` is finished before they close. Raises ``ConfigurationError``, ``StateError``.
    """
    clock = SystemClock()
    access = TableAuthority(
        organization_of(settings), grants_of(settings, Bearers({})), people=Strangers(), places=Elsewhere()
    )
    async with (
        open_state(settings, clock, is_bot=False) as state,
        open_memory(settings, provider_specs(settings), clock, None) as memory,
        aclosing(catalogue_of(settings)) as models,
    ):
        talking = Talking(settings, state, models, clock, background)
        status = TerminalStatus(settings)
        registry = registry_of(settings, memory.store, access, status, clock, talking.commands())
        ports = talking.ports(access, registry, memory.recall, None)
        ports.models.resolve(resolve(ports.agents, ports.defaults).model)
        dispatcher = Dispatcher(ports, limits_of(settings), talking.fitting())
        yield dispatcher
        await background.drain(settings.limits.drain_s)
        await dispatcher.outbox.unwritten.write()


@asynccontextmanager
async def open_registry(settings: Settings) -> AsyncGenerator[Registry]:
    """The commands in a process of their own, over the files the bot uses, too; nothing is asked of Slack.

    Without a model in the settings there are no conversations to give commands about. Raises ``ConfigurationError``
    and ``StateError``.
    """
    clock = SystemClock()
    # Listing and forgetting compare no meanings, so no embedding model is loaded for them.
    settings = settings.model_copy(update={"memory": settings.memory.model_copy(update={"embedding": None})})
    authority = TableAuthority(
        organization_of(settings), grants_of(settings, Bearers({})), people=Strangers(), places=Elsewhere()
    )
    async with open_memory(settings, {}, clock, None) as memory, _command_ports(settings, clock) as ports:
        yield registry_of(settings, memory.store, authority, TerminalStatus(settings), clock, ports)


@asynccontextmanager
async def _command_ports(settings: Settings, clock: Clock) -> AsyncGenerator[CommandPorts]:
    if settings.defaults.model is None:
        yield CommandPorts(InProcessReceipts())
        return
    background = Background()
    async with open_state(settings, clock, is_bot=False) as state, aclosing(catalogue_of(settings)) as models:
        yield Talking(settings, state, models, clock, background).commands()
        await background.drain(settings.limits.drain_s)
