"""Work on the state database from the event loop: writes in one thread and shared commits, reads beside them."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from app.state.errors import StateError, mapped

T = TypeVar("T")

BATCH = 256
"""Writes that share one commit at most. A commit is a wait for the disk, so those who come meanwhile go together."""
READERS = 2
WRITES = "switchboard_writes"
"""The execution option of a connection that is going to write."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Callable[[Connection], Any]
    outcome: Future[Any]


class Database:
    """Runs blocking functions over a ``Connection``.

    ``write`` gives each function all or nothing, and returns after its commit has reached the disk; functions are
    carried out in the order they were handed in. A function may be carried out again from the start when a neighbour
    in its commit failed, so it must have no effect but on the database. ``read`` sees every write that has returned.
    Both raise ``StateError``'s tree for the database's own faults, and whatever the function raises for the rest.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**{WRITES: True})
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="state_writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="state_reader")
        self._guard = Lock()
        self._waiting: deque[_Job] = deque()
        self._in_flight = 0
        self._is_closed = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        outcome: Future[T] = Future()
        outcome.set_running_or_notify_cancel()  # a caller who no longer waits does not undo what was handed in
        with self._guard:
            self._check_open()
            self._waiting.append(_Job(work, outcome))
            if self._in_flight == 0:
                self._submit_waiting()
        return await asyncio.wrap_future(outcome)

    async def read(self, work: Callable[[Connection], T]) -> T:
        with self._guard:
            self._check_open()
            reading = self._readers.submit(self._read, work)
        return await asyncio.wrap_future(reading)

    async def aclose(self) -> None:
        """Returns once everything that was handed in has been carried out."""
        with self._guard:
            if self._is_closed:
                return
            self._is_closed = True
        await asyncio.to_thread(self._finish)

    def _finish(self) -> None:
        while True:
            with self._guard:
                outcomes = [job.outcome for job in self._waiting]
                is_idle = self._in_flight == 0
            if is_idle and not outcomes:
                break
            # The writer's thread takes one thing after the other: what comes back from here follows all of them.
            self._writer.submit(_nothing).result()
        self._writer.shutdown()
        self._readers.shutdown()
        self.engine.dispose()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StateError("the state database is closed")

    def _read(self, work: Callable[[Connection], T]) -> T:
        with mapped(), self.engine.connect() as connection:
            return work(connection)

    def _submit_waiting(self) -> None:
        """With the guard held: hand the writer what has gathered."""
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        if batch:
            self._submit(batch)

    def _submit(self, batch: list[_Job]) -> None:
        self._in_flight += 1
        self._writer.submit(self._carry_out, batch).add_done_callback(partial(self._done, batch))

    def _carry_out(self, batch: list[_Job]) -> list[Any]:
        with mapped(), self._writing.begin() as connection:
            return [job.work(connection) for job in batch]

    def _done(self, batch: list[_Job], carried_out: Future[list[Any]]) -> None:
        """In the writer's thread. A failure undoes the whole batch, so its members are tried one by one."""
        fault = carried_out.exception()
        with self._guard:
            if fault is not None and len(batch) > 1:
                for job in batch:
                    self._submit([job])
            self._in_flight -= 1
            if self._in_flight == 0:
                self._submit_waiting()
        if fault is None:
            for job, value in zip(batch, carried_out.result(), strict=True):
                job.outcome.set_result(value)
        elif len(batch) == 1:
            batch[0].outcome.set_exception(fault)


def _nothing() -> None:
    """Takes its place in a line."""
