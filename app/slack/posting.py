"""The calls that put the bot's words into one thread, and the look-ups that settle what became of a lost one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from app.slack.calls import SlackCalls, SlackLostError
from app.slack.steps import Append, Call, Post, Start, Stop, Update

NONCE_EVENT = "switchboard_reply"
"""Message metadata's event type that carries the nonce of a post, so that a lost post can be recognised."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Where an answer goes, and for whom it streams."""

    channel: str
    root_ts: str
    recipient_team: str
    recipient_user: str
    after_ts: str
    """The message that is answered; whatever the bot says to it comes later."""


class Posting:
    """One thread's writer."""

    def __init__(self, calls: SlackCalls, thread: Thread, bot_user: str) -> None:
        self._calls = calls
        self._thread = thread
        self._bot_user = bot_user
        self._known: set[str] = set()

    async def make(self, call: Call, nonce: str) -> str | None:
        """Carry out ``call``; the ts of the message that Start and Post made.

        Raises ``SlackRefusalError`` or ``SlackLostError``.
        """
        method, arguments = self._request(call, nonce)
        answer = await self._calls.call(method, {"channel": self._thread.channel} | arguments)
        if isinstance(call, Start | Post):
            ts = str(answer["ts"])
            self._known.add(ts)
            return ts
        return None

    async def find(self, call: Call, nonce: str) -> str | None:
        """The message a lost Start or Post made after all; ``None`` when it made none.

        Raises ``SlackRefusalError`` or ``SlackLostError`` when that cannot be told.
        """
        if not isinstance(call, Start | Post):
            return None
        for message in await self._own_messages():
            if isinstance(call, Start) or _nonce(message) == nonce:
                ts = str(message["ts"])
                self._known.add(ts)
                return ts
        return None

    async def attach(self, name: str, content: str, comment: str) -> None:
        """Share ``content`` in the thread as the file ``name`` under ``comment`` (mrkdwn).

        Raises ``SlackRefusalError``, or ``SlackLostError`` when it may or may not be there.
        """
        body = content.encode()
        announced = await self._calls.call(
            "files.getUploadURLExternal", {"filename": name, "length": str(len(body))}, as_query=True
        )
        await self._calls.upload(str(announced["upload_url"]), body)
        file_id = str(announced["file_id"])
        wish = {
            "files": [{"id": file_id, "title": name}],
            "channel_id": self._thread.channel,
            "thread_ts": self._thread.root_ts,
            "initial_comment": comment,
        }
        try:
            await self._calls.call("files.completeUploadExternal", wish)
        except SlackLostError:
            if not any(_holds(message, file_id) for message in await self._own_messages()):
                raise

    async def _own_messages(self) -> list[Mapping[str, Any]]:
        """The bot's messages of the thread that are newer than what is answered and not known yet."""
        answer = await self._calls.call(
            "conversations.replies",
            {
                "channel": self._thread.channel,
                "ts": self._thread.root_ts,
                "oldest": self._thread.after_ts,
                "include_all_metadata": "true",
                "limit": "200",
            },
            as_query=True,
        )
        messages = cast("list[Mapping[str, Any]]", answer.get("messages", []))
        return [message for message in messages if self._is_ours(message, str(message.get("ts", "")))]

    def _is_ours(self, message: Mapping[str, Any], ts: str) -> bool:
        is_later = float(ts or 0) > float(self._thread.after_ts)
        return message.get("user") == self._bot_user and is_later and ts not in self._known

    def _request(self, call: Call, nonce: str) -> tuple[str, dict[str, object]]:
        thread = self._thread
        match call:
            case Start(text):
                return "chat.startStream", {
                    "thread_ts": thread.root_ts,
                    "markdown_text": text,
                    "recipient_team_id": thread.recipient_team,
                    "recipient_user_id": thread.recipient_user,
                }
            case Append(ts, text):
                return "chat.appendStream", {"ts": ts, "markdown_text": text}
            case Stop(ts):
                return "chat.stopStream", {"ts": ts}
            case Post(text):
                return "chat.postMessage", {
                    "thread_ts": thread.root_ts,
                    "markdown_text": text,
                    "unfurl_links": False,
                    "unfurl_media": False,
                    "metadata": {"event_type": NONCE_EVENT, "event_payload": {"nonce": nonce}},
                }
            case Update(ts, text):
                return "chat.update", {"ts": ts, "markdown_text": text}


def _holds(message: Mapping[str, Any], file_id: str) -> bool:
    return any(file.get("id") == file_id for file in cast("list[Mapping[str, Any]]", message.get("files") or []))


def _nonce(message: Mapping[str, Any]) -> str | None:
    metadata = cast("Mapping[str, Any]", message.get("metadata") or {})
    if metadata.get("event_type") != NONCE_EVENT:
        return None
    return cast("Mapping[str, Any]", metadata.get("event_payload") or {}).get("nonce")
