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
from app.slack.payloads import Json, SlackRevision, revision_event

REVISION_UNWRITTEN = "revision_unwritten"

_log = structlog.stdlib.get_logger(__name__)


class Revising(Protocol):
    """What can be done about it: ``app.dispatch.revising``. Raises ``StateError``."""

    async def withdraw(self, place: Place, author: UserId) -> None: ...

    async def reword(self, place: Place, text: str) -> None: ...


class Revisions:
    def __init__(self, workspace: Workspace, revising: Revising) -> None:
        self._workspace = workspace
        self._revising = revising
        self._latest: OrderedDict[Place, str] = OrderedDict()
        """When it happened: events come in any order, and more than once."""

    async def take(self, body: Json) -> None:
        """Raises ``MalformedEventError``."""
        revision = revision_event(body)
        if gate.refusal(revision, self._workspace.identity) is not None:
            return
        place = Place(WorkspaceId(f"slack:{revision.team_id}"), ChannelId(f"slack:{revision.channel}"), revision.ts)
        if not self._is_news(place, revision):
            return
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

    def _is_news(self, place: Place, revision: SlackRevision) -> bool:
        """Whether nothing later is known of the message."""
        if float(revision.event_ts) < float(self._latest.get(place, "0")):
            return False
        self._latest[place] = revision.event_ts
        while len(self._latest) > REMEMBERED:
            self._latest.popitem(last=False)
        return True
