"""Messages and files: posting, threads, edits, deletions and reactions."""

import copy
import mimetypes
import re
from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from app.clock import Clock
from app.playground.happenings import (
    FileShared,
    MessageChanged,
    MessageDeleted,
    MessagePosted,
    ReactionAdded,
    ReactionRemoved,
)
from app.playground.model import Channel, ChannelKind, File, Json, Message, Stream
from app.playground.refusal import SlackRefusal
from app.playground.roster import Roster

_REACTION_NAME = re.compile(r"[a-z0-9_+'\-]{1,100}(?:::skin-tone-[2-6])?")
_DISTINCT_REACTIONS_MAX = 23
TOMBSTONE = "tombstone"
_UNANSWERABLE = frozenset({"channel_join", "channel_leave"})


@dataclass(frozen=True, slots=True)
class PostOptions:
    """Everything a message can carry besides its text."""

    blocks: list[Json] = field(default_factory=list[Json])
    attachments: list[Json] = field(default_factory=list[Json])
    files: tuple[str, ...] = ()
    subtype: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    metadata: Json | None = None
    username: str | None = None
    icon_emoji: str | None = None
    broadcast: bool = False
    stream: Stream | None = None
    client_msg_id: str | None = None


class Talk(Roster):
    """The messages of every channel, indexed so that posting and reading cost the same in any channel."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self.messages: dict[str, dict[str, Message]] = {}
        self.files: dict[str, File] = {}
        self._replies: dict[tuple[str, str], dict[str, Message]] = {}
        self._timelines: dict[str, list[str]] = {}

    def message(self, channel: str, ts: str) -> Message:
        """Refuses ``channel_not_found`` and ``message_not_found``."""
        self.channel(channel)
        found = self.messages.get(channel, {}).get(ts)
        if found is None:
            raise SlackRefusal("message_not_found")
        return found

    def replies(self, channel: str, root_ts: str) -> list[Message]:
        return list(self._replies.get((channel, root_ts), {}).values())

    def thread(self, channel: str, root_ts: str) -> list[Message]:
        """The root first, then the replies by time; refuses ``thread_not_found``."""
        root = self.messages.get(channel, {}).get(root_ts)
        if root is None:
            raise SlackRefusal("thread_not_found")
        return [root, *self.replies(channel, root_ts)]

    def timeline(self, channel: str) -> list[str]:
        """The ts of what the channel itself shows, oldest first: of the replies only broadcast ones."""
        return self._timelines.get(channel, [])

    def post(
        self,
        channel: str,
        user: str,
        text: str,
        *,
        thread_ts: str | None = None,
        options: PostOptions | None = None,
    ) -> Message:
        """Any length is kept: limits are the Web API's.

        Refuses ``channel_not_found``, ``not_in_channel``, ``is_archived``, ``thread_not_found`` and, for a
        ``thread_ts`` that names a reply or a notice of joining, ``cannot_reply_to_message``.
        """
        place = self._open_to(channel, user)
        root = self._root(channel, thread_ts) if thread_ts else None
        chosen = options or PostOptions()
        message = _composed(self.next_ts(), (channel, user, text), root, chosen)
        self._keep(message, root)
        self.emit(MessagePosted(message))
        for file_id in chosen.files:
            self._share(file_id, message, place)
        return message

    def _open_to(self, channel: str, user: str) -> Channel:
        place = self.channel(channel)
        self.member(user)
        if user not in place.members and not self._posts_anywhere(place, user):
            self.require_member(channel, user)
        if place.is_archived:
            raise SlackRefusal("is_archived")
        return place

    def _posts_anywhere(self, place: Channel, user: str) -> bool:
        app = self.app_by_bot_user(user)
        return place.kind is ChannelKind.PUBLIC and app is not None and "chat:write.public" in app.scopes

    def _root(self, channel: str, thread_ts: str) -> Message:
        root = self.messages.get(channel, {}).get(thread_ts)
        if root is None:
            raise SlackRefusal("thread_not_found")
        if root.thread_ts not in (None, root.ts) or root.subtype in _UNANSWERABLE:
            raise SlackRefusal("cannot_reply_to_message")
        return root

    def _keep(self, message: Message, root: Message | None) -> None:
        self.messages.setdefault(message.channel, {})[message.ts] = message
        if root is not None:
            root.thread_ts = root.ts
            self._replies.setdefault((message.channel, root.ts), {})[message.ts] = message
        if root is None or message.is_broadcast:
            insort(self._timelines.setdefault(message.channel, []), message.ts)

    def _share(self, file_id: str, message: Message, place: Channel) -> None:
        file = self.files[file_id]
        if place.id not in file.channels:
            file.channels.append(place.id)
        file.shares.setdefault(place.id, []).append(message.ts)
        self.emit(FileShared(file_id, message.user, place.id, self.next_ts()))

    def change(self, message: Message, apply: Callable[[Message], None]) -> Message:
        """Applies a change in place and tells the feed, with a copy from before."""
        previous = copied(message)
        apply(message)
        self.emit(MessageChanged(message, previous))
        return message

    def edit(self, channel: str, ts: str, editor: str, text: str, *, blocks: list[Json] | None = None) -> Message:
        """Only one's own message (``cant_update_message``). The text replaces old blocks: they go unless given."""
        message = self.message(channel, ts)
        if message.user != editor or message.subtype == TOMBSTONE:
            raise SlackRefusal("cant_update_message")
        stamp = self.next_ts()

        def apply(target: Message) -> None:
            target.text = text
            target.blocks = blocks or []
            target.edited_by, target.edited_ts = editor, stamp

        return self.change(message, apply)

    def delete(self, channel: str, ts: str) -> None:
        """A root with replies leaves a tombstone, so that its thread stays readable."""
        message = self.message(channel, ts)
        if message.subtype == TOMBSTONE:
            raise SlackRefusal("message_not_found")
        before = copied(message)
        if self._replies.get((channel, ts)):
            _entomb(message)
        else:
            self._forget(message)
        self.emit(MessageDeleted(before, ts))

    def _forget(self, message: Message) -> None:
        del self.messages[message.channel][message.ts]
        timeline = self._timelines.get(message.channel, [])
        at = bisect_left(timeline, message.ts)
        if at < len(timeline) and timeline[at] == message.ts:
            del timeline[at]
        if message.thread_ts and message.thread_ts != message.ts:
            replies = self._replies[(message.channel, message.thread_ts)]
            del replies[message.ts]
            root = self.messages[message.channel].get(message.thread_ts)
            if not replies and root is not None:
                root.thread_ts = None
                if root.subtype == TOMBSTONE:
                    self._forget(root)

    def react(self, channel: str, ts: str, user: str, name: str) -> None:
        """Refuses ``invalid_name``, ``message_not_found``, ``already_reacted`` and ``too_many_reactions``."""
        if not _REACTION_NAME.fullmatch(name):
            raise SlackRefusal("invalid_name")
        message = self.message(channel, ts)
        users = message.reactions.get(name, [])
        if user in users:
            raise SlackRefusal("already_reacted")
        if name not in message.reactions and len(message.reactions) >= _DISTINCT_REACTIONS_MAX:
            raise SlackRefusal("too_many_reactions")
        message.reactions[name] = [*users, user]
        self.emit(ReactionAdded(user, name, message, self.next_ts()))

    def unreact(self, channel: str, ts: str, user: str, name: str) -> None:
        """Refuses ``message_not_found`` and ``no_reaction``."""
        message = self.message(channel, ts)
        users = message.reactions.get(name, [])
        if user not in users:
            raise SlackRefusal("no_reaction")
        left = [other for other in users if other != user]
        if left:
            message.reactions[name] = left
        else:
            del message.reactions[name]
        self.emit(ReactionRemoved(user, name, message, self.next_ts()))

    def join(self, channel: str, user: str, inviter: str | None = None) -> None:
        """Says so in the channel as well, as Slack does."""
        was_in = user in self.channel(channel).members
        super().join(channel, user, inviter)
        if not was_in:
            self.post(
                channel,
                user,
                f"<@{user}> has joined the channel",
                options=PostOptions(subtype="channel_join"),
            )

    def add_file(self, name: str, content: bytes, user: str, *, mimetype: str | None = None, title: str = "") -> File:
        """Kept, but shown nowhere until a message carries it."""
        kind = mimetype or mimetypes.guess_type(name)[0] or "application/octet-stream"
        file = File(self.ids.mint("F"), name, kind, len(content), user, self.epoch_s(), content, title=title or name)
        self.files[file.id] = file
        return file

    def remove_file(self, file_id: str) -> None:
        """Takes it out of the messages that carry it as well."""
        file = self.files.pop(file_id)
        for channel, stamps in file.shares.items():
            for ts in stamps:
                message = self.messages.get(channel, {}).get(ts)
                if message is not None:
                    self.change(message, lambda target: target.files.remove(file_id))


