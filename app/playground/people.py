"""Everything a human can do in the workspace, for the tests and for the page alike."""

from collections.abc import Sequence
from uuid import uuid4

from app.playground.composer import rich_text, wire_text
from app.playground.delivery import Delivery
from app.playground.elements import ElementPick
from app.playground.happenings import HomeOpened
from app.playground.model import Channel, ChannelKind, File, Json, Message, SlackApp
from app.playground.refusal import SlackRefusal
from app.playground.workspace import PostOptions, Workspace


class People:
    """What people do in their Slack client.

    Everything raises ``SlackRefusal`` with Slack's error name where Slack's client would not let a person do it.
    The asynchronous ones wait until the app has acknowledged: ``operation_timeout`` when it did not in time,
    ``dispatch_failed`` when no app was reachable.
    """

    def __init__(self, workspace: Workspace, delivery: Delivery) -> None:
        self._workspace = workspace
        self._interactions = delivery.interactions

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        *,
        thread_ts: str | None = None,
        files: Sequence[str] = (),
        broadcast: bool = False,
    ) -> Message:
        """Post ``text`` in Slack's markup (``<@U…>``, ``*bold*``); ``files`` are ids given by ``upload``."""
        self._require_member(user, channel)
        text = wire_text(text)
        options = PostOptions(
            blocks=rich_text(text), files=tuple(files), broadcast=broadcast, client_msg_id=str(uuid4())
        )
        return self._workspace.post(channel, user, text, thread_ts=thread_ts, options=options)

    def edit(self, user: str, channel: str, ts: str, text: str) -> Message:
        """Refuses ``cant_update_message`` unless it is the person's own message."""
        self._require_own(user, channel, ts, "cant_update_message")
        text = wire_text(text)
        return self._workspace.edit(channel, ts, user, text, blocks=rich_text(text))

    def delete(self, user: str, channel: str, ts: str) -> None:
        """Refuses ``cant_delete_message`` unless it is the person's own message."""
        self._require_own(user, channel, ts, "cant_delete_message")
        self._workspace.delete(channel, ts)

    def react(self, user: str, channel: str, ts: str, name: str) -> None:
        self._require_member(user, channel)
        self._workspace.react(channel, ts, user, name.strip(":"))

    def unreact(self, user: str, channel: str, ts: str, name: str) -> None:
        self._require_member(user, channel)
        self._workspace.unreact(channel, ts, user, name.strip(":"))

    def join(self, user: str, channel: str) -> None:
        """Only public channels can be joined; others refuse ``channel_not_found`` as an invitation is needed."""
        if self._channel(channel).kind is not ChannelKind.PUBLIC:
            raise SlackRefusal("channel_not_found")
        self._workspace.join(channel, user)

    def invite(self, user: str, channel: str, invited: str) -> None:
        """Bring a person or a bot user into a channel of which ``user`` is a member."""
        self._require_member(user, channel)
        self._workspace.join(channel, invited, inviter=user)

    def leave(self, user: str, channel: str) -> None:
        self._require_member(user, channel)
        self._workspace.leave(channel, user)

    def create_channel(self, user: str, name: str, *, private: bool = False) -> Channel:
        return self._workspace.create_channel(name, user, private=private)

    def upload(self, user: str, name: str, content: bytes) -> File:
        """Put a file into the composer; ``say(…, files=[file.id])`` shares it."""
        return self._workspace.add_file(name, content, user)

    def open_dm(self, user: str, other: str, *more: str) -> Channel:
        """The DM of the two, or a group DM with ``more``."""
        return self._workspace.open_dm([user, other, *more])

    def open_home(self, user: str, app_id: str | None = None, tab: str = "home") -> None:
        """Look at the app's ``home`` or ``messages`` tab."""
        workspace = self._workspace
        channel = workspace.dm_of(user, self._app(app_id))
        workspace.emit(HomeOpened(user=user, tab=tab, channel=channel.id, event_ts=workspace.next_ts()))

    async def click(  # noqa: PLR0913 - a click is named by person, message and element, and carries a choice
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        *,
        value: str | None = None,
        block_id: str | None = None,
        selected: str | Sequence[str] | None = None,
    ) -> None:
        """Use an interactive element of a message, also of an ephemeral one.

        ``value`` and ``block_id`` pick one of several elements with the same ``action_id``; ``selected`` is what was
        chosen in a menu (option values, user or channel ids), a date or time, or what was typed into an input.
        """
        self._require_member(user, channel)
        pick = ElementPick(action_id, block_id=block_id, value=value)
        await self._interactions.click(user, channel, ts, pick, selected)

    async def click_in_view(
        self,
        user: str,
        view_id: str,
        action_id: str,
        *,
        value: str | None = None,
        block_id: str | None = None,
        selected: str | Sequence[str] | None = None,
    ) -> None:
        """Use an interactive element of a modal or of the Home tab."""
        pick = ElementPick(action_id, block_id=block_id, value=value)
        await self._interactions.click_in_view(user, view_id, pick, selected)

    async def submit_view(self, user: str, view_id: str, values: Json | None = None) -> Json | None:
        """Submit a modal; ``values`` is block_id → action_id → what was entered (text, option value, ids, date).

        Returns the errors by block_id that keep the modal open, or ``None`` once it was accepted.
        """
        return await self._interactions.submit_view(user, view_id, values or {})

    async def close_view(self, user: str, view_id: str) -> None:
        """Cancel a modal; the app hears of it if the view asked for ``notify_on_close``."""
        await self._interactions.close_view(user, view_id)

    async def slash(self, user: str, channel: str, command: str, text: str = "") -> None:
        """Use a slash command; the answer arrives as a message, mostly an ephemeral one."""
        self._require_member(user, channel)
        await self._interactions.slash(user, channel, command, text)

    async def shortcut(self, user: str, callback_id: str) -> None:
        await self._interactions.shortcut(user, callback_id)

    async def message_shortcut(self, user: str, channel: str, ts: str, callback_id: str) -> None:
        self._require_member(user, channel)
        await self._interactions.message_shortcut(user, self._message(channel, ts), callback_id)

    def stop(self, user: str, channel: str, thread_ts: str) -> None:
        """Press the Stop button of a thread in which the app is at work."""
        self._require_member(user, channel)
        self._workspace.stop_streams(channel, thread_ts, user)

    def _channel(self, channel: str) -> Channel:
        found = self._workspace.channels.get(channel)
        if found is None:
            raise SlackRefusal("channel_not_found")
        return found

    def _message(self, channel: str, ts: str) -> Message:
        message = self._workspace.messages.get(channel, {}).get(ts)
        if message is None:
            raise SlackRefusal("message_not_found")
        return message

    def _require_member(self, user: str, channel: str) -> None:
        if user not in self._channel(channel).members:
            raise SlackRefusal("not_in_channel")

    def _require_own(self, user: str, channel: str, ts: str, error: str) -> None:
        if self._message(channel, ts).user != user:
            raise SlackRefusal(error)

    def _app(self, app_id: str | None) -> SlackApp:
        apps = self._workspace.apps
        return apps[app_id] if app_id else next(iter(apps.values()))
