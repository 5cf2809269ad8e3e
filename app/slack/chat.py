"""The conversation a Slack message belongs to: implements ``app.channel.Chat``."""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from app.channel import Reply, StatusCard, ThreadMessage
from app.clock import Clock
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.format import without_crowd_mentions
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage
from app.slack.posting import Posting, Thread
from app.slack.reply import SlackReply, Spawn
from app.slack.status import SlackStatus
from app.slack.thread import SlackThread

INLINE_CHARS = 3_000
"""What is longer is tiresome to scroll past in a thread."""
FIRST_LINE_CHARS = 300
FILE_NAME = "answer.md"
FILE_NOT_SHARED = "file_not_shared"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every conversation of one workspace shares."""

    calls: SlackCalls
    names: Names
    identity: Identity
    clock: Clock
    spawn: Spawn
    history_messages: int


class SlackChat:
    def __init__(self, workspace: Workspace, message: SlackMessage) -> None:
        self._workspace = workspace
        self._source = SlackThread(workspace.calls, workspace.names, workspace.identity, message)
        self._thread = Thread(
            channel=message.channel,
            root_ts=message.root_ts,
            recipient_team=message.user_team or message.team_id,
            recipient_user=message.user or "",
            after_ts=message.ts,
        )
        self._status = SlackStatus(workspace.calls, self._thread, workspace.clock, workspace.spawn)

    async def takes_part(self) -> bool:
        return await self._source.takes_part()

    async def history(self) -> Sequence[ThreadMessage]:
        return await self._source.history(self._workspace.history_messages)

    async def asker(self) -> str:
        return await self._workspace.names.of(self._thread.recipient_user)

    async def say(self, text: str) -> None:
        """A long text goes as a file, which is one message; where Slack takes none, as several messages."""
        if len(text) > INLINE_CHARS and await self._attach(text):
            return
        reply = self.reply()
        reply.write(text)
        await reply.finish()

    def status(self) -> StatusCard:
        return self._status

    def reply(self) -> Reply:
        return SlackReply(self._posting(), self._workspace.clock, self._workspace.spawn, self._status.replied)

    async def _attach(self, text: str) -> bool:
        try:
            await self._posting().attach(FILE_NAME, text, announcement(text))
        except (SlackRefusalError, SlackLostError) as fault:
            _log.warning(FILE_NOT_SHARED, reason=str(fault))
            return False
        self._status.replied()
        return True

    def _posting(self) -> Posting:
        return Posting(self._workspace.calls, self._thread, self._workspace.identity.user_id)


def announcement(text: str) -> str:
    """What is said (mrkdwn) above the file that holds ``text``: its first line, and how long it is."""
    first = text.split("\n", 1)[0][:FIRST_LINE_CHARS].replace("**", "*")
    return f"{without_crowd_mentions(first)}\n_The whole answer is in the file: {len(text):,} characters._"
