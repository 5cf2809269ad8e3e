"""A Bolt app of ours that is connected to nothing."""

from slack_bolt.async_app import AsyncApp

from app.background import Background
from app.clock import SystemClock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.ports import Limits
from app.slack.bolt import bolt_app
from app.slack.calls import SlackCalls, web_client
from app.slack.chat import Workspace
from app.slack.listeners import Listeners
from app.slack.messages import Messages
from app.slack.names import Names
from app.slack.payloads import Identity
from app.slack.status import Statuses
from tests.fakes import OneModel, ScriptedProvider, ports_of

IDENTITY = Identity("UBOT", "BBOT", "T1")


def unconnected_workspace(background: Background) -> Workspace:
    """Its Web API is an address where nobody listens."""
    calls, clock = SlackCalls(web_client(None, api_url="http://127.0.0.1:1/api/", token=None)), SystemClock()
    statuses = Statuses(calls, clock, background.spawn)
    return Workspace(calls, Names(calls, clock), statuses, IDENTITY, clock, background.spawn, 50)


def unconnected_bolt(signing_secret: str | None = None) -> AsyncApp:
    """It knows who it is."""
    background = Background()
    workspace = unconnected_workspace(background)
    dispatcher = Dispatcher(ports_of(OneModel(ScriptedProvider(["Hello."])), workspace.clock), Limits(1.0, 1))
    messages, listeners = Messages(workspace, dispatcher, background), Listeners(workspace, dispatcher)
    return bolt_app(IDENTITY, messages, listeners, bot_token="xoxb-x", signing_secret=signing_secret)
