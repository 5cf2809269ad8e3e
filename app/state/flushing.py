"""What was written to a file reaches its disk while the event loop goes on."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from caio.linux_aio import Context, Operation

MANY = 64
"""The flush that the kernel's queue is opened for: to close it takes 30 ms, and a short life needs none."""
_MOST = 8
"""Flushes of a queue that are looked for at once: the one under way, and what closed loops left behind."""
_STATUSES = 1 << 64

Ended = Callable[[BaseException | None], None]
"""Hears once that all that had been written is on the disk, or why that is unknown."""

_synced: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class Queue(Protocol):
    """Flushes that no thread of ours waits for."""

    @property
    def fileno(self) -> int:
        """Readable once there is something to look at."""
        ...

    def flush(self, file: int, ended: Ended) -> bool:
        """``ended`` is called by ``look``; ``False``: not taken, and it never is."""
        ...

    def look(self) -> None:
        """Tell what has ended. Never waits."""
        ...


OpenQueue = Callable[[], Queue | None]
"""``None``: there is none to be had."""


class Flushing:
    """One flush at a time, each begun on an event loop.

    A thread has to be woken and to get Python's lock back from a busy loop, which takes several times as long as the
    disk does. So the kernel's queue is used where there is much to do; what it does not take, the thread does.
    """

    def __init__(self, thread: Executor, open_queue: OpenQueue | None = None) -> None:
        self._thread = thread
        self._open_queue = open_queue
        self._count = 0
        self._queue: Queue | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: tuple[int, Ended] | None = None

    def begin(self, file: int, ended: Ended) -> None:
        """``file``: its descriptor. ``ended`` is called on this loop or in the thread."""
        self._count += 1
        if self._count == MANY and self._open_queue is not None:
            self._queue = self._open_queue()
        queue, flush = self._queue, (file, ended)
        if queue is not None and self._is_heard(queue) and queue.flush(file, partial(self._end, flush)):
            self._under_way = flush
        else:
            self._leave_to_thread(flush)

    def rescue(self) -> None:
        """Nobody hears of what was begun on a loop that is closed by now, so the thread does it again."""
        flush = self._under_way
        if flush is not None and self._loop is not None and self._loop.is_closed():
            self._under_way = None
            self._leave_to_thread(flush)

    def close(self) -> None:
        """With nothing under way, on a loop."""
        here = asyncio.get_running_loop()
        if self._queue is not None and self._loop is here:
            here.remove_reader(self._queue.fileno)
        self._queue = None

    def _is_heard(self, queue: Queue) -> bool:
        """On this loop: the first one that asks, unless that is closed."""
        here = asyncio.get_running_loop()
        if self._loop is None or self._loop.is_closed():
            here.add_reader(queue.fileno, queue.look)
            self._loop = here
        return self._loop is here

    def _end(self, flush: tuple[int, Ended], fault: BaseException | None) -> None:
        if self._under_way is flush:
            self._under_way = None
            flush[1](fault)

    def _leave_to_thread(self, flush: tuple[int, Ended]) -> None:
        file, ended = flush

        def end(done: Future[None]) -> None:
            ended(done.exception())

        self._thread.submit(_synced, file).add_done_callback(end)


class KernelQueue:
    """Linux' own (io_submit(2)), from version 4.18 on."""

    def __init__(self, context: "Context", operation: "type[Operation]") -> None:
        self._context = context
        self._submit = cast("Callable[[Operation], int]", context.submit)  # pyright: ignore[reportUnknownMemberType]
        self._operation = operation

    @property
    def fileno(self) -> int:
        return self._context.fileno

    def flush(self, file: int, ended: Ended) -> bool:
        operation = cast("Operation", self._operation.fdsync(file))
        operation.set_callback(partial(_tell, ended))
        try:
            return self._submit(operation) == 1
        except (OSError, OverflowError, SystemError, ValueError):  # no room, or not for this kind of file
            return False

    def look(self) -> None:
        with suppress(BlockingIOError):
            self._context.poll()
        self._context.process_events(max_requests=_MOST)


def kernel_queues() -> OpenQueue:
    """Blocks: to load the library takes 30 ms in which nothing else goes on, so it is done before anything does."""
    try:
        from caio.linux_aio import Context, Operation
    except ImportError:
        return lambda: None

    def open_queue() -> KernelQueue | None:
        try:
            return KernelQueue(Context(max_requests=_MOST), Operation)
        except SystemError:  # too many are open, or the sandbox does not allow it
            return None

    return open_queue


def fault_of(status: int) -> OSError | None:
    """``status``: nought, or an error's number below it, which arrives as if there were no sign (io_getevents(2))."""
    return OSError(_STATUSES - status, os.strerror(_STATUSES - status)) if status else None


def _tell(ended: Ended, status: int) -> None:
    ended(fault_of(status))
