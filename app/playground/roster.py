"""Who and where: the team, its apps, members and channels, and who is in which."""

from collections.abc import Sequence

from app.clock import Clock
from app.playground.feed import Feed
from app.playground.happenings import ChannelChanged, ChannelCreated, MemberJoined, MemberLeft
from app.playground.model import Channel, ChannelKind, Member, SlackApp, Team
from app.playground.refusal import SlackRefusal

_PAIR = 2
_GROUP_DM_MAX = 9
_ROOMS = (ChannelKind.PUBLIC, ChannelKind.PRIVATE)


class Roster(Feed):
    """Keyed by Slack ids throughout; every refusal carries Slack's error name."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self.team = Team("T0SWITCH01", "Acme", "acme")
        self.apps: dict[str, SlackApp] = {}
        self.members: dict[str, Member] = {}
        self.channels: dict[str, Channel] = {}
        self._dms: dict[frozenset[str], str] = {}

    def app_by_bot_user(self, user_id: str) -> SlackApp | None:
        return next((app for app in self.apps.values() if app.bot_user_id == user_id), None)

    def app_by_token(self, token: str) -> SlackApp | None:
        """By bot token or app-level token."""
        return next((app for app in self.apps.values() if token in (app.bot_token, app.app_token)), None)

    def channel(self, channel_id: str) -> Channel:
        """Refuses ``channel_not_found``."""
        if channel_id not in self.channels:
            raise SlackRefusal("channel_not_found")
        return self.channels[channel_id]

    def member(self, user_id: str) -> Member:
        """Refuses ``user_not_found``."""
        if user_id not in self.members:
            raise SlackRefusal("user_not_found")
        return self.members[user_id]

    def require_member(self, channel_id: str, user_id: str) -> Channel:
        """Refuses ``not_in_channel`` for public channels, ``channel_not_found`` for those one cannot see."""
        channel = self.channel(channel_id)
        if user_id not in channel.members:
            raise SlackRefusal("not_in_channel" if channel.kind is ChannelKind.PUBLIC else "channel_not_found")
        return channel

    def join(self, channel: str, user: str, inviter: str | None = None) -> None:
        """Does nothing for someone who is in already. A DM's members are fixed."""
        place = self.channel(channel)
        self.member(user)
        if place.kind not in _ROOMS:
            raise SlackRefusal("method_not_supported_for_channel_type")
        if place.is_archived:
            raise SlackRefusal("is_archived")
        if user in place.members:
            return
        place.members.add(user)
        self.emit(MemberJoined(channel, user, inviter, self.next_ts()))

    def leave(self, channel: str, user: str) -> None:
        place = self.channel(channel)
        if place.kind not in _ROOMS:
            raise SlackRefusal("method_not_supported_for_channel_type")
        if user not in place.members:
            raise SlackRefusal("not_in_channel")
        place.members.discard(user)
        self.emit(MemberLeft(channel, user, self.next_ts()))

    def open_dm(self, users: Sequence[str]) -> Channel:
        """Two people share a DM, more a group DM; the existing one is returned."""
        people = frozenset(users)
        for user in people:
            self.member(user)
        if len(people) < _PAIR:
            raise SlackRefusal("not_enough_users")
        if len(people) > _GROUP_DM_MAX:
            raise SlackRefusal("too_many_users")
        if people in self._dms:
            return self.channels[self._dms[people]]
        channel = self._new_dm(users, people)
        self._dms[people] = channel.id
        self.channels[channel.id] = channel
        self.emit(ChannelCreated(channel.id))
        return channel

    def _new_dm(self, users: Sequence[str], people: frozenset[str]) -> Channel:
        if len(people) == _PAIR:
            return Channel(self.ids.mint("D"), "", ChannelKind.DM, users[0], self.epoch_s(), members=set(people))
        handles = "--".join(sorted(self.members[user].name for user in people))
        name = f"mpdm-{handles}-1"
        return Channel(self.ids.mint("C"), name, ChannelKind.GROUP_DM, users[0], self.epoch_s(), members=set(people))

    def create_channel(self, name: str, creator: str, *, private: bool = False) -> Channel:
        """Refuses ``name_taken``; whether the name is a legal one is the Web API's question."""
        if any(channel.name == name for channel in self.channels.values()):
            raise SlackRefusal("name_taken")
        self.member(creator)
        kind = ChannelKind.PRIVATE if private else ChannelKind.PUBLIC
        channel = Channel(self.ids.mint("C"), name, kind, creator, self.epoch_s(), members={creator})
        self.channels[channel.id] = channel
        self.emit(ChannelCreated(channel.id))
        return channel

    def channel_changed(self, channel: Channel) -> None:
        self.emit(ChannelChanged(channel.id))

    def dm_of(self, user: str, app: SlackApp) -> Channel:
        """The DM between a person and an app, opened if need be."""
        return self.open_dm((user, app.bot_user_id))
