"""The composition root: the only place that knows every adapter, and where an application is put together."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from pydantic import SecretStr

from app.agents.definitions import Agent, agents
from app.agents.loop import AgentLoop
from app.agents.providers.catalogue import Catalogue, ProviderSpec
from app.application import Address, Application
from app.background import Background
from app.bootstrap_memory import open_memory
from app.clock import Clock, SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.inbox import Inbox, InProcessInbox
from app.dispatch.ports import Limits, Models, Ports
from app.dispatch.provision import Budgets, Provision
from app.dispatch.resolve import Defaults, resolve
from app.errors import ConfigurationError, ModelError
from app.runtime import settle
from app.sessions.store import NullSessionStore, SessionStore
from app.slack.bolt import bolt_app
from app.slack.calls import SlackCalls, open_session, web_client
from app.slack.chat import Workspace
from app.slack.identity import identify
from app.slack.listeners import Listeners
from app.slack.names import Names
from app.slack.routes import slack_routes
from app.slack.socket import SlackSocket
from commands.registry import Registry
from config.settings import Settings
from memory.recall import Recall
from memory.reflection import NullReflection, Reflection
from memory.store import MemoryStore


@asynccontextmanager
async def build(  # noqa: PLR0913 - every port may be given, and each is named
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Models | None = None,
    inbox: Inbox | None = None,
    memory: MemoryStore | None = None,
    sessions: SessionStore | None = None,
    reflection: Reflection | None = None,
    commands: Registry | None = None,
) -> AsyncGenerator[Application]:
    """The application ``settings`` describe, with any port replaced by the one that is given.

    What was opened here is closed when the context ends. Raises ``ConfigurationError`` when a setting names
    something that does not exist, or Slack refuses the bot token.
    """
    clock = clock or SystemClock()
    background = Background()
    async with AsyncExitStack() as stack:
        remembering = await stack.enter_async_context(open_memory(settings, provider_specs(settings), clock, memory))
        ports = Ports(
            inbox=inbox or InProcessInbox(clock),
            commands=commands or Registry([]),
            agents=agents(_configured_agents(settings)),
            defaults=_defaults(settings),
            models=models or _catalogue(settings, stack, background),
            sessions=sessions or NullSessionStore(),
            provision=_provision(settings, remembering.recall),
            loop=AgentLoop(clock),
            reflection=reflection or NullReflection(),
        )
        ports.models.resolve(resolve(ports.agents, ports.defaults).model)
        dispatcher = Dispatcher(ports, _limits(settings), clock)
        workspace = await _workspace(settings, stack, clock, background)
        yield _application(settings, workspace, dispatcher, background)


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
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with build(settings, memory=memory) as application:
        settle()
        await application.serve(stop, on_ready or _nobody_waits)


async def _nobody_waits(_port: int) -> None:
    """A bot that was started alone has told the log already."""


def catalogue_of(settings: Settings) -> Catalogue:
    """The models ``settings`` make known; its maker closes it."""
    limits = settings.limits
    return Catalogue(provider_specs(settings), connect_s=limits.model_connect_s, idle_s=limits.model_idle_s)


def provider_specs(settings: Settings) -> dict[str, ProviderSpec]:
    return {
        name: ProviderSpec(kind=provider.kind, base_url=provider.base_url, api_key=_revealed(provider.api_key))
        for name, provider in settings.providers.items()
    }


def _catalogue(settings: Settings, stack: AsyncExitStack, background: Background) -> Catalogue:
    catalogue = catalogue_of(settings)
    stack.push_async_callback(catalogue.aclose)
    background.spawn(_warm(catalogue, _defaults(settings).model), name="warm_model")
    return catalogue


async def _warm(catalogue: Catalogue, reference: str) -> None:
    """Import the default model's SDK while the bot connects; a missing key is told when a turn needs it."""
    with suppress(ConfigurationError, ModelError):
        await catalogue.warm(reference)


async def _workspace(settings: Settings, stack: AsyncExitStack, clock: Clock, background: Background) -> Workspace:
    slack = settings.slack
    session = await stack.enter_async_context(open_session(slack.timeout_s))
    calls = SlackCalls(web_client(session, api_url=slack.api_url, token=_revealed(slack.bot_token)))
    return Workspace(
        calls=calls,
        names=Names(calls, clock),
        identity=await identify(calls, clock),
        clock=clock,
        spawn=background.spawn,
        history_messages=settings.limits.history_messages,
    )


def _application(
    settings: Settings, workspace: Workspace, dispatcher: Dispatcher, background: Background
) -> Application:
    slack = settings.slack
    is_posted_to = slack.mode == "http"
    bolt = bolt_app(
        workspace.identity,
        Listeners(workspace, dispatcher, background),
        bot_token=_revealed(slack.bot_token) or "",
        signing_secret=_revealed(slack.signing_secret) if is_posted_to else None,
    )
    socket = SlackSocket(bolt, app_token=_revealed(slack.app_token) or "", api_url=slack.api_url, clock=workspace.clock)
    return Application(
        dispatcher,
        background,
        Address(settings.http.host, settings.http.port),
        socket=None if is_posted_to else socket,
        routes=slack_routes(bolt) if is_posted_to else (),
        drain_s=settings.limits.drain_s,
    )


def _configured_agents(settings: Settings) -> dict[str, Agent]:
    return {name: Agent(name, each.prompt, each.model, each.effort) for name, each in settings.agents.items()}


def _defaults(settings: Settings) -> Defaults:
    defaults = settings.defaults
    if defaults.model is None:
        raise ConfigurationError("defaults.model is not set: name one as <provider>/<model>")
    return Defaults(defaults.agent, defaults.model, defaults.effort)


def _limits(settings: Settings) -> Limits:
    limits = settings.limits
    return Limits(limits.concurrent_turns, limits.turn_s, limits.message_chars)


def _provision(settings: Settings, recall: Recall) -> Provision:
    if settings.organization is None:
        raise ConfigurationError("organization is not set: it names whose memory the bot keeps")
    return Provision(
        recall, settings.organization, Budgets(settings.limits.history_chars, settings.limits.output_tokens)
    )


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
