"""The whole workspace: talk, and on top of it views, statuses, sessions, streams, pins."""

from dataclasses import dataclass

from app.clock import Clock
from app.playground.happenings import (
    SessionStatus,
    SessionStopped,
    SuggestedPrompts,
    ThreadStatus,
    ThreadTitle,
)
from app.playground.model import ChannelKind, Message, View
from app.playground.refusal import SlackRefusal
from app.playground.talk import PostOptions, Talk

__all__ = ["STREAM_LIFETIME_S", "Pin", "PostOptions", "Workspace"]

STREAM_LIFETIME_S = 300.0
_STATUS_LIFETIME_S = 120.0
_PROCESSING_LIFETIME_S = 3600.0


@dataclass(frozen=True, slots=True)
class Pin:
    channel: str
    ts: str
    user: str
    created: int


class Workspace(Talk):
    """Synchronous and single-threaded: every operation is done, and told to the feed, when it returns."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self.views: dict[str, View] = {}
        self.home_views: dict[str, View] = {}
        self.thread_status: dict[tuple[str, str], ThreadStatus] = {}
        self.session_status: dict[tuple[str, str], str] = {}
        self.thread_titles: dict[tuple[str, str], str] = {}
        self.prompts: dict[tuple[str, str | None], SuggestedPrompts] = {}
        self.pins: dict[tuple[str, str], Pin] = {}
        self.live_streams: dict[tuple[str, str], Message] = {}
        self.revoked_tokens: set[str] = set()
        self._status_set_at: dict[tuple[str, str], float] = {}
        self._processing_since: dict[tuple[str, str], float] = {}

    def post(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        thread_ts: str | None = None,
        options: PostOptions | None = None,
    ) -> Message:
        """As ``Talk.post``; any message of an app also clears the status of its thread."""
        message = super().post(channel, user, text, thread_ts=thread_ts, options=options)
        if message.bot_id and (channel, message.root_ts) in self.thread_status:
            self.set_thread_status(ThreadStatus(channel, message.root_ts, ""))
        return message

    def set_thread_status(self, status: ThreadStatus) -> None:
        """An empty text clears."""
        key = (status.channel, status.thread_ts)
        if status.text:
            self.thread_status[key] = status
            self._status_set_at[key] = self.clock.monotonic()
        else:
            self.thread_status.pop(key, None)
            self._status_set_at.pop(key, None)
        self.emit(status)

    def set_session_status(self, channel: str, thread_ts: str, status: str) -> None:
        key = (channel, thread_ts)
        if status == "processing":
            self._processing_since[key] = self.clock.monotonic()
        else:
            self._processing_since.pop(key, None)
        if self.session_status.get(key) != status:
            self.session_status[key] = status
            self.emit(SessionStatus(channel, thread_ts, status))

    def set_prompts(self, prompts: SuggestedPrompts) -> None:
        self.prompts[(prompts.channel, prompts.thread_ts)] = prompts
        self.emit(prompts)

    def set_title(self, channel: str, thread_ts: str, title: str) -> None:
        self.thread_titles[(channel, thread_ts)] = title
        self.emit(ThreadTitle(channel, thread_ts, title))

    def end_stream(self, message: Message, state: str) -> None:
        """``completed``, ``expired`` or ``stopped``; does nothing for a stream that has ended."""
        if self.live_streams.pop((message.channel, message.ts), None) is None:
            return

        def apply(target: Message) -> None:
            if target.stream:
                target.stream.state = state

        self.change(message, apply)

    def stop_streams(self, channel: str, thread_ts: str, user: str) -> None:
        """The Stop button: Slack ends the streams itself; the app hears of it and cleans up after itself."""
        self.require_member(channel, user)
        stopped = [
            message
            for message in self.live_streams.values()
            if message.channel == channel and message.root_ts == thread_ts
        ]
        for message in stopped:
            self.end_stream(message, "stopped")
        streaming_ts = tuple(message.ts for message in stopped)
        self.emit(SessionStopped(channel, user, thread_ts, streaming_ts, self.next_ts()))

    def expire_streams(self) -> None:
        """Every live stream becomes ``expired`` now, as if its five minutes were over."""
        for message in tuple(self.live_streams.values()):
            self.end_stream(message, "expired")

    def lapse(self) -> None:
        """Ends what time has ended: streams (5 min), statuses (2 min) and ``processing`` (an hour)."""
        now = self.clock.monotonic()
        for message in tuple(self.live_streams.values()):
            if message.stream and now - message.stream.started_at >= STREAM_LIFETIME_S:
                self.end_stream(message, "expired")
        for key, since in tuple(self._status_set_at.items()):
            if now - since >= _STATUS_LIFETIME_S:
                self.set_thread_status(ThreadStatus(*key, ""))
        for key, since in tuple(self._processing_since.items()):
            if now - since >= _PROCESSING_LIFETIME_S:
                self.set_session_status(*key, "active")

    def delete(self, channel: str, ts: str) -> None:
        """As ``Talk.delete``; a live stream and a pin go with the message."""
        super().delete(channel, ts)
        self.live_streams.pop((channel, ts), None)
        self.pins.pop((channel, ts), None)

    def pin(self, channel: str, ts: str, user: str) -> None:
        """Refuses ``message_not_found`` and ``already_pinned``."""
        self.message(channel, ts)
        if (channel, ts) in self.pins:
            raise SlackRefusal("already_pinned")
        self.pins[(channel, ts)] = Pin(channel, ts, user, self.epoch_s())

    def unpin(self, channel: str, ts: str) -> None:
        """Refuses ``message_not_found`` and ``not_pinned``."""
        self.message(channel, ts)
        if self.pins.pop((channel, ts), None) is None:
            raise SlackRefusal("not_pinned")

    def visible_channels(self, user: str) -> list[str]:
        """Ids of the channels a member can see: the public ones and those they are in."""
        return [
            channel.id
            for channel in self.channels.values()
            if channel.kind is ChannelKind.PUBLIC or user in channel.members
        ]
