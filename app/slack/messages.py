"""What people say to the bot, in one place for Socket Mode and HTTP: gate, claim, acknowledge, hand over."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import getrandbits
from typing import Any

import structlog
from slack_bolt import BoltResponse
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest

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
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Accepted
from app.dispatch.surviving import apologise
from app.errors import StateError
from app.slack import gate
from app.slack.addresses import address_of
from app.slack.chat import Workspace, slack_chat
from app.slack.format import to_plain, without_mention
from app.slack.once import Once
from app.slack.payloads import Json, MalformedEventError, SlackMessage, is_message, message_event
from app.slack.revision_payloads import is_revision
from app.slack.revisions import Revisions

EVENT_MALFORMED = "event_malformed"
EVENT_IGNORED = "event_ignored"
MESSAGE_NOT_ACCEPTED = "message_not_accepted"

_log = structlog.stdlib.get_logger(__name__)


class Messages(AsyncMiddleware):
    """Takes messages: from the socket itself, over HTTP out of Bolt's chain as soon as it knows that they are Slack's.

    Nothing of what Bolt prepares for listeners (a client, the authorization, arguments by name) is needed for them,
    and for most of what is said in a workspace it would be all the work there is.
    """

    def __init__(
        self, workspace: Workspace, dispatcher: Dispatcher, background: Background, places: Places | None = None
    ) -> None:
        self._workspace = workspace
        self._dispatcher = dispatcher
        self._background = background
        self._places = places
        self._revisions = Revisions(workspace, dispatcher.revising)
        self._once = Once[tuple[str, str]]()
        """By channel and ts: a mention comes as two events, at the same time as a rule."""

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[Any]],  # noqa: A002 - Bolt passes by name
    ) -> BoltResponse:
        """A message is acknowledged here and goes no further down the chain."""
        if is_message(req.body):
            await self.take(req.body)
            # Not with ``resp``: whoever stands before in the chain has none, which Bolt takes for an unknown request.
            return BoltResponse(status=200, body="")
        await next()
        return resp

    async def take(self, body: Json) -> None:
        """Returns when the message may be acknowledged: what is not claimed by then may be delivered again."""
        if gate.is_own(body["event"], self._workspace.identity):
            return
        try:
            await (self._revisions.take(body) if is_revision(body) else self._say(body))
        except MalformedEventError as fault:
            _log.warning(EVENT_MALFORMED, fields=str(fault), reference=new_reference())

    async def _say(self, body: Json) -> None:
        event = body["event"]
        if await self._once.is_done((str(event.get("channel")), str(event.get("ts")))):
            # Before its shape is checked, which is most of the work of a message that is told again.
            return
        meant = self._meant(message_event(body))
        if meant is not None:
            message, considered = meant
            await self._once.do((message.channel, message.ts), lambda: self._accept(message, considered))

    def _meant(self, message: SlackMessage) -> tuple[SlackMessage, gate.Considered] | None:
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

    async def _accept(self, message: SlackMessage, considered: gate.Considered) -> None:
        """Or tell its author that it cannot be accepted."""
        in_channel = gate.belongs_to_channel(message, reply_in_thread=self._workspace.reply_in_thread)
        incoming = self._incoming(message, considered, in_channel=in_channel)
        chat = slack_chat(self._workspace, message, in_channel=in_channel)
        try:
            accepted = await self._dispatcher.accept(incoming, address_of(message))
        except StateError as fault:
            # Delivering it again would help nobody while the records are unusable; the person can.
            _log.error(MESSAGE_NOT_ACCEPTED, error=type(fault).__name__, reference=incoming.reference)
            if considered.address is not Address.FOLLOW_UP:
                self._background.spawn(apologise(chat, incoming, fault), name="apology")
            return
        if accepted is not None:
            # Without a wait: whoever comes next is served after it.
            self._background.spawn(self._serve(accepted, chat), name="turn")

    async def _serve(self, accepted: Accepted, chat: Chat) -> None:
        dispatcher = self._dispatcher
        await dispatcher.surviving(accepted, chat, lambda: dispatcher.handle(accepted, chat, self._completed))

    async def _completed(self, message: IncomingMessage) -> IncomingMessage:
        """With what was told of it before it came, and with who can see the channel: a mention carries no kind."""
        await self._revisions.arrived(message.place)
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
    """Made for every message, and no secret: nothing is opened with it."""
    return Reference(f"{getrandbits(32):08x}")
