"""What was said before a message in its conversation, read from Slack itself."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import cast

from app.channel import ThreadMessage
from app.errors import ChannelUnavailableError
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.format import mentions, to_plain, without_mention
from app.slack.gate import PERSONS_SUBTYPES
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage, whole_text
from app.slack.reading import PAGES, Message, newest_of_channel, page_of_thread

_SAID = PERSONS_SUBTYPES | {"bot_message"}


class SlackThread:
    """The thread a message stands in, read at most once per message; or the top of its channel."""

    def __init__(
        self, calls: SlackCalls, names: Names, identity: Identity, message: SlackMessage, *, in_channel: bool = False
    ) -> None:
        """``in_channel``: the message is answered at the top of its channel."""
        self._in_channel = in_channel
        self._calls = calls
        self._names = names
        self._identity = identity
        self._message = message
        self._read: Sequence[Message] | None = None

    async def takes_part(self) -> bool:
        """Whether the bot spoke or was mentioned in it. Raises ``ChannelUnavailableError``."""
        me = self._identity.user_id
        if self._message.parent_user_id == me:
            return True
        return any(m.get("user") == me or mentions(str(m.get("text", "")), me) for m in await self._messages())

    async def history(self, limit: int, after: str | None = None) -> Sequence[ThreadMessage]:
        """The last ``limit`` messages before the one that is answered, behind ``after`` if it is given.

        Raises ``ChannelUnavailableError``.
        """
        if self._in_channel:
            return [await self._plain(m) for m in await self._top(limit, after)]
        if not self._message.is_reply:
            return ()
        start, end = float(after or 0), float(self._message.ts)
        earlier = [m for m in await self._messages(after) if start < float(m.get("ts", 0)) < end]
        return [await self._plain(m) for m in earlier[-limit:]]

    async def _plain(self, message: Message) -> ThreadMessage:
        user = str(message.get("user", ""))
        is_ours = user == self._identity.user_id
        text = whole_text(message.get("text"), cast("Sequence[Message]", message.get("attachments") or ()))
        return ThreadMessage(
            position=str(message["ts"]),
            author=str(message.get("username") or "") or await self._names.of(user),
            by_bot=is_ours,
            text=text if is_ours else to_plain(without_mention(text, self._identity.user_id)),
            files=0 if is_ours else len(cast("Sequence[Message]", message.get("files") or ())),
        )

    async def _messages(self, after: str | None = None) -> Sequence[Message]:
        """The thread, read from ``after`` on where it was not read as a whole already."""
        if self._read is None:
            found = await self._fetch(after)
            if after is not None:
                return found
            self._read = found
        return self._read

    async def _top(self, limit: int, after: str | None) -> Sequence[Message]:
        """What was said at the top of the channel; joins, topics and the like are left out."""
        wish = {"oldest": after, "latest": self._message.ts}
        with _unavailable():
            found = await newest_of_channel(self._calls, self._message.channel, wish, limit)
        return [m for m in found if m.get("subtype") in _SAID]

    async def _fetch(self, after: str | None) -> Sequence[Message]:
        """Beyond so many pages the oldest ones are what is read."""
        found: list[Message] = []
        cursor: str | None = None
        for _ in range(PAGES):
            wish = {"cursor": cursor, "oldest": after}
            with _unavailable():
                messages, cursor = await page_of_thread(self._calls, self._message.channel, self._message.root_ts, wish)
            found.extend(messages)
            if cursor is None:
                break
        return found


@contextmanager
def _unavailable() -> Generator[None]:
    try:
        yield
    except (SlackRefusalError, SlackLostError) as fault:
        raise ChannelUnavailableError(str(fault)) from fault
