"""Who can see what is said in a channel, asked of Slack (conversations.info)."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from app.access.actor import ChannelFacts, known_facts
from app.background import Spawn
from app.channel import Visibility
from app.clock import Clock
from app.slack.calls import SlackCalls
from app.slack.lookups import Freshness, Lookups, UnusableAnswerError

FRESHNESS = Freshness(known_s=600.0, failed_s=600.0)

_CHANNEL = re.compile(r"slack:([CDG][A-Z0-9]{1,40})")


class _Topic(BaseModel):
    value: str = ""


class _Channel(BaseModel):
    """Slack's conversation object; a DM's has none of the fields after the first."""

    is_im: bool = False
    is_mpim: bool = False
    is_private: bool | None = None
    is_ext_shared: bool | None = None
    name: str | None = None
    topic: _Topic = _Topic()


class _Answer(BaseModel):
    channel: _Channel


class SlackPlaces:
    """Implements ``app.access.actor.Places``: kept ten minutes, for a thousand channels, failures too."""

    def __init__(self, calls: SlackCalls, clock: Clock, spawn: Spawn) -> None:
        self._calls = calls
        self._lookups = Lookups(self._ask, FRESHNESS, clock, spawn, about="channel")

    async def facts(self, channel_id: str) -> ChannelFacts:
        """About ``slack:C…``; what its id alone tells when Slack does not, or not in time."""
        known = known_facts(channel_id)
        slack_id = _CHANNEL.fullmatch(channel_id)
        if slack_id is None or known.is_ext_shared is not None:
            return known
        return await self._lookups.of(slack_id[1]) or known

    async def _ask(self, slack_id: str) -> ChannelFacts:
        return channel_facts(await self._calls.call("conversations.info", {"channel": slack_id}, as_query=True))


def channel_facts(answer: Mapping[str, Any]) -> ChannelFacts:
    """Raises ``UnusableAnswerError``. A channel that does not say whether it is private is not taken for public."""
    try:
        channel = _Answer.model_validate(answer).channel
    except ValidationError as fault:
        raise UnusableAnswerError(f"conversations.info: {fields(fault)}") from None
    if channel.is_im:
        return ChannelFacts(Visibility.DM, is_ext_shared=bool(channel.is_ext_shared))
    if channel.is_mpim:
        return ChannelFacts(Visibility.DM, is_ext_shared=channel.is_ext_shared, topic=channel.topic.value or None)
    if channel.is_private is None:
        raise UnusableAnswerError("conversations.info: channel.is_private: missing")
    visibility = Visibility.PRIVATE if channel.is_private else Visibility.PUBLIC
    return ChannelFacts(
        visibility, is_ext_shared=channel.is_ext_shared, name=channel.name, topic=channel.topic.value or None
    )


def fields(fault: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['type']}" for e in fault.errors(include_input=False))
