"""The calls that read what stands in a thread, or at the top of a channel."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from app.slack.calls import SlackCalls, SlackLostError

PAGE_MESSAGES = 200
PAGES = 10
"""Enough for everything people still follow."""
EVERYTHING_PAGES = 100
"""More than is said in one place in the time in which anybody looks for an answer there."""

Message = Mapping[str, Any]


async def page_of_thread(
    calls: SlackCalls, channel: str, root_ts: str, wish: Mapping[str, object]
) -> tuple[list[Message], str | None]:
    """Messages of the thread, oldest first, and the cursor of the next page.

    Raises ``SlackRefusalError`` or ``SlackLostError``, as do the others.
    """
    arguments = {"channel": channel, "ts": root_ts, "limit": str(PAGE_MESSAGES), **wish}
    return _page(await calls.call("conversations.replies", arguments, as_query=True))


async def page_of_channel(
    calls: SlackCalls, channel: str, wish: Mapping[str, object], limit: int = PAGE_MESSAGES
) -> tuple[list[Message], str | None]:
    """Messages at the top of the channel, newest first, and the cursor of the page before."""
    arguments = {"channel": channel, "limit": str(limit), **wish}
    return _page(await calls.call("conversations.history", arguments, as_query=True))


async def all_of(
    calls: SlackCalls,
    channel: str,
    root_ts: str | None,
    wish: Mapping[str, object],
    is_wanted: Callable[[Message], bool],
) -> list[Message]:
    """Every message of the thread, or of the channel's top, that is wanted, oldest first.

    Raises ``SlackLostError`` also where there is more to look through than can be read: whoever asks for all of them
    must not take some for that.
    """
    found: list[Message] = []
    cursor: str | None = None
    for _ in range(EVERYTHING_PAGES):
        more = {"cursor": cursor, **wish}
        if root_ts is None:
            messages, cursor = await page_of_channel(calls, channel, more)
        else:
            messages, cursor = await page_of_thread(calls, channel, root_ts, more)
        found.extend(filter(is_wanted, messages))
        if cursor is None:
            return sorted(found, key=lambda message: float(message.get("ts", 0)))
    raise SlackLostError(f"more than {EVERYTHING_PAGES * PAGE_MESSAGES} messages to look through")


async def newest_of_channel(calls: SlackCalls, channel: str, wish: Mapping[str, object], most: int) -> list[Message]:
    """At most ``most`` of the messages at the top of the channel, oldest first."""
    found: list[Message] = []
    cursor: str | None = None
    while len(found) < most:
        limit = min(PAGE_MESSAGES, most - len(found))
        messages, cursor = await page_of_channel(calls, channel, {"cursor": cursor, **wish}, limit)
        found.extend(messages)
        if cursor is None:
            break
    return found[::-1]


def _page(answer: Mapping[str, Any]) -> tuple[list[Message], str | None]:
    cursor = cast("Message", answer.get("response_metadata") or {}).get("next_cursor") or None
    return cast("list[Message]", answer.get("messages") or []), cursor
