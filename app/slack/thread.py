"""What stands in a thread, read from Slack itself."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from app.channel import ThreadMessage
from app.errors import ChannelUnavailableError
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.format import mentions, to_plain, without_mention
from app.slack.names import Names
from app.slack.payloads import Identity, SlackMessage, whole_text

PAGE_MESSAGES = 200
PAGES = 10
"""Enough for every thread people still follow; beyond it the oldest pages are what is read."""

Message = Mapping[str, Any]


class SlackThread:
    """The thread a message stands in, read at most once per message."""

    def __init__(self, calls: SlackCalls, names: Names, identity: Identity, message: SlackMessage) -> None:
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
        )

    async def _messages(self, after: str | None = None) -> Sequence[Message]:
        """The thread, read from ``after`` on where it was not read as a whole already."""
        if self._read is None:
            found = await self._fetch(after)
            if after is not None:
                return found
            self._read = found
        return self._read

    async def _fetch(self, after: str | None) -> Sequence[Message]:
        found: list[Message] = []
        cursor: str | None = None
        for _ in range(PAGES):
            answer = await self._page(cursor, after)
            found.extend(cast("list[Message]", answer.get("messages") or []))
            cursor = cast("Message", answer.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                break
        return found

    async def _page(self, cursor: str | None, after: str | None) -> Message:
        message = self._message
        arguments = {"channel": message.channel, "ts": message.root_ts, "limit": str(PAGE_MESSAGES), "cursor": cursor}
        if after is not None:
            arguments["oldest"] = after
        try:
            return await self._calls.call("conversations.replies", arguments, as_query=True)
        except (SlackRefusalError, SlackLostError) as fault:
            raise ChannelUnavailableError(str(fault)) from fault
