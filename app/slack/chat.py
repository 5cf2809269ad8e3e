"""The conversation a Slack message belongs to: implements ``app.channel.Chat``."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.channel import Reply, StatusCard, ThreadMessage
from app.clock import Clock
from app.slack.calls import SlackCalls
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage
from app.slack.posting import Posting, Thread
from app.slack.reply import SlackReply, Spawn
from app.slack.status import SlackStatus
from app.slack.thread import SlackThread


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
        reply = self.reply()
        reply.write(text)
        await reply.finish()

    def status(self) -> StatusCard:
        return self._status

    def reply(self) -> Reply:
        workspace = self._workspace
        posting = Posting(workspace.calls, self._thread, workspace.identity.user_id)
        return SlackReply(posting, workspace.clock, workspace.spawn, self._status.replied)
