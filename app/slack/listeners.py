"""What Slack tells the bot besides messages, in one place for Socket Mode and HTTP."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, cast

import structlog
from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError

from app.dispatch import wording
from app.dispatch.dispatcher import Dispatcher
from app.slack.calls import SlackLostError, SlackRefusalError
from app.slack.chat import Workspace
from app.slack.home import PROMPTS, home_view
from app.slack.messages import EVENT_MALFORMED, new_reference, thread_key
from app.slack.payloads import Json, MalformedEventError, stop_event
from app.slack.slash import Slash
from app.slack.undo import Undo

EVENT_PASSED_OVER = "event_passed_over"
REQUEST_UNKNOWN = "request_unknown"
LISTENER_FAILED = "listener_failed"
COURTESY_REFUSED = "courtesy_refused"
SLACK_WITHDREW = "slack_withdrew"

ENDINGS = frozenset({"app_uninstalled", "tokens_revoked", "app_rate_limited"})
"""Events after which messages stop coming, or come incompletely."""

_log = structlog.stdlib.get_logger(__name__)


class Listeners:
    """The listeners of one workspace's events. ``register`` ties them to a Bolt app that messages do not come into."""

    def __init__(
        self, workspace: Workspace, dispatcher: Dispatcher, *, slash: Slash | None = None, undo: Undo | None = None
    ) -> None:
        self._workspace = workspace
        self._dispatcher = dispatcher
        self._slash = slash
        self._undo = undo

    def register(self, bolt: AsyncApp) -> None:
        """Every event that nobody wants is acknowledged by the last listener, or Slack would send it again."""
        app = cast("Any", bolt)  # Bolt's decorators are only partly typed
        app.event("agent_session_stopped")(self.stop)
        app.event("app_home_opened")(self.welcome)
        app.event(re.compile(".*"))(self.pass_over)
        if self._slash is not None:
            self._slash.register(bolt)
        if self._undo is not None:
            self._undo.register(bolt)
        app.command(re.compile(".*"))(self.decline)
        app.error(self.failed)

    async def stop(self, body: Json) -> None:
        try:
            stop = stop_event(body)
        except MalformedEventError as fault:
            _log.warning(EVENT_MALFORMED, fields=str(fault), reference=new_reference())
            return
        self._dispatcher.stop(thread_key(stop.channel, stop.thread_ts))
        # Slack leaves the session at "processing", with a loader that nothing else would end.
        await self._try(
            "agents.sessions.setStatus",
            {"channel_id": stop.channel, "thread_ts": stop.thread_ts, "status": "active"},
        )

    async def welcome(self, event: Json) -> None:
        """Fill the tab that a person has opened."""
        if event.get("tab") == "home":
            view = home_view(self._workspace.identity.user_id)
            await self._try("views.publish", {"user_id": event.get("user"), "view": view})
        else:
            prompts = {"channel_id": event.get("channel"), "prompts": PROMPTS}
            await self._try("assistant.threads.setSuggestedPrompts", prompts)

    async def decline(self, ack: Callable[[str], Awaitable[Any]], command: Json) -> None:
        """Slash commands that nobody answers."""
        await ack(wording.unknown_command(str(command.get("command", ""))))

    async def pass_over(self, event: Json) -> None:
        """Everything else is acknowledged and left; what ends the bot's work here is at least said in the log."""
        if event.get("type") in ENDINGS:
            _log.warning(SLACK_WITHDREW, type=event.get("type"))
            return
        _log.debug(EVENT_PASSED_OVER, type=event.get("type"), subtype=event.get("subtype"))

    async def failed(self, error: Exception) -> BoltResponse | None:
        """What no listener takes, malformed or unknown, is acknowledged all the same: a second try changes nothing."""
        if isinstance(error, BoltUnhandledRequestError):
            _log.warning(REQUEST_UNKNOWN, reference=new_reference())
            return BoltResponse(status=200, body="")
        _log.error(LISTENER_FAILED, reference=new_reference(), exc_info=error)
        return None

    async def _try(self, method: str, arguments: Json) -> None:
        """A courtesy: its refusal is logged and harms nobody."""
        try:
            await self._workspace.calls.call(method, arguments)
        except (SlackRefusalError, SlackLostError) as fault:
            _log.info(COURTESY_REFUSED, reason=str(fault))
