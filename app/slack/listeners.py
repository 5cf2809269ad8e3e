"""What Slack tells the bot, in one place for Socket Mode and HTTP: gate, claim, acknowledge, hand over."""

import re
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import structlog
from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError

from app.access.actor import Places
from app.background import Background
from app.channel import (
    Address,
    ChannelId,
    Chat,
    EventId,
    IncomingMessage,
    Reference,
    ThreadKey,
    UserId,
    Visibility,
    WorkspaceId,
)
from app.dispatch import wording
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Accepted
from app.dispatch.surviving import apologise
from app.errors import StateError
from app.slack import gate
from app.slack.addresses import address_of
from app.slack.calls import SlackLostError, SlackRefusalError
from app.slack.chat import Workspace, slack_chat
from app.slack.format import to_plain, without_mention
from app.slack.home import PROMPTS, home_view
from app.slack.payloads import Json, MalformedEventError, SlackMessage, message_event, stop_event
from app.slack.slash import Slash
from app.slack.undo import Undo

EVENT_MALFORMED = "event_malformed"
EVENT_IGNORED = "event_ignored"
EVENT_PASSED_OVER = "event_passed_over"
REQUEST_UNKNOWN = "request_unknown"
LISTENER_FAILED = "listener_failed"
COURTESY_REFUSED = "courtesy_refused"
MESSAGE_NOT_ACCEPTED = "message_not_accepted"
SLACK_WITHDREW = "slack_withdrew"

APOLOGIES = 500
"""Messages that could not be accepted, remembered so that each is told of once."""
ENDINGS = frozenset({"app_uninstalled", "tokens_revoked", "app_rate_limited"})
"""Events after which messages stop coming, or come incompletely."""

_ACCEPTED = "switchboard_accepted"

_log = structlog.stdlib.get_logger(__name__)

Next = Callable[[], Awaitable[Any]]


class Listeners:
    """The listeners of one workspace's events. ``register`` ties them to a Bolt app."""

    def __init__(
        self,
        workspace: Workspace,
        dispatcher: Dispatcher,
        background: Background,
        *,
        slash: Slash | None = None,
        undo: Undo | None = None,
        places: Places | None = None,
    ) -> None:
        self._workspace = workspace
        self._dispatcher = dispatcher
        self._background = background
        self._slash = slash
        self._undo = undo
        self._places = places
        self._apologised: deque[tuple[str, str]] = deque(maxlen=APOLOGIES)

    def register(self, bolt: AsyncApp) -> None:
        """Messages first; every other event is acknowledged by the last listener, or Slack would send it again."""
        app = cast("Any", bolt)  # Bolt's decorators are only partly typed
        for event in ("message", "app_mention"):
            app.event(event, middleware=[self.claim])(self.begin)
        app.event("agent_session_stopped")(self.stop)
        app.event("app_home_opened")(self.welcome)
        app.event(re.compile(".*"))(self.pass_over)
        if self._slash is not None:
            self._slash.register(bolt)
        if self._undo is not None:
            self._undo.register(bolt)
        app.command(re.compile(".*"))(self.decline)
        app.error(self.failed)

    async def claim(self, body: Json, context: dict[str, Any], next: Next) -> None:  # noqa: A002 - Bolt passes by name
        """Runs before the acknowledgement: what is not claimed by then may be delivered again."""
        message = self._meant(body)
        if message is not None:
            context[_ACCEPTED] = await self._accepted(*message)
        await next()

    async def begin(self, context: dict[str, Any]) -> None:
        """Runs beside the acknowledgement."""
        accepted: tuple[Accepted, Chat] | None = context.get(_ACCEPTED)
        if accepted is not None:
            self._background.spawn(self._serve(*accepted), name="turn")

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

    def _meant(self, body: Json) -> tuple[SlackMessage, gate.Considered] | None:
        try:
            message = message_event(body)
        except MalformedEventError as fault:
            _log.warning(EVENT_MALFORMED, fields=str(fault), reference=new_reference())
            return None
        decision = gate.decide(message, self._workspace.identity)
        if isinstance(decision, gate.Ignored):
            _log.debug(EVENT_IGNORED, reason=decision.value)
            return None
        return message, decision

    def _incoming(self, message: SlackMessage, considered: gate.Considered, *, in_channel: bool) -> IncomingMessage:
        return IncomingMessage(
            event_id=EventId(f"slack:{message.event_id}"),
            workspace_id=WorkspaceId(f"slack:{message.team_id}"),
            channel_id=ChannelId(f"slack:{message.channel}"),
            user_id=UserId(f"slack:{message.user}"),
            thread_key=channel_key(message.channel) if in_channel else thread_key(message.channel, message.root_ts),
            position=message.ts,
            text=to_plain(without_mention(message.text, self._workspace.identity.user_id)),
            visibility=gate.visibility(message),
            address=considered.address,
            starts_thread=not message.is_reply and not in_channel,
            sent_at=message.sent_at,
            received_at=self._workspace.clock.now(),
            reference=new_reference(),
            files=message.files,
        )

    async def _accepted(self, message: SlackMessage, considered: gate.Considered) -> "tuple[Accepted, Chat] | None":
        in_channel = gate.belongs_to_channel(message, reply_in_thread=self._workspace.reply_in_thread)
        incoming = self._incoming(message, considered, in_channel=in_channel)
        chat = slack_chat(self._workspace, message, in_channel=in_channel)
        try:
            accepted = await self._dispatcher.accept(incoming, address_of(message))
        except StateError as fault:
            # Delivering it again would help nobody while the records are unusable; the person can.
            _log.error(MESSAGE_NOT_ACCEPTED, error=type(fault).__name__, reference=incoming.reference)
            if considered.address is not Address.FOLLOW_UP and self._is_first(message):
                self._background.spawn(apologise(chat, incoming, fault), name="apology")
            return None
        if accepted is None:
            return None
        if (message.channel, message.ts) in self._apologised:
            # The other event of the same message found the records usable again, but its author was sent away by then.
            await self._dispatcher.dismiss(accepted)
            return None
        return accepted, chat

    def _is_first(self, message: SlackMessage) -> bool:
        """A mention comes as two events, and without records only this process can tell."""
        place = (message.channel, message.ts)
        is_first = place not in self._apologised
        self._apologised.append(place)
        return is_first

    async def _serve(self, accepted: Accepted, chat: Chat) -> None:
        dispatcher = self._dispatcher
        await dispatcher.surviving(accepted, chat, lambda: dispatcher.handle(accepted, chat, self._stamped))

    async def _stamped(self, message: IncomingMessage) -> IncomingMessage:
        """With who can see the channel, where the event did not say it: a mention carries no kind of channel."""
        if message.visibility is not Visibility.UNKNOWN or self._places is None:
            return message
        facts = await self._places.facts(message.channel_id)
        return replace(message, visibility=facts.visibility)


def thread_key(channel: str, root_ts: str) -> ThreadKey:
    return ThreadKey(f"slack:{channel}:{root_ts}")


def channel_key(channel: str) -> ThreadKey:
    """Of the conversation at the top of the channel."""
    return ThreadKey(f"slack:{channel}")


def new_reference() -> Reference:
    return Reference(uuid4().hex[:8])
