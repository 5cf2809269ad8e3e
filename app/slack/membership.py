"""What somebody is in the bot's workspace, asked of Slack (users.info)."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from app.access.actor import ActorKind, PersonFacts
from app.background import Spawn
from app.clock import Clock
from app.slack.calls import SlackCalls
from app.slack.lookups import Freshness, Lookups, UnusableAnswerError
from app.slack.visibility import fields

FRESHNESS = Freshness(known_s=600.0, failed_s=60.0)
"""A failure is tried again soon, because until then the person is treated as a stranger."""

_USER = re.compile(r"slack:([UW][A-Z0-9]{1,40})")


class _EnterpriseUser(BaseModel):
    teams: list[str] = Field(default_factory=list[str])


class _User(BaseModel):
    """Slack's user object. The flags are missing for people of other workspaces and for deactivated ones."""

    team_id: str
    deleted: bool = False
    is_bot: bool = False
    is_stranger: bool = False
    is_restricted: bool | None = None
    is_ultra_restricted: bool | None = None
    is_admin: bool = False
    is_owner: bool = False
    enterprise_user: _EnterpriseUser | None = None


class _Answer(BaseModel):
    user: _User


class SlackPeople:
    """Implements ``app.access.actor.People`` for the workspace ``team_id``: kept ten minutes, failures one."""

    def __init__(self, calls: SlackCalls, team_id: str, clock: Clock, spawn: Spawn) -> None:
        self._calls = calls
        self._team_id = team_id
        self._lookups = Lookups(self._ask, FRESHNESS, clock, spawn, about="person")

    async def facts(self, user_id: str) -> PersonFacts:
        """About ``slack:U…``; unknown when Slack does not tell, or not in time."""
        slack_id = _USER.fullmatch(user_id)
        return (await self._lookups.of(slack_id[1]) if slack_id is not None else None) or PersonFacts()

    def has_facts(self, user_id: str) -> bool:
        slack_id = _USER.fullmatch(user_id)
        return slack_id is None or self._lookups.has(slack_id[1])

    async def _ask(self, slack_id: str) -> PersonFacts:
        answer = await self._calls.call("users.info", {"user": slack_id}, as_query=True)
        return person_facts(answer, self._team_id)


def person_facts(answer: Mapping[str, Any], team_id: str) -> PersonFacts:
    """What an answer of users.info says, seen from the workspace ``team_id``. Raises ``UnusableAnswerError``."""
    try:
        user = _Answer.model_validate(answer).user
    except ValidationError as fault:
        raise UnusableAnswerError(f"users.info: {fields(fault)}") from None
    if user.deleted or user.is_bot:
        return PersonFacts()
    # In an Enterprise organisation a person belongs to several workspaces, of which ``team_id`` names one.
    teams = {user.team_id, *(user.enterprise_user.teams if user.enterprise_user is not None else ())}
    if user.is_stranger or team_id not in teams:
        return PersonFacts(ActorKind.EXTERNAL)
    if user.is_restricted is None or user.is_ultra_restricted is None:
        raise UnusableAnswerError("users.info: user.is_restricted: missing")
    if user.is_restricted or user.is_ultra_restricted:
        return PersonFacts(ActorKind.GUEST)
    return PersonFacts(ActorKind.MEMBER, is_workspace_admin=user.is_admin or user.is_owner)
