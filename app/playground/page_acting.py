"""What every action of the page has: who acts, and on what."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.playground.model import Json
from app.playground.page_state import PageState
from app.playground.people import People


@dataclass(frozen=True, slots=True)
class Stage:
    """What actions act on."""

    people: People
    state: PageState


class BaseAction(BaseModel, ABC):
    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str
    """Who acts."""

    @abstractmethod
    async def run(self, stage: Stage) -> Json:
        """The action's own answer, sent back beside ``"ok": true``."""


class OnMessage(BaseAction):
    channel: str
    ts: str
