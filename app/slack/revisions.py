"""What becomes of messages in Slack after they were said, told to whoever has them in line."""

from collections import OrderedDict
from typing import Protocol

import structlog

from app.channel import ChannelId, Place, UserId, WorkspaceId
from app.errors import StateError
from app.slack import gate
from app.slack.chat import Workspace
from app.slack.format import to_plain, without_mention
from app.slack.once import REMEMBERED
from app.slack.payloads import Json
from app.slack.revision_payloads import SlackRevision, revision_event

REVISION_UNWRITTEN = "revision_unwritten"
EARLY_S = 900.0
"""Slack sends an event that was not acknowledged for the last time some six minutes after the first."""
EARLY_MOST = 500
"""All of a workspace's edits are kept so long; more of them in that time come from a machine."""

_log = structlog.stdlib.get_logger(__name__)


class Revising(Protocol):
    """What can be done about it: ``app.dispatch.revising``. Raises ``StateError``."""

    async def withdraw(self, place: Place, author: UserId) -> None: ...

    async def reword(self, place: Place, text: str) -> None: ...


class Revisions:
    """Slack promises no order: what becomes of a message may be told before the message itself.

    So the latest of it is kept for a while, in this process only: for it to be missed, the bot would have to end in
    the moments between two events that came in the wrong order.
    """

    def __init__(self, workspace: Workspace, revising: Revising) -> None:
        self._workspace = workspace
        self._revising = revising
        self._latest: OrderedDict[Place, str] = OrderedDict()
        """When it happened: events come in any order, and more than once."""
        self._early: OrderedDict[Place, tuple[float, SlackRevision]] = OrderedDict()
        """What was told last, and until when it is kept: of messages that may not have come yet."""

    async def take(self, body: Json) -> None:
        """Raises ``MalformedEventError``."""
        revision = revision_event(body)
        if gate.refusal(revision, self._workspace.identity) is not None:
            return
        place = Place(WorkspaceId(f"slack:{revision.team_id}"), ChannelId(f"slack:{revision.channel}"), revision.ts)
        if not self._is_news(place, revision):
            return
        # Before anything is awaited: the message may come meanwhile.
        self._keep(place, revision)
        await self._tell_surely(place, revision)

    async def arrived(self, place: Place) -> None:
        """The message at ``place`` is in the records now: what became of it before that goes for it, too."""
        self._forget_old()
        kept = self._early.get(place)
        if kept is not None:
            await self._tell_surely(place, kept[1])

    async def _tell_surely(self, place: Place, revision: SlackRevision) -> None:
        try:
            await self._tell(place, revision)
        except StateError as fault:
            # The question is answered as it was said at first; telling it again would find the records no better.
            _log.error(REVISION_UNWRITTEN, error=type(fault).__name__, reason=str(fault))

    async def _tell(self, place: Place, revision: SlackRevision) -> None:
        if revision.text is None:
            await self._revising.withdraw(place, UserId(f"slack:{revision.user}"))
        else:
            text = to_plain(without_mention(revision.text, self._workspace.identity.user_id))
            await self._revising.reword(place, text)

    def _keep(self, place: Place, revision: SlackRevision) -> None:
        self._early.pop(place, None)
        self._early[place] = self._workspace.clock.monotonic() + EARLY_S, revision
        self._forget_old()
        while len(self._early) > EARLY_MOST:
            self._early.popitem(last=False)

    def _forget_old(self) -> None:
        now = self._workspace.clock.monotonic()
        while self._early and next(iter(self._early.values()))[0] <= now:
            self._early.popitem(last=False)

    def _is_news(self, place: Place, revision: SlackRevision) -> bool:
        """Whether nothing later is known of the message."""
        if float(revision.event_ts) < float(self._latest.get(place, "0")):
            return False
        self._latest[place] = revision.event_ts
        while len(self._latest) > REMEMBERED:
            self._latest.popitem(last=False)
        return True
