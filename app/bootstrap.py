"""The composition root: the only place that knows every adapter, and where an application is put together."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from app.agents.providers.catalogue import Catalogue
from app.application import Application
from app.background import Background
from app.bootstrap_commands import registry_of
from app.bootstrap_memory import open_memory
from app.bootstrap_models import catalogue_of, provider_specs
from app.bootstrap_reflecting import Learning, learning_of
from app.bootstrap_slack import application_of, open_slack
from app.bootstrap_state import State, open_state
from app.bootstrap_talking import Talking, defaults_of, limits_of
from app.clock import Clock, SystemClock
from app.continuity import Continuity
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.ports import Models, Reflection
from app.dispatch.recovering import Recovering
from app.dispatch.resolve import resolve
from app.errors import ConfigurationError, ModelError
from app.http.bearer import bearers_of
from app.sessions.compressor import nobody
from app.status import BotStatus
from commands.registry import Registry
from config.settings import Settings
from memory.service.process import settle
from memory.store import MemoryStore


@asynccontextmanager
async def build(  # noqa: PLR0913 - every port may be given, and each is named
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Models | None = None,
    memory: MemoryStore | None = None,
    reflection: Reflection | None = None,
    commands: Registry | None = None,
    state: State | None = None,
) -> AsyncGenerator[Application]:
    """The application ``settings`` describe, with any port replaced by the one that is given.

    What was opened here is closed when the context ends. Raises ``ConfigurationError`` when a setting names
    something that does not exist, or Slack refuses the bot token, and ``StateError``'s tree.
    """
    clock = clock or SystemClock()
    background = Background()
    async with AsyncExitStack() as stack:
        state = state or await stack.enter_async_context(open_state(settings, clock, is_bot=True))
        remembering = await stack.enter_async_context(open_memory(settings, provider_specs(settings), clock, memory))
        bearers = bearers_of(settings.http.tokens)
        slack = await open_slack(settings, bearers, stack, clock, background)
        status = BotStatus(clock, model=defaults_of(settings).model, memory=_memory_name(settings))
        models = models or _catalogue(settings, stack, background)
        learning = learning_of(settings, state, remembering.store, models, clock, background)
        before_loss = learning.reflecting.before_loss if learning is not None else nobody
        talking = Talking(settings, state, models, clock, background, before_loss)
        lessons = learning.unlearning(state) if learning is not None else None
        registry = commands or registry_of(
            settings, remembering.store, slack.authority, status, clock, talking.commands(lessons)
        )
        ports = talking.ports(
            slack.authority,
            registry,
            remembering.recall,
            reflection or (learning.reflecting if learning is not None else None),
        )
        ports.models.resolve(resolve(ports.agents, ports.defaults).model)
        dispatcher = Dispatcher(ports, limits_of(settings), talking.fitting())
        freshness_s = settings.sessions.resume_freshness_s
        recovering = Recovering(state.journal, dispatcher, slack.reopened, clock, freshness_s=freshness_s)
        continuity = _continuity(settings, talking, dispatcher, recovering, background, learning)
        notices = learning.notices if learning is not None else None
        application = application_of(settings, slack, continuity, registry, bearers, notices)
        status.watch(application)
        yield application


def _continuity(
    settings: Settings,
    talking: Talking,
    dispatcher: Dispatcher,
    recovering: Recovering,
    background: Background,
    learning: Learning | None,
) -> Continuity:
    jobs = [learning.job()] if learning is not None else []
    return Continuity(
        dispatcher,
        talking.journal,
        recovering,
        background,
        settings.limits.drain_s,
        housekeeping=talking.housekeeping(*jobs).run,
        learning=learning.reflecting.started if learning is not None else None,
    )


async def serve(
    settings: Settings,
    *,
    memory: MemoryStore | None = None,
    on_ready: Callable[[int], Awaitable[None]] | None = None,
) -> None:
    """Run the bot until SIGINT or SIGTERM; what was accepted by then is finished first.

    ``memory`` takes the place of the store the settings describe; ``on_ready`` is told the HTTP port once messages
    reach the bot.
    """
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        application = await _started(stack.enter_async_context(build(settings, memory=memory)), stop)
        if application is not None:
            settle()
            await application.serve(stop, on_ready or _nobody_waits)


async def _started(starting: Awaitable[Application], stop: asyncio.Event) -> Application | None:
    """What ``starting`` makes, with ``stop`` tied to SIGINT and SIGTERM from then on.

    ``None`` when one of them comes before: a start waits for Slack for as long as it takes, and has accepted nothing.
    """
    loop, patience = asyncio.get_running_loop(), asyncio.timeout(None)

    def end() -> None:
        stop.set()
        if not patience.expired():
            patience.reschedule(loop.time())

    try:
        async with patience:
            _on_signals(end)
            return await starting
    except TimeoutError:
        if not patience.expired():
            raise
        return None
    finally:
        _on_signals(stop.set)


def _on_signals(act: Callable[[], None]) -> None:
    """Do ``act`` when an operator ends the process, in place of what was to be done before."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, act)


async def _nobody_waits(_port: int) -> None:
    """A bot that was started alone has told the log already."""


def _catalogue(settings: Settings, stack: AsyncExitStack, background: Background) -> Catalogue:
    catalogue = catalogue_of(settings)
    stack.push_async_callback(catalogue.aclose)
    background.spawn(_warm(catalogue, defaults_of(settings).model), name="warm_model")
    return catalogue


async def _warm(catalogue: Catalogue, reference: str) -> None:
    """Import the default model's SDK while the bot connects; a missing key is told when a turn needs it."""
    with suppress(ConfigurationError, ModelError):
        await catalogue.warm(reference)


def _memory_name(settings: Settings) -> str:
    return f"on ({settings.memory.store}, {settings.memory.ranker})" if settings.memory.enabled else "off"
