"""The part of the composition root that puts Slack's side together: the workspace, its events, its HTTP surface."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic import SecretStr
from starlette.routing import BaseRoute

from app.access.authority import TableAuthority
from app.application import Address, Application
from app.background import Background
from app.bootstrap_commands import grants_of, organization_of
from app.channel import Chat, IncomingMessage
from app.clock import Clock
from app.console import Console
from app.continuity import Continuity
from app.dispatch.dispatcher import Dispatcher
from app.http.api import api_routes
from app.http.bearer import Bearers, Door
from app.http.ingress import ingress_routes
from app.http.limits import HttpLimits
from app.http.mcp import mcp_routes
from app.slack.addresses import reopened
from app.slack.bolt import bolt_app
from app.slack.calls import SlackCalls, open_session, web_client
from app.slack.chat import Workspace
from app.slack.identity import identify
from app.slack.listeners import Listeners
from app.slack.membership import SlackPeople
from app.slack.messages import Messages
from app.slack.names import Names
from app.slack.routes import slack_routes
from app.slack.slash import Slash
from app.slack.socket import SlackSocket
from app.slack.status import Statuses
from app.slack.undo import TakesBack, Undo
from app.slack.visibility import SlackPlaces
from commands.ports import Decision
from commands.registry import Registry
from commands.spec import Caller
from config.settings import Settings

WAIT_IN_LINE_S = 300.0
"""How much longer than a turn a program's request may take, because its conversation may be busy."""


@dataclass(frozen=True, slots=True)
class SlackSide:
    """A workspace the bot is in, and what it knows of the people and channels there."""

    workspace: Workspace
    places: SlackPlaces
    authority: TableAuthority

    def reopened(self, message: IncomingMessage, address: str) -> Chat | None:
        """The conversation of a message that an earlier process accepted."""
        return reopened(self.workspace, message, address)


async def open_slack(
    settings: Settings, bearers: Bearers, stack: AsyncExitStack, clock: Clock, background: Background
) -> SlackSide:
    """Returns once the bot knows who it is. Raises ``ConfigurationError`` when Slack refuses the bot token."""
    slack = settings.slack
    session = await stack.enter_async_context(open_session(slack.timeout_s))
    calls = SlackCalls(web_client(session, api_url=slack.api_url, token=revealed(slack.bot_token)))
    identity = await identify(calls, clock)
    history = settings.limits.history_messages
    workspace = Workspace(
        calls,
        Names(calls, clock),
        Statuses(calls, clock, background.spawn),
        identity,
        clock,
        background.spawn,
        history,
        reply_in_thread=slack.reply_in_thread,
    )
    places = SlackPlaces(calls, clock, background.spawn)
    people = SlackPeople(calls, identity.team_id, clock, background.spawn)
    grants = grants_of(settings, bearers)
    return SlackSide(workspace, places, TableAuthority(organization_of(settings), grants, people=people, places=places))


def application_of(
    settings: Settings,
    side: SlackSide,
    continuity: Continuity,
    registry: Registry,
    bearers: Bearers,
    notices: TakesBack | None = None,
) -> Application:
    slack, dispatcher, background = settings.slack, continuity.dispatcher, continuity.background
    is_posted_to = slack.mode == "http"
    undo = None if notices is None else Undo(notices)
    slash = Slash(registry, background.spawn, side.places)
    messages = Messages(side.workspace, dispatcher, background, side.places)
    bolt = bolt_app(
        side.workspace.identity,
        messages,
        Listeners(side.workspace, dispatcher, slash=slash, undo=undo),
        bot_token=revealed(slack.bot_token) or "",
        signing_secret=revealed(slack.signing_secret) if is_posted_to else None,
    )
    clock = side.workspace.clock
    token = revealed(slack.app_token) or ""
    socket = SlackSocket(bolt, messages.take, background.spawn, app_token=token, api_url=slack.api_url, clock=clock)
    programs = _routes_of_programs(side, dispatcher, registry, background, bearers, settings.limits.turn_s)
    return Application(
        continuity,
        Address(settings.http.host, settings.http.port),
        socket=None if is_posted_to else socket,
        routes=[*(slack_routes(bolt) if is_posted_to else ()), *programs],
    )


def _routes_of_programs(
    side: SlackSide,
    dispatcher: Dispatcher,
    registry: Registry,
    background: Background,
    bearers: Bearers,
    turn_s: float,
) -> Sequence[BaseRoute]:
    clock, authority = side.workspace.clock, side.authority
    console = Console(dispatcher, background.spawn, clock)
    door = Door(bearers, HttpLimits(turn_s=turn_s + WAIT_IN_LINE_S), clock)

    async def may_dispatch(caller: Caller) -> Decision:
        return authority.may_talk(await authority.asker(caller))

    return [
        *api_routes(registry, door),
        *ingress_routes(console, door, may_dispatch),
        *mcp_routes(registry, console, door, may_dispatch),
    ]


def revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
