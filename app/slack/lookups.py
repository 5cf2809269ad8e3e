"""Facts asked of Slack once for everybody who wants them, kept for a while, and never waited for too long."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

from app.background import Spawn
from app.clock import Clock
from app.slack.calls import SlackLostError, SlackRefusalError

LOOKUP_FAILED = "slack_lookup_failed"

CAPACITY = 1_000
DEADLINE_S = 1.5
"""No message waits longer for a fact; the call goes on, and the next message has it."""

_log = structlog.stdlib.get_logger(__name__)

Fact = TypeVar("Fact")


class UnusableAnswerError(Exception):
    """Slack's answer lacks what every answer of its kind has. Its text names fields only, never their values."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long an answer is good for, and how long a failure is not tried again."""

    known_s: float
    failed_s: float


class Lookups(Generic[Fact]):
    """Facts by id.

    ``ask`` may raise ``SlackRefusalError``, ``SlackLostError`` or ``UnusableAnswerError``; then the fact is ``None``
    until the failure's window ends, and the log says so once.
    """

    def __init__(
        self, ask: Callable[[str], Awaitable[Fact]], freshness: Freshness, clock: Clock, spawn: Spawn, *, about: str
    ) -> None:
        self._ask = ask
        self._freshness = freshness
        self._clock = clock
        self._spawn = spawn
        self._about = about
        self._known: OrderedDict[str, tuple[Fact | None, float]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[None]] = {}

    async def of(self, key: str, deadline_s: float = DEADLINE_S) -> Fact | None:
        """The fact, or ``None`` when it could not be found out or not in time."""
        known = self._fresh(key)
        if known is None:
            # Waiting this way leaves the call to the others who wait for it, whatever happens to this one.
            await asyncio.wait({self._shared(key)}, timeout=deadline_s)
            known = self._fresh(key)
        return None if known is None else known[0]

    def has(self, key: str) -> bool:
        """Whether ``of`` waits for nobody now, also where it has nothing to tell."""
        return self._fresh(key) is not None

    def _fresh(self, key: str) -> tuple[Fact | None, float] | None:
        known = self._known.get(key)
        return known if known is not None and self._clock.monotonic() < known[1] else None

    def _shared(self, key: str) -> asyncio.Task[None]:
        task = self._asking.get(key)
        if task is None:
            task = self._spawn(self._look(key), name=f"look_up_{self._about}")
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return task

    async def _look(self, key: str) -> None:
        fact, kept_s = None, self._freshness.failed_s
        try:
            fact, kept_s = await self._ask(key), self._freshness.known_s
        except (SlackRefusalError, SlackLostError, UnusableAnswerError) as fault:
            _log.warning(LOOKUP_FAILED, about=self._about, id=key, reason=str(fault))
        self._known[key] = (fact, self._clock.monotonic() + kept_s)
        self._known.move_to_end(key)
        while len(self._known) > CAPACITY:
            self._known.popitem(last=False)
