"""Housekeeping: every minute what is idle or too much is let go, and what is old is pruned now and then.

It never ends a conversation: neither age nor silence changes a transcript (session lifecycle, sections 6 and 10).
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from app.clock import Clock
from app.errors import SwitchboardError
from app.sessions.entry import SessionKey

HOUSE_KEPT = "house_kept"
HOUSEKEEPING_FAILED = "housekeeping_failed"

PASS_S = 60.0
PRUNE_S = 3_600.0

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done now and then, in the first pass and every ``period_s`` after it."""

    name: str
    period_s: float
    run: Callable[[], Awaitable[int]]
    """Returns how much it did. A ``SwitchboardError`` is logged, and the job comes again after its period."""


class Sweeps(Protocol):
    """What housekeeping needs of the cache."""

    def sweep(self) -> int: ...


class Prunes(Protocol):
    """What housekeeping needs of the session store."""

    async def prune(self, max_age_days: int, *, keep: Collection[SessionKey] = ()) -> int: ...


def sweeping(cache: Sweeps) -> Job:
    """Lets idle conversations go from the cache."""

    async def sweep() -> int:
        return cache.sweep()

    return Job("conversations_idle", PASS_S, sweep)


def pruning(store: Prunes, max_age_days: int, keep: Callable[[], Collection[SessionKey]]) -> Sequence[Job]:
    """Drops routing entries, never transcripts, of that age; none of ``keep()``. Nothing to do for an age of 0."""

    async def prune() -> int:
        return await store.prune(max_age_days, keep=keep())

    return [Job("routes_pruned", PRUNE_S, prune)] if max_age_days > 0 else []


class Housekeeping:
    def __init__(self, jobs: Sequence[Job], clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._due_s = {job.name: clock.monotonic() for job in jobs}

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._clock.sleep(PASS_S)
            await self.tidy()

    async def tidy(self) -> None:
        """One pass over what is due; one log line if it did anything."""
        done = {job.name: await self._do(job) for job in self._jobs if self._is_due(job)}
        if any(done.values()):
            _log.info(HOUSE_KEPT, **{name: count for name, count in done.items() if count})

    def _is_due(self, job: Job) -> bool:
        return self._clock.monotonic() >= self._due_s[job.name]

    async def _do(self, job: Job) -> int:
        self._due_s[job.name] = self._clock.monotonic() + job.period_s
        try:
            return await job.run()
        except SwitchboardError as fault:
            _log.warning(HOUSEKEEPING_FAILED, job=job.name, error=type(fault).__name__, reason=str(fault))
            return 0
