"""The usage port: what every run took of the models, and sums of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from app.agents.pricing import Total
from app.sessions.entry import Cost, SessionId, SessionKey, Tokens


class Task(StrEnum):
    """What a run was for."""

    TURN = "turn"
    BROKEN_OFF = "broken_off"
    """A turn that the end of the process cut off, and that the next process makes again."""
    COMPRESSION = "compression"
    REFLECTION = "reflection"


@dataclass(frozen=True, slots=True)
class Run:
    """One piece of work that asked a model: an answer with all its calls, a compression."""

    reference: str
    session_key: SessionKey
    session_id: SessionId
    user_id: str
    """On whose behalf."""
    channel_id: str
    outcome: str
    tokens: Tokens
    cost: Cost
    started_at: datetime
    ended_at: datetime
    calls: int = 1
    """That a model took up."""
    task: Task = Task.TURN
    agent: str | None = None
    model: str | None = None
    """``<provider>/<model>``; ``None`` when it did not come to asking one."""
    memory_records: tuple[str, ...] = ()
    """Ids of the records that went into it."""


class By(StrEnum):
    """What sums are told apart by."""

    USER = "user"
    CHANNEL = "channel"
    MODEL = "model"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Which:
    """Which runs are summed up: those that agree with everything that is given."""

    session_key: SessionKey | None = None
    session_id: SessionId | None = None
    user_id: str | None = None
    channel_id: str | None = None
    since: datetime | None = None
    """Runs that ended then or later."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What some runs took together; ``cost.runs`` is how many there were."""

    tokens: Tokens
    cost: Total
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """One user's, channel's, model's or task's part."""

    name: str | None
    """``None``: the runs that have none."""
    spent: Spent


class Usage(Protocol):
    """Adapters: over the state database. Every call raises ``StateError``'s tree when it cannot be used."""

    async def record(self, run: Run) -> None:
        """Durable when it returns."""
        ...

    async def total(self, which: Which) -> Spent:
        """All zeros when there is no such run."""
        ...

    async def shares(self, by: By, which: Which, *, limit: int = 100) -> Sequence[Share]:
        """What each took: most known cost first, then most tokens, then by name."""
        ...
