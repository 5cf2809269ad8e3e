"""One authorised call of one method, and what a method is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from app.playground.message_objects import message_json
from app.playground.model import Channel, ChannelKind, Json, Message, SlackApp
from app.playground.origin import Origin
from app.playground.refusal import SlackRefusal
from app.playground.webapi.arguments import Arguments
from app.playground.webapi.uploads import Uploads
from app.playground.workspace import Workspace

_SCOPE_STEMS = {
    ChannelKind.PUBLIC: "channels",
    ChannelKind.PRIVATE: "groups",
    ChannelKind.DM: "im",
    ChannelKind.GROUP_DM: "mpim",
}


class SocketTickets(Protocol):
    """Who opens Socket Mode connections."""

    def issue(self, app: SlackApp) -> str:
        """The address of a WebSocket that one connection of this app may use."""
        ...


@dataclass(slots=True)
class Call:
    """What a method gets: the caller, the arguments, the workspace."""

    workspace: Workspace
    origin: Origin
    app: SlackApp
    token: str
    args: Arguments
    sockets: SocketTickets
    uploads: Uploads
    warnings: list[str] = field(default_factory=list[str])

    @property
    def bot(self) -> str:
        return self.app.bot_user_id

    def need_scope(self, *any_of: str) -> None:
        """Refuses ``missing_scope`` with what is needed and what is there."""
        if any_of and not self.app.scopes.intersection(any_of):
            provided = ",".join(sorted(self.app.scopes))
            raise SlackRefusal("missing_scope", {"needed": ",".join(any_of), "provided": provided})

    def need_kind_scope(self, kind: ChannelKind, verb: str) -> None:
        """``channels:history``, ``groups:history``, … after the kind of the channel."""
        self.need_scope(f"{_SCOPE_STEMS[kind]}:{verb}")

    def channel(self, name: str = "channel") -> Channel:
        """By id; private ones the bot is not in do not exist for it."""
        channel = self.workspace.channel(self.args.required(name))
        if channel.kind is not ChannelKind.PUBLIC and self.bot not in channel.members:
            raise SlackRefusal("channel_not_found")
        return channel

    def joined_channel(self, name: str = "channel") -> Channel:
        """Refuses ``not_in_channel`` and ``channel_not_found``."""
        return self.workspace.require_member(self.channel(name).id, self.bot)

    def destination(self) -> Channel:
        """Where to post: a channel id, ``#name``, or a user id, which means the DM with that person."""
        wanted = self.args.text("channel")
        if wanted in self.workspace.channels:
            return self.channel()
        if wanted in self.workspace.members and wanted != self.bot:
            return self.workspace.dm_of(wanted, self.app)
        visible = (self.workspace.channels[each] for each in self.workspace.visible_channels(self.bot))
        named = next((channel for channel in visible if channel.name == wanted.removeprefix("#")), None)
        if named is None or not wanted:
            raise SlackRefusal("channel_not_found")
        return named

    def shown(self, message: Message, *, include_all_metadata: bool = False) -> Json:
        return message_json(self.workspace, message, self.origin, include_all_metadata=include_all_metadata)

    def warn(self, warning: str) -> None:
        self.warnings.append(warning)


Handler = Callable[[Call], Json]
"""Returns the answer without ``ok``; says no by raising ``SlackRefusal``."""


@dataclass(frozen=True, slots=True)
class Method:
    """``scopes``: any one of them suffices; none are needed when it is empty."""

    name: str
    handler: Handler
    scopes: tuple[str, ...] = ()
    app_token: bool = False
    """Takes an app-level token and nothing else."""
    needs_token: bool = True
