"""The conversation a Slack message belongs to: implements ``app.channel.Chat``."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import structlog

from app.background import Spawn
from app.channel import Remains, Reply, StatusCard, ThreadMessage, no_others, nobody_listens
from app.clock import Clock
from app.errors import ChannelUnavailableError
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.format import without_crowd_mentions
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage
from app.slack.posting import Begun, Posting, Thread
from app.slack.reply import SlackReply
from app.slack.status import SlackStatus, Statuses
from app.slack.thread import SlackThread
from app.slack.undo import notice_blocks

INLINE_CHARS = 3_000
"""What is longer is tiresome to scroll past in a thread."""
FIRST_LINE_CHARS = 300
FILE_TITLE = "answer.md"
FILE_NOT_SHARED = "file_not_shared"
WHISPER_LOST = "whisper_lost"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """What every conversation of one workspace shares."""

    calls: SlackCalls
    names: Names
    statuses: Statuses
    identity: Identity
    clock: Clock
    spawn: Spawn
    history_messages: int
    reply_in_thread: bool = True
    """Whether the top of a channel is answered in threads, each a conversation, or is one itself."""
    begun: Begun = field(default_factory=Begun)


def slack_chat(workspace: Workspace, message: SlackMessage, part: str = "", *, in_channel: bool = False) -> "SlackChat":
    """The conversation ``message`` belongs to; ``part`` names one of several turns that it asks for.

    ``in_channel``: it is answered at the top of its channel, which is one conversation.
    """
    thread = Thread(
        channel=message.channel,
        root_ts=None if in_channel else message.root_ts,
        recipient_team=message.user_team or message.team_id,
        recipient_user=message.user or "",
        after_ts=message.ts,
        turn=f"{message.event_id}{part}",
    )
    return SlackChat(
        workspace,
        SlackThread(workspace.calls, workspace.names, workspace.identity, message, in_channel=in_channel),
        SlackStatus(workspace.statuses, thread),
        thread,
    )


@dataclass(frozen=True, slots=True)
class SlackChat:
    workspace: Workspace
    source: SlackThread
    card: SlackStatus
    thread: Thread
    taken: tuple[str, ...] = ()
    """Messages of an earlier attempt whose place the answer takes."""
    others: Callable[[], Collection[str]] = no_others
    """Further messages that the answer is to."""
    on_posted: Callable[[str], None] = nobody_listens

    async def takes_part(self) -> bool:
        return await self.source.takes_part()

    async def history(self, after: str | None = None) -> Sequence[ThreadMessage]:
        return await self.source.history(self.workspace.history_messages, after)

    async def asker(self) -> str:
        return await self.workspace.names.of(self.thread.recipient_user)

    def knows_asker(self) -> bool:
        return self.workspace.names.has(self.thread.recipient_user)

    async def say(self, text: str) -> None:
        """A long text goes as a file, which is one message; where Slack takes none, as several messages."""
        if len(text) > INLINE_CHARS and not self.taken and await self._attach(text):
            return
        reply = self.reply()
        reply.write(text)
        await reply.finish()

    async def whisper(self, text: str) -> None:
        try:
            await self._posting().whisper(text)
        except (SlackRefusalError, SlackLostError) as fault:
            _log.info(WHISPER_LOST, reason=str(fault))

    async def notice(self, text: str, token: str) -> None:
        try:
            await self._posting().whisper(text, notice_blocks(text, token))
        except (SlackRefusalError, SlackLostError) as fault:
            _log.info(WHISPER_LOST, reason=str(fault))

    async def remains(self, foreign: Collection[str]) -> Remains:
        try:
            return await self._posting().remains(foreign)
        except (SlackRefusalError, SlackLostError) as fault:
            raise ChannelUnavailableError(str(fault)) from fault

    def also(self, part: str) -> "SlackChat":
        return replace(self, thread=replace(self.thread, turn=f"{self.thread.turn}{part}"), taken=())

    def reusing(self, positions: Sequence[str]) -> "SlackChat":
        return replace(self, taken=tuple(positions)) if positions or self.taken else self

    def noting(
        self, on_posted: Callable[[str], None], others: Callable[[], Collection[str]] = no_others
    ) -> "SlackChat":
        return replace(self, on_posted=on_posted, others=others)

    def status(self) -> StatusCard:
        return self.card

    def reply(self) -> Reply:
        return SlackReply(
            self._posting(),
            self.workspace.clock,
            self.workspace.spawn,
            self.card.replied,
            on_posted=self.on_posted,
            reusing=self.taken,
        )

    async def _attach(self, text: str) -> bool:
        try:
            ts = await self._posting().attach(FILE_TITLE, text, announcement(text))
        except (SlackRefusalError, SlackLostError) as fault:
            _log.warning(FILE_NOT_SHARED, reason=str(fault))
            return False
        self.card.replied()
        if ts is not None:
            self.on_posted(ts)
        return True

    def _posting(self) -> Posting:
        workspace = self.workspace
        return Posting(workspace.calls, self.thread, workspace.identity.user_id, workspace.begun, self.others)


def announcement(text: str) -> str:
    """What is said (mrkdwn) above the file that holds ``text``: its first line, and how long it is."""
    first = text.split("\n", 1)[0][:FIRST_LINE_CHARS].replace("**", "*")
    return f"{without_crowd_mentions(first)}\n_The whole answer is in the file: {len(text):,} characters._"