def copied(message: Message) -> Message:
    """A copy that later changes of the original leave alone."""
    stream = message.stream and replace(message.stream, chunks=list(message.stream.chunks))
    duplicate = copy.copy(message)
    duplicate.stream = stream
    duplicate.files = list(message.files)
    duplicate.reactions = {name: list(users) for name, users in message.reactions.items()}
    return duplicate


def _composed(ts: str, essence: tuple[str, str, str], root: Message | None, options: PostOptions) -> Message:
    channel, user, text = essence
    broadcast = options.broadcast and root is not None
    implied = "file_share" if options.files else "thread_broadcast" if broadcast else None
    return Message(
        ts=ts,
        channel=channel,
        user=user,
        text=text,
        thread_ts=root.ts if root else None,
        subtype=options.subtype or implied,
        bot_id=options.bot_id,
        app_id=options.app_id,
        blocks=options.blocks,
        attachments=options.attachments,
        files=list(options.files),
        metadata=options.metadata,
        stream=options.stream,
        client_msg_id=options.client_msg_id,
        username=options.username,
        icon_emoji=options.icon_emoji,
        is_broadcast=broadcast,
    )


def _entomb(message: Message) -> None:
    message.subtype, message.user, message.text = TOMBSTONE, "USLACKBOT", "This message was deleted."
    message.blocks, message.attachments, message.files = [], [], []
    message.reactions, message.metadata, message.stream = {}, None, None
    message.bot_id = message.app_id = message.client_msg_id = message.edited_by = message.edited_ts = None
