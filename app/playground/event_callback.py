"""The outer event: whom an event is for and what Slack puts around it."""

import base64
import json
from dataclasses import dataclass

from app.playground.message_objects import message_json
from app.playground.model import Json, Message, SlackApp
from app.playground.origin import Origin
from app.playground.workspace import Workspace

VERIFICATION_TOKEN = "playground-verification"  # noqa: S105 - deprecated by Slack; signatures took its place


@dataclass(frozen=True, slots=True)
class Ear:
    """The place from which one app hears the workspace."""

    workspace: Workspace
    origin: Origin
    app: SlackApp

    def is_in(self, channel: str) -> bool:
        return self.app.bot_user_id in self.workspace.channels[channel].members

    def hears(self, event: str) -> bool:
        return event in self.app.events

    def shown(self, message: Message) -> Json:
        return message_json(self.workspace, message, self.origin)


def event_callback(ear: Ear, event: Json, event_id: str, event_time: int) -> Json:
    """The outer event; ``event_time`` in seconds since the epoch."""
    team, app = ear.workspace.team.id, ear.app
    authorization: Json = {
        "enterprise_id": None,
        "team_id": team,
        "user_id": app.bot_user_id,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": team,
        "context_team_id": team,
        "context_enterprise_id": None,
        "api_app_id": app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": event_time,
        "authorizations": [authorization],
        "is_ext_shared_channel": False,
        "event_context": _event_context(ear, event),
    }


def _event_context(ear: Ear, event: Json) -> str:
    channel = event.get("channel") or event.get("channel_id")
    facts: Json = {"et": event["type"], "tid": ear.workspace.team.id, "aid": ear.app.id}
    if isinstance(channel, str):
        facts["cid"] = channel
    return "4-" + base64.urlsafe_b64encode(json.dumps(facts).encode()).decode().rstrip("=")
