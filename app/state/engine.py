"""Work on the state database from the event loop: writes in one thread and shared commits, reads beside them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from threading import Condition
from typing import Any, TypeVar

import structlog
from sqlalchemy import Connection, Engine

from app.clock import Clock, SystemClock
from app.state import full_text
from app.state.errors import StateBusyError, StateError, StateIndexDamagedError, StateUnreachableError, mapped
from app.state.writing import Writing

_log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

STATE_INDEX_REBUILT = "state_index_rebuilt"
BATCH = 256
"""Writes that share one commit at most. A commit is a wait for the disk, so those who come meanwhile go together."""
READERS = 2
REBUILD_EVERY_S = 300.0
"""An index that is damaged again sooner than this has a cause that making it anew does not remove."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[Connection], Any]
    loop: asyncio.AbstractEventLoop
    outcome: asyncio.Future[Any]


class Database:
    """Runs blocking functions over a ``Connection``.

    ``write`` gives each function all or nothing, and returns after its commit has reached the disk; functions are
    carried out in the order they were handed in. A function may be carried out again from the start when a neighbour
    in its commit failed, so it must have no effect but on the database. ``read`` sees every write that has returned.
    Both raise ``StateError``'s tree for the database's own faults, and whatever the function raises for the rest.
    A caller who stops waiting undoes nothing.
    """

    def __init__(self, engine: Engine, clock: Clock | None = None) -> None:
        self.engine = engine
        self._clock = clock or SystemClock()
        self._writing = Writing(engine)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="state_writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="state_reader")
        self._changed = Condition()
        self._waiting: deque[_Job] = deque()
        self._in_flight = 0
        self._is_closed = False
        self._rebuilt_at_s: float | None = None

    async def write(self, work: Callable[[Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        with self._changed:
            self._check_open()
            self._waiting.append(_Job(work, loop, outcome))
            batches = self._taken()
        self._submit(batches)
        return await outcome

    async def read(self, work: Callable[[Connection], T]) -> T:
        with self._changed:
            self._check_open()
            reading = self._readers.submit(self._read, work)
        return await asyncio.wrap_future(reading)

    async def aclose(self) -> None:
        """Returns once everything that was handed in has been carried out."""
        with self._changed:
            self._is_closed = True
        await asyncio.to_thread(self._finish)

    def _finish(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight == 0 and not self._waiting)
        self._writer.shutdown()
        self._writing.close()
        self._readers.shutdown()
        self.engine.dispose()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StateError("the state database is closed")

    def _read(self, work: Callable[[Connection], T]) -> T:
        with mapped(), self.engine.connect() as connection:
            return work(connection)

    def _taken(self) -> list[list[_Job]]:
        """With the lock held: what the writer is to do next, unless it is busy already."""
        if self._in_flight or not self._waiting:
            return []
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        self._in_flight = 1
        return [batch]

    def _submit(self, batches: Sequence[list[_Job]]) -> None:
        """Without the lock: what is done before anybody looks is reported here and now."""
        for batch in batches:
            self._writer.submit(self._carry_out, batch).add_done_callback(partial(self._done, batch))

    def _carry_out(self, batch: list[_Job]) -> list[Any]:
        try:
            return self._committed(batch)
        except StateIndexDamagedError:
            if not self._may_rebuild():
                raise
        self._rebuild()
        return self._committed(batch)

    def _committed(self, batch: list[_Job]) -> list[Any]:
        with mapped(), self._writing.transaction() as connection:
            return [job.work(connection) for job in batch]

    def _done(self, batch: list[_Job], carried_out: Future[list[Any]]) -> None:
        """A failure undoes the whole batch, so its members are tried one by one, unless the fault is nobody's own."""
        fault = carried_out.exception()
        if fault is None:
            _report((job, value, None) for job, value in zip(batch, carried_out.result(), strict=True))
        elif len(batch) == 1 or isinstance(fault, _SHARED):
            _report((job, None, copy(fault)) for job in batch)
        else:
            with self._changed:
                self._in_flight += len(batch) - 1
            self._submit([[job] for job in batch])
            return
        with self._changed:
            self._in_flight -= 1
            batches = self._taken()
            self._changed.notify_all()
        self._submit(batches)

    def _may_rebuild(self) -> bool:
        now_s = self._clock.monotonic()
        is_early = self._rebuilt_at_s is not None and now_s < self._rebuilt_at_s + REBUILD_EVERY_S
        if not is_early:
            self._rebuilt_at_s = now_s
        return not is_early

    def _rebuild(self) -> None:
        full_text.mend(self._writing.engine)
        _log.warning(STATE_INDEX_REBUILT)


_Ended = tuple[_Job, Any, BaseException | None]
"""What was handed in, what it returned, and the fault that ended it instead."""


def _report(ended: Iterable[_Ended]) -> None:
    """Each loop is woken once for all of its callers."""
    for loop, theirs in groupby(ended, key=lambda each: each[0].loop):
        with suppress(RuntimeError):  # the loop is closed, and nobody waits there any more
            loop.call_soon_threadsafe(_settle, list(theirs))


def _settle(ended: Sequence[_Ended]) -> None:
    for job, value, fault in ended:
        if job.outcome.done():  # its caller has stopped waiting
            continue
        if fault is None:
            job.outcome.set_result(value)
        else:
            job.outcome.set_exception(fault)


_SHARED = (StateBusyError, StateUnreachableError)
"""Faults of the whole commit. After a broken connection it may have been kept, so trying again could do it twice."""
