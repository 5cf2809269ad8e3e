"""The calls that put the bot's words where they belong, and the look-ups that settle what became of a lost one."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from app.channel import Remains, no_others
from app.slack import marks
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError
from app.slack.reading import all_of
from app.slack.steps import Append, Call, Post, Start, Stop, Update

BEGUN_MOST = 1_000
"""More than are open at one time; one that has ended has a mark."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Where an answer goes, and for whom it streams."""

    channel: str
    root_ts: str | None
    """``None`` at the top of the channel, where nothing streams (chat.startStream asks for a thread)."""
    recipient_team: str
    recipient_user: str
    after_ts: str
    """The message that is answered; whatever the bot says to it comes later."""
    turn: str = ""
    """Names the turn that answers, the same in every process."""


class Begun:
    """The streams that this process knows it has begun, and for which turn: while they have no mark it tells them."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[str, str], str] = OrderedDict()

    def add(self, channel: str, ts: str, turn: str) -> None:
        self._turns[channel, ts] = turn
        while len(self._turns) > BEGUN_MOST:
            self._turns.popitem(last=False)

    def turn_of(self, channel: str, ts: str) -> str | None:
        return self._turns.get((channel, ts))


class Posting:
    """One thread's writer."""

    def __init__(
        self,
        calls: SlackCalls,
        thread: Thread,
        bot_user: str,
        begun: Begun | None = None,
        others: Callable[[], Collection[str]] = no_others,
    ) -> None:
        """``others``: the ts of further messages that are answered with the thread's, asked for at the end."""
        self._others = others
        self._calls = calls
        self._thread = thread
        self._bot_user = bot_user
        self._begun = begun or Begun()
        self._known: set[str] = set()

    @property
    def can_stream(self) -> bool:
        return self._thread.root_ts is not None

    async def make(self, call: Call, nonce: str) -> str | None:
        """Carry out ``call``; the ts of the message that Start and Post made.

        Raises ``SlackRefusalError`` or ``SlackLostError``.
        """
        method, arguments = self._request(call, nonce)
        answer = await self._calls.call(method, {"channel": self._thread.channel} | arguments)
        if isinstance(call, Start | Post):
            return self._knowing(call, str(answer["ts"]))
        return None

    async def find(self, call: Call, nonce: str) -> str | None:
        """The message a lost Start or Post made after all; ``None`` when it made none.

        Raises ``SlackRefusalError`` or ``SlackLostError`` when that cannot be told.
        """
        if not isinstance(call, Start | Post):
            return None
        for message in reversed(await self._own_messages()):
            if self._may_have_begun(message) if isinstance(call, Start) else marks.nonce_of(message) == nonce:
                return self._knowing(call, str(message["ts"]))
        return None

    def _may_have_begun(self, message: Mapping[str, Any]) -> bool:
        """A stream that has just begun has no mark yet, and is newer than any other message without one."""
        is_new = not marks.is_marked(message) and not message.get("files")
        return is_new and self._turn_of(message) is None

    def _knowing(self, call: Call, ts: str) -> str:
        self._known.add(ts)
        if isinstance(call, Start):
            self._begun.add(self._thread.channel, ts, self._thread.turn)
        return ts

    def _turn_of(self, message: Mapping[str, Any]) -> str | None:
        """Whose the message is, if that is known; of a file that is another's, its name."""
        for name in marks.names_of_files(message):
            if name == marks.file_name(self._thread.turn):
                return self._thread.turn
            if name.startswith(marks.FILE_PREFIX):
                return name
        return marks.turn_of(message) or self._begun.turn_of(self._thread.channel, str(message.get("ts")))

    async def close(self, ts: str) -> None:
        """End the message's stream if it is still open. Raises ``SlackLostError``."""
        try:
            await self._calls.call("chat.stopStream", {"channel": self._thread.channel, "ts": ts})
        except SlackRefusalError:
            return

    async def delete(self, ts: str) -> None:
        """Raises ``SlackRefusalError`` or ``SlackLostError``."""
        await self._calls.call("chat.delete", {"channel": self._thread.channel, "ts": ts})

    async def remains(self, foreign: Collection[str]) -> Remains:
        """What an earlier attempt at this turn left; messages at ``foreign`` are others'.

        Raises ``SlackRefusalError`` or ``SlackLostError`` when that cannot be told.
        """
        own = [message for message in await self._own_messages() if self._is_of_this_turn(message, foreign)]
        return Remains(tuple(str(message["ts"]) for message in own), any(map(marks.is_end, own)))

    async def whisper(self, text: str, blocks: Sequence[Mapping[str, Any]] = ()) -> None:
        """Show ``text`` to the one who is answered alone. Raises ``SlackRefusalError`` or ``SlackLostError``."""
        thread = self._thread
        wish: dict[str, object] = {
            "channel": thread.channel,
            "thread_ts": thread.root_ts,
            "user": thread.recipient_user,
            "text": text,
        }
        if blocks:
            wish["blocks"] = blocks
        await self._calls.call("chat.postEphemeral", wish)

    async def attach(self, title: str, content: str, comment: str) -> str | None:
        """Share ``content`` in the thread as the file ``title`` under ``comment`` (mrkdwn).

        The ts of the message that shows it, if it is there by now. Raises ``SlackRefusalError``, or ``SlackLostError``
        when it may or may not be there.
        """
        body, name = content.encode(), marks.file_name(self._thread.turn)
        announced = await self._calls.call(
            "files.getUploadURLExternal", {"filename": name, "length": str(len(body))}, as_query=True
        )
        await self._calls.upload(str(announced["upload_url"]), body)
        file_id = str(announced["file_id"])
        wish = {
            "files": [{"id": file_id, "title": title}],
            "channel_id": self._thread.channel,
            "thread_ts": self._thread.root_ts,
            "initial_comment": comment,
        }
        try:
            await self._calls.call("files.completeUploadExternal", wish)
        except SlackLostError:
            ts = await self._showing(file_id)
            if ts is None:
                raise
            return ts
        with suppress(SlackRefusalError, SlackLostError):
            return await self._showing(file_id)
        return None

    async def _showing(self, file_id: str) -> str | None:
        holding = (message for message in await self._own_messages() if marks.holds(message, file_id))
        return next((str(message["ts"]) for message in holding), None)

    async def _own_messages(self) -> list[Mapping[str, Any]]:
        """The bot's messages that are newer than what is answered and not known yet, oldest first."""
        thread = self._thread
        wish = {"oldest": thread.after_ts, "include_all_metadata": "true"}
        return await all_of(self._calls, thread.channel, thread.root_ts, wish, self._is_ours)

    def _is_ours(self, message: Mapping[str, Any]) -> bool:
        ts = str(message.get("ts", ""))
        is_later = float(ts or 0) > float(self._thread.after_ts)
        return message.get("user") == self._bot_user and is_later and ts not in self._known

    def _is_of_this_turn(self, message: Mapping[str, Any], foreign: Collection[str]) -> bool:
        """A stream carries no mark until it ends, a file its name: one that is nobody else's must be this turn's.

        At the top of a channel nothing streams, and what is there without a mark may be anything.
        """
        turn = self._turn_of(message)
        if turn is not None:
            return turn == self._thread.turn or marks.ends_for(message, self._thread.after_ts)
        may_be = self._thread.root_ts is not None or bool(message.get("files"))
        return may_be and str(message.get("ts")) not in foreign

    def _mark(self, *, is_last: bool, nonce: str | None = None) -> dict[str, object]:
        return marks.mark(self._thread.turn, is_last=is_last, others=self._others() if is_last else (), nonce=nonce)

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
            case Stop(ts, is_last):
                # Always marked: an answer whose begin was lost looks for a message without a mark, and takes it over.
                return "chat.stopStream", {"ts": ts} | self._mark(is_last=is_last)
            case Post(text, is_last):
                return "chat.postMessage", {
                    "thread_ts": thread.root_ts,
                    "markdown_text": text,
                    "unfurl_links": False,
                    "unfurl_media": False,
                } | self._mark(is_last=is_last, nonce=nonce)
            case Update(ts, text, is_last):
                return "chat.update", {"ts": ts, "markdown_text": text} | self._mark(is_last=is_last)
