"""Slack's events about messages that were said before, checked where they come in: they were changed, or deleted."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from app.slack.payloads import Json, opened, whole_text

CHANGED, DELETED = "message_changed", "message_deleted"
REVISIONS = (CHANGED, DELETED)
"""Subtypes of ``message`` events that tell what became of a message that was said before."""
TOMBSTONE = "tombstone"
"""Subtype of what Slack leaves of a deleted message in whose thread others have answered."""


@dataclass(frozen=True, slots=True)
class SlackRevision:
    """A ``message_changed`` or ``message_deleted`` event. Links that are unfolded change a message, too."""

    event_ts: str
    team_id: str
    channel: str
    ts: str
    """Of the message itself."""
    user: str | None
    """Who wrote it; who deleted it is not told."""
    bot_id: str | None
    has_other_text: bool
    text: str | None
    """What it says by now; ``None`` once it is deleted."""


class _Said(BaseModel):
    ts: str = Field(pattern=r"^\d+\.\d+$")
    user: str | None = None
    team: str | None = None
    bot_id: str | None = None
    subtype: str | None = None
    text: str | None = None
    attachments: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])


class _Deleted(BaseModel):
    subtype: Literal["message_deleted"]
    channel: str = Field(min_length=1)
    ts: str = Field(pattern=r"^\d+\.\d+$")
    deleted_ts: str = Field(pattern=r"^\d+\.\d+$")
    previous_message: _Said | None = None


class _Changed(BaseModel):
    subtype: Literal["message_changed"]
    channel: str = Field(min_length=1)
    ts: str = Field(pattern=r"^\d+\.\d+$")
    message: _Said
    previous_message: _Said | None = None


def is_revision(body: Json) -> bool:
    """Whether the event inside tells what became of a message, whatever its shape."""
    return body["event"].get("subtype") in REVISIONS


def revision_event(body: Json) -> SlackRevision:
    """The change or the deletion inside an event callback. Raises ``MalformedEventError``."""
    if body["event"].get("subtype") == DELETED:
        envelope, event = opened(body, _Deleted)
        ts, before, after = event.deleted_ts, event.previous_message, None
    else:
        envelope, event = opened(body, _Changed)
        ts, before = event.message.ts, event.previous_message
        after = None if event.message.subtype == TOMBSTONE else event.message
    # What is left of a deleted message is Slackbot's.
    said = after or before
    return SlackRevision(
        event_ts=event.ts,
        team_id=envelope.team_id or (said and said.team) or "",
        channel=event.channel,
        ts=ts,
        user=said and said.user,
        bot_id=said and said.bot_id,
        has_other_text=before is not None and after is not None and before.text != after.text,
        text=after and whole_text(after.text, [each for each in after.attachments if each.get("is_share")]),
    )
