"""The calls that read what stands in a thread, or at the top of a channel."""

from collections.abc import Mapping
from typing import Any, cast

from app.slack.calls import SlackCalls

PAGE_MESSAGES = 200
PAGES = 10
"""Enough for everything people still follow."""

Message = Mapping[str, Any]


async def page_of_thread(
    calls: SlackCalls, channel: str, root_ts: str, wish: Mapping[str, object]
) -> tuple[list[Message], str | None]:
    """Messages of the thread, oldest first, and the cursor of the next page.

    Raises ``SlackRefusalError`` or ``SlackLostError``, as does ``newest_of_channel``.
    """
    arguments = {"channel": channel, "ts": root_ts, "limit": str(PAGE_MESSAGES), **wish}
    return _page(await calls.call("conversations.replies", arguments, as_query=True))


async def newest_of_channel(
    calls: SlackCalls, channel: str, wish: Mapping[str, object], most: int = PAGES * PAGE_MESSAGES
) -> list[Message]:
    """At most ``most`` of the messages at the top of the channel, oldest first."""
    found: list[Message] = []
    cursor: str | None = None
    while len(found) < most:
        limit = str(min(PAGE_MESSAGES, most - len(found)))
        arguments = {"channel": channel, "limit": limit, "cursor": cursor, **wish}
        messages, cursor = _page(await calls.call("conversations.history", arguments, as_query=True))
        found.extend(messages)
        if cursor is None:
            break
    return found[::-1]


def _page(answer: Mapping[str, Any]) -> tuple[list[Message], str | None]:
    cursor = cast("Message", answer.get("response_metadata") or {}).get("next_cursor") or None
    return cast("list[Message]", answer.get("messages") or []), cursor
