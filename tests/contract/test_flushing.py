"""What a flush promises, by a thread and by the kernel's own queue."""

import asyncio
import errno
import os
import queue
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest

from app.state.flushing import MANY, Ended, Flushing, OpenQueue, Queue, fault_of, kernel_queues
from tests.state_databases import WAIT_S


@pytest.fixture
def thread() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(scope="module")
def kernel() -> OpenQueue:
    return kernel_queues()


@pytest.fixture(params=["thread", "queue"])
async def flushing(
    request: pytest.FixtureRequest, kernel: OpenQueue, thread: Executor, file: int
) -> AsyncIterator[Flushing]:
    """One that has done so much that it uses what it has."""
    opened = Opened(kernel if request.param == "queue" else no_queue)
    made = Flushing(thread, opened)
    for _ in range(MANY):
        assert await flushed(made, file) is None
    assert len(opened.queues) == (request.param == "queue")
    yield made
    made.close()


class Opened:
    """Notes what was opened."""

    def __init__(self, open_queue: OpenQueue) -> None:
        self._open = open_queue
        self.queues: list[Queue] = []

    def __call__(self) -> Queue | None:
        queue = self._open()
        self.queues += [] if queue is None else [queue]
        return queue


def no_queue() -> None:
    """What a system without one has."""


async def flushed(flushing: Flushing, file: int) -> BaseException | None:
    """How it ended."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[BaseException | None] = loop.create_future()
    flushing.begin(file, lambda fault: loop.call_soon_threadsafe(outcome.set_result, fault) and None)
    assert not outcome.done()
    async with asyncio.timeout(WAIT_S):
        return await outcome


async def test_a_flush_ends_once(flushing: Flushing, file: int) -> None:
    for _ in range(20):
        os.write(file, b"x" * 5_000)
        assert await flushed(flushing, file) is None


async def test_what_cannot_be_flushed_is_told(flushing: Flushing, file: int) -> None:
    """A pipe has no disk."""
    near, far = os.pipe()
    try:
        fault = await flushed(flushing, far)
    finally:
        os.close(near)
        os.close(far)
    assert isinstance(fault, OSError)
    assert fault.errno == errno.EINVAL
    assert await flushed(flushing, file) is None


async def test_a_file_that_is_closed_is_told(flushing: Flushing, file: int) -> None:
    near, far = os.pipe()
    os.close(near)
    os.close(far)
    fault = await flushed(flushing, far)
    assert isinstance(fault, OSError)
    assert fault.errno == errno.EBADF
    assert await flushed(flushing, file) is None


async def test_one_may_begin_where_another_one_ends(flushing: Flushing, file: int) -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    count = 0

    def begin() -> None:
        flushing.begin(file, lambda fault: loop.call_soon_threadsafe(again, fault) and None)

    def again(fault: BaseException | None) -> None:
        nonlocal count
        assert fault is None
        count += 1
        begin() if count < 30 else done.set_result(None)

    begin()
    async with asyncio.timeout(WAIT_S):
        await done
    assert count == 30


async def test_what_the_kernel_flushes_needs_no_thread(kernel: OpenQueue, thread: Executor, file: int) -> None:
    made = Flushing(thread, kernel)
    for _ in range(MANY):
        assert await flushed(made, file) is None
    thread.shutdown()
    for _ in range(3):
        assert await flushed(made, file) is None
    made.close()


async def test_nothing_of_the_queue_is_left_behind(kernel: OpenQueue, thread: Executor, file: int) -> None:
    made = Flushing(thread, kernel)
    before = open_files()
    for _ in range(2 * MANY):
        await flushed(made, file)
    assert open_files() == before + 1
    made.close()
    assert open_files() == before


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_another_loop_leaves_the_queue_to_the_first_one(kernel: OpenQueue, thread: Executor, file: int) -> None:
    """And takes it over once that is closed."""
    made, first = Flushing(thread, kernel), asyncio.new_event_loop()

    async def flush() -> None:
        assert await flushed(made, file) is None

    for _ in range(MANY):
        first.run_until_complete(flush())
    asyncio.run(flush())
    first.run_until_complete(flush())
    first.close()
    asyncio.run(flush())


def test_a_flush_whose_loop_is_closed_is_done_by_the_thread_and_ends_once(thread: Executor, file: int) -> None:
    late, first, faults = Late(), asyncio.new_event_loop(), queue.Queue[BaseException | None]()
    made = Flushing(thread, lambda: late)

    async def begin(ended: Ended) -> None:
        made.begin(file, ended)

    for _ in range(MANY - 1):
        first.run_until_complete(begin(faults.put))
        assert faults.get(timeout=WAIT_S) is None
    first.run_until_complete(begin(faults.put))
    made.rescue()
    assert not thread.submit(faults.qsize).result()
    first.close()
    made.rescue()
    made.rescue()
    late.tell()
    assert faults.get(timeout=WAIT_S) is None
    assert not thread.submit(faults.qsize).result()


class Late:
    """A queue that tells when it is too late."""

    def __init__(self) -> None:
        self._near, self.fileno = os.pipe()
        self._taken: list[Ended] = []

    def __del__(self) -> None:
        os.close(self._near)
        os.close(self.fileno)

    def flush(self, file: int, ended: Ended) -> bool:
        del file
        self._taken.append(ended)
        return True

    def look(self) -> None:
        """There is never anything."""

    def tell(self) -> None:
        for ended in self._taken:
            ended(OSError("too late"))


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_what_the_kernel_says_is_an_error_of_the_system(number: int) -> None:
    fault = fault_of((1 << 64) - number)
    assert isinstance(fault, OSError)
    assert fault.errno == number
    assert fault_of(0) is None
