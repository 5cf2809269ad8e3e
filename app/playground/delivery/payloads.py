"""The payloads by which Slack tells an app what a person did: clicks, submissions, commands, shortcuts."""

from dataclasses import dataclass

from app.playground.event_callback import VERIFICATION_TOKEN
from app.playground.message_objects import message_json
from app.playground.model import Channel, ChannelKind, Json, Message, SlackApp, View
from app.playground.objects import view_json
from app.playground.origin import Origin
from app.playground.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Clicked:
    """The message in which an element was used."""

    channel: str
    ts: str
    blocks: list[Json]
    app_id: str | None
    thread_ts: str | None = None
    message: Message | None = None
    """``None`` for an ephemeral message: the app is not shown it again."""


@dataclass(frozen=True, slots=True)
class Payloads:
    """Payloads for one app about one person."""

    workspace: Workspace
    origin: Origin
    app: SlackApp
    user: str

    def message_click(self, clicked: Clicked, action: Json, values: Json, response_url: str) -> Json:
        container: Json = {
            "type": "message",
            "message_ts": clicked.ts,
            "channel_id": clicked.channel,
            "is_ephemeral": clicked.message is None,
        }
        if clicked.thread_ts:
            container["thread_ts"] = clicked.thread_ts
        shown = {} if clicked.message is None else {"message": self._message(clicked.message)}
        return self._interaction("block_actions") | {
            "container": container,
            "trigger_id": self._trigger(),
            "channel": self._channel(clicked.channel),
            **shown,
            "state": {"values": values},
            "response_url": response_url,
            "actions": [action],
        }

    def view_click(self, view: View, action: Json) -> Json:
        shown = view_json(self.workspace, view)
        return self._interaction("block_actions") | {
            "container": {"type": "view", "view_id": view.id},
            "trigger_id": self._trigger(),
            "view": shown,
            "state": shown["state"],
            "actions": [action],
        }

    def view_submission(self, view: View) -> Json:
        return self._interaction("view_submission") | {
            "trigger_id": self._trigger(),
            "view": view_json(self.workspace, view),
            "response_urls": [],
        }

    def view_closed(self, view: View, *, is_cleared: bool) -> Json:
        return self._interaction("view_closed") | {
            "view": view_json(self.workspace, view),
            "is_cleared": is_cleared,
        }

    def shortcut(self, callback_id: str, action_ts: str) -> Json:
        return self._interaction("shortcut") | {
            "callback_id": callback_id,
            "trigger_id": self._trigger(),
            "action_ts": action_ts,
        }

    def message_shortcut(self, message: Message, callback_id: str, response_url: str, action_ts: str) -> Json:
        return self._interaction("message_action") | {
            "callback_id": callback_id,
            "trigger_id": self._trigger(),
            "action_ts": action_ts,
            "message_ts": message.ts,
            "channel": self._channel(message.channel),
            "message": self._message(message),
            "response_url": response_url,
        }

    def slash(self, channel: str, command: str, text: str, response_url: str) -> Json:
        """Every value is text, as in the form that Slack posts."""
        place = self._channel(channel)
        return {
            "token": VERIFICATION_TOKEN,
            "team_id": self.workspace.team.id,
            "team_domain": self.workspace.team.domain,
            "channel_id": place["id"],
            "channel_name": place["name"],
            "user_id": self.user,
            "user_name": self.workspace.members[self.user].name,
            "command": command,
            "text": text,
            "api_app_id": self.app.id,
            "is_enterprise_install": "false",
            "response_url": response_url,
            "trigger_id": self._trigger(),
        }

    def _interaction(self, kind: str) -> Json:
        team, name = self.workspace.team, self.workspace.members[self.user].name
        return {
            "type": kind,
            "user": {"id": self.user, "username": name, "name": name, "team_id": team.id},
            "api_app_id": self.app.id,
            "token": VERIFICATION_TOKEN,
            "team": {"id": team.id, "domain": team.domain},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _trigger(self) -> str:
        return self.workspace.triggers.issue(self.user)

    def _message(self, message: Message) -> Json:
        return message_json(self.workspace, message, self.origin)

    def _channel(self, channel: str) -> Json:
        return {"id": channel, "name": shown_name(self.workspace.channels[channel])}


def shown_name(channel: Channel) -> str:
    """Slack names a DM and a private channel by their kind."""
    match channel.kind:
        case ChannelKind.DM:
            return "directmessage"
        case ChannelKind.PRIVATE:
            return "privategroup"
        case _:
            return channel.name
