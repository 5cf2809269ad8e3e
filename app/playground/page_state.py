"""Everything one member may see, in one answer, and how far each member has read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from app.playground.model import Channel, Json, Member
from app.playground.page_notices import prompts_json, status_json
from app.playground.page_shapes import app_json, channel_json, may_see, member_json, message_json, view_json
from app.playground.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PageShortcut:
    """A shortcut as the app's manifest declares it: the workspace itself does not know them."""

    name: str
    callback_id: str
    is_for_messages: bool


class PageState:
    """The workspace as a member's page draws it."""

    def __init__(self, workspace: Workspace, shortcuts: Sequence[PageShortcut] = ()) -> None:
        self._workspace = workspace
        self.shortcuts = [asdict(shortcut) for shortcut in shortcuts]
        self._read_up_to: dict[tuple[str, str], str] = {}

    def person(self, user: str) -> Member | None:
        """A member a page can be opened as: people only, bots are played by their apps."""
        member = self._workspace.members.get(user)
        return None if member is None or member.bot_id is not None else member

    def people(self) -> list[Member]:
        return [member for member in self._workspace.members.values() if member.bot_id is None]

    def mark_read(self, user: str, channel: str, ts: str) -> None:
        """Marks only ever move forward."""
        self._read_up_to[user, channel] = max(ts, self._read_up_to.get((user, channel), ""))

    def seen_by(self, member: Member) -> Json:
        workspace = self._workspace
        channels = [channel for channel in workspace.channels.values() if may_see(channel, member)]
        home = workspace.home_views.get(member.id)
        return {
            "me": member.id,
            "team": {"id": workspace.team.id, "name": workspace.team.name, "domain": workspace.team.domain},
            "people": [person.id for person in self.people()],
            "members": [member_json(each) for each in workspace.members.values()],
            "apps": [app_json(app) for app in workspace.apps.values()],
            "shortcuts": self.shortcuts,
            "channels": [channel_json(channel) for channel in channels],
            "messages": {channel.id: self._messages(channel) for channel in channels},
            "read": {channel.id: self._read_up_to.get((member.id, channel.id), "") for channel in channels},
            "modals": [view_json(view) for view in workspace.views.values() if view.user == member.id],
            "home": None if home is None else view_json(home),
            **self._threads({channel.id for channel in channels}),
        }

    def _messages(self, channel: Channel) -> list[Json]:
        kept = self._workspace.messages.get(channel.id, {})
        return [message_json(self._workspace, message) for message in kept.values()]

    def _threads(self, seen: set[str]) -> Json:
        workspace = self._workspace
        return {
            "thread_status": [
                status_json(status) for status in workspace.thread_status.values() if status.channel in seen
            ],
            "session_status": [
                {"channel": channel, "thread_ts": thread_ts, "status": status}
                for (channel, thread_ts), status in workspace.session_status.items()
                if channel in seen
            ],
            "prompts": [prompts_json(each) for each in workspace.prompts.values() if each.channel in seen],
            "titles": [
                {"channel": channel, "thread_ts": thread_ts, "title": title}
                for (channel, thread_ts), title in workspace.thread_titles.items()
                if channel in seen
            ],
        }
