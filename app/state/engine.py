"""Work on the state database from the event loop: writes in order and in shared commits, reads beside them."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import islice, takewhile
from threading import Condition
from typing import Any, TypeVar

import structlog
from sqlalchemy import Connection, Engine

from app.clock import Clock, SystemClock
from app.state import full_text
from app.state.errors import StateBusyError, StateError, StateIndexDamagedError, StateUnreachableError, mapped
from app.state.flushing import Flushing, OpenQueue
from app.state.jobs import Ended, Job, report
from app.state.writing import Writing

_log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")

STATE_INDEX_REBUILT = "state_index_rebuilt"
BATCH = 256
"""Writes that share one commit at most. A commit is a wait for the disk, so those who come meanwhile go together."""
STEPS = 32
"""Steps that share one commit at most: nothing else goes on meanwhile, for a tenth of a millisecond each."""
READERS = 2
REBUILD_EVERY_S = 300.0
"""An index that is damaged again sooner than this has a cause that making it anew does not remove."""


class Database:
    """Runs blocking functions over a ``Connection``.

    ``write`` and ``step`` give each function all or nothing, and return after its commit has reached the disk;
    functions are carried out in the order they were handed in. A function may be carried out again from the start when
    a neighbour in its commit failed, so it must have no effect but on the database. ``read`` sees every write that has
    returned. All raise ``StateError``'s tree for the database's own faults, and whatever the function raises for the
    rest. A caller who stops waiting undoes nothing.

    ``step`` is for what touches a few small rows that an index finds. A file's are carried out on the event loop, which
    takes less than waking a thread that then waits for its turn with every statement; nobody waits there for the disk.
    """

    def __init__(self, engine: Engine, clock: Clock | None = None, open_queue: OpenQueue | None = None) -> None:
        """``open_queue``: of what flushes a file in less time than a thread (``kernel_queues``)."""
        self.engine = engine
        self._clock = clock or SystemClock()
        self._writing = Writing(engine)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="state_writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="state_reader")
        self._flushing = Flushing(self._writer, open_queue)
        self._changed = Condition()
        self._waiting: deque[Job] = deque()
        self._in_flight = 0
        self._is_closed = False
        self._rebuilt_at_s: float | None = None

    async def write(self, work: Callable[[Connection], T]) -> T:
        return await self._outcome(work, is_step=False)

    async def step(self, work: Callable[[Connection], T]) -> T:
        return await self._outcome(work, is_step=self._writing.takes_steps)

    async def _outcome(self, work: Callable[[Connection], T], *, is_step: bool) -> T:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[T] = loop.create_future()
        with self._changed:
            self._check_open()
            self._waiting.append(Job(work, is_step, loop, outcome))
        self._go_on(loop)
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
            self._flushing.rescue()
        await asyncio.to_thread(self._finish)
        self._flushing.close()

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

    def _go_on(self, here: asyncio.AbstractEventLoop | None) -> None:
        """Begin the next commit, unless one is on its way to the disk. ``here``: the loop that this is called on."""
        with self._changed:
            self._flushing.rescue()
            steps = self._taken(STEPS, lambda job: job.is_step and job.loop is here)
            batch = steps or self._taken(BATCH, lambda _job: True)
        if steps and (values := self._writing.carried_out(job.work for job in steps)) is not None:
            self._flushing.begin(self._writing.log, partial(self._flushed, steps, values))
        elif batch:
            self._submit([batch], self._carry_out)

    def _taken(self, most: int, is_wanted: Callable[[Job], bool]) -> list[Job]:
        """With the lock held: what is to be done next, unless something is being done."""
        if self._in_flight:
            return []
        count = sum(1 for _ in takewhile(is_wanted, islice(self._waiting, most)))
        self._in_flight = min(count, 1)
        return [self._waiting.popleft() for _ in range(count)]

    def _submit(self, batches: Sequence[list[Job]], work: Callable[[list[Job]], list[Any]]) -> None:
        """Without the lock: what is done before anybody looks is reported here and now."""
        for batch in batches:
            self._writer.submit(work, batch).add_done_callback(partial(self._done, batch))

    def _flushed(self, steps: Sequence[Job], values: Sequence[Any], fault: BaseException | None) -> None:
        """What has been carried out is visible, so it is never tried again."""
        if fault is None:
            self._report((job, value, None) for job, value in zip(steps, values, strict=True))
        else:
            lost = StateUnreachableError("the disk of the state database fails")
            self._report((job, None, copy(lost)) for job in steps)

    def _carry_out(self, batch: list[Job]) -> list[Any]:
        try:
            return self._committed(batch)
        except StateIndexDamagedError:
            if not self._may_rebuild():
                raise
        self._rebuild()
        return self._committed(batch)

    def _committed(self, batch: list[Job]) -> list[Any]:
        with mapped(), self._writing.transaction() as connection:
            return [job.work(connection) for job in batch]

    def _done(self, batch: list[Job], carried_out: Future[list[Any]]) -> None:
        """A failure undoes the whole batch, so its members are tried one by one, unless the fault is nobody's own."""
        fault = carried_out.exception()
        if fault is None:
            self._report((job, value, None) for job, value in zip(batch, carried_out.result(), strict=True))
        elif len(batch) == 1 or isinstance(fault, _SHARED):
            self._report((job, None, copy(fault)) for job in batch)
        else:
            with self._changed:
                self._in_flight += len(batch) - 1
            self._submit([[job] for job in batch], self._carry_out)

    def _report(self, ended: Iterable[Ended]) -> None:
        """And go on with what has come meanwhile."""
        report(ended)
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()
            first = next(iter(self._waiting), None)
        if first is not None:
            self._go_on_for(first)

    def _go_on_for(self, first: Job) -> None:
        """Steps where they are waited for; all the rest in the writer's thread, which this is called in as a rule."""
        if first.is_step:
            with suppress(RuntimeError):  # the loop is closed
                first.loop.call_soon_threadsafe(self._go_on, first.loop)
                return
        self._go_on(None)

    def _may_rebuild(self) -> bool:
        now_s = self._clock.monotonic()
        is_early = self._rebuilt_at_s is not None and now_s < self._rebuilt_at_s + REBUILD_EVERY_S
        if not is_early:
            self._rebuilt_at_s = now_s
        return not is_early

    def _rebuild(self) -> None:
        full_text.mend(self._writing.engine)
        _log.warning(STATE_INDEX_REBUILT)


_SHARED = (StateBusyError, StateUnreachableError)
"""Faults of the whole commit. After a broken connection it may have been kept, so trying again could do it twice."""
