"""What a file's steps promise about its disk: nobody is told before it has everything."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from app.state.engine import STEPS, Database
from app.state.errors import StateUnreachableError
from app.state.flushing import MANY, Ended, kernel_queues
from app.state.opening import BUSY_MS, engine_of, file_of, open_database
from app.state.writing import LOG_COMMITS
from tests.state_databases import WAIT_S, noted, noting, prepared


class HeldQueue:
    """Flushes that end when they are let go, and as they are told to."""

    def __init__(self) -> None:
        self.fileno, self._far = os.pipe()
        self.ended: list[Ended] = []

    def flush(self, file: int, ended: Ended) -> bool:
        self.flushed = os.fstat(file)
        self.ended.append(ended)
        return True

    def look(self) -> None:
        """Nothing ends by itself."""

    async def flushes(self) -> None:
        """Until one is under way."""
        async with asyncio.timeout(WAIT_S):
            while not self.ended:
                await asyncio.sleep(0.001)

    def let_go(self, fault: OSError | None = None) -> None:
        self.ended.pop()(fault)

    def close(self) -> None:
        os.close(self.fileno)
        os.close(self._far)


@pytest.fixture
def queue() -> Iterator[HeldQueue]:
    made = HeldQueue()
    yield made
    made.close()


@pytest.fixture
async def database(sqlite_url: str, queue: HeldQueue) -> AsyncIterator[Database]:
    opened = Database(await asyncio.to_thread(engine_of, sqlite_url), open_queue=lambda: queue)
    await used(opened)
    yield opened
    while queue.ended:
        queue.let_go()
        await asyncio.sleep(0)
    await opened.aclose()


async def used(database: Database) -> None:
    """So much that the next flush is the queue's."""
    await database.write(noting("first"))
    for _ in range(MANY - 1):
        await database.step(noting())


async def begun(database: Database, queue: HeldQueue, first: str, *words: str) -> list[asyncio.Task[None]]:
    """Their steps: the first one's flush is under way, the others are handed in."""
    steps = [asyncio.create_task(database.step(noting(first)))]
    await queue.flushes()
    steps += [asyncio.create_task(database.step(noting(word))) for word in words]
    await asyncio.sleep(0)
    return steps


async def test_a_step_returns_when_its_commit_has_reached_the_disk(
    database: Database, queue: HeldQueue, sqlite_url: str
) -> None:
    (step,) = await begun(database, queue, "a")
    assert await database.read(noted) == ["first", "a"]  # it is committed, but for the disk
    assert not step.done()
    log = Path(f"{file_of(sqlite_url)}-wal")
    assert os.path.samestat(queue.flushed, await asyncio.to_thread(log.stat))
    queue.let_go()
    await step


async def test_steps_that_come_while_the_disk_works_go_together(database: Database, queue: HeldQueue) -> None:
    steps = await begun(database, queue, *map(str, range(STEPS)))
    assert await database.read(noted) == ["first", "0"]
    queue.let_go()
    await steps[0]
    await queue.flushes()
    assert len(await database.read(noted)) == 1 + STEPS
    queue.let_go()
    await asyncio.gather(*steps)
    assert not queue.ended


async def test_a_write_that_comes_while_the_disk_works_is_next(database: Database, queue: HeldQueue) -> None:
    steps = await begun(database, queue, "a")
    write = asyncio.ensure_future(database.write(noting("b")))
    steps.append(asyncio.create_task(database.step(noting("c"))))
    await asyncio.sleep(0)
    assert await database.read(noted) == ["first", "a"]
    queue.let_go()
    async with asyncio.timeout(WAIT_S):
        await asyncio.gather(*steps, write)
    assert await database.read(noted) == ["first", "a", "b", "c"]


async def test_a_disk_that_fails_is_told_to_everybody_and_nothing_is_carried_out_twice(
    database: Database, queue: HeldQueue
) -> None:
    steps = await begun(database, queue, "a", "b", "c")
    queue.let_go()
    await steps[0]
    await queue.flushes()
    queue.let_go(OSError(5, "Input/output error"))
    outcomes = await asyncio.gather(*steps, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), StateUnreachableError, StateUnreachableError]
    assert outcomes[1] is not outcomes[2]
    (step,) = await begun(database, queue, "d")
    queue.let_go()
    await step
    assert await database.read(noted) == ["first", "a", "b", "c", "d"]


async def test_closing_waits_for_the_disk(database: Database, queue: HeldQueue) -> None:
    (step,) = await begun(database, queue, "a")
    closing_it = asyncio.ensure_future(database.aclose())
    done, _ = await asyncio.wait([closing_it], timeout=0.05)
    assert not done
    queue.let_go()
    async with asyncio.timeout(WAIT_S):
        await asyncio.gather(step, closing_it)


@pytest.mark.parametrize("more", [["c"], []])
def test_what_a_closed_loop_would_have_heard_holds_up_neither_writes_nor_the_end(
    sqlite_url: str, queue: HeldQueue, more: list[str]
) -> None:
    database = Database(engine_of(sqlite_url), open_queue=lambda: queue)

    async def leave_behind() -> None:
        await used(database)
        await begun(database, queue, "a", "b")
        assert queue.ended

    async def go_on() -> None:
        async with asyncio.timeout(WAIT_S):
            for word in more:
                await database.write(noting(word))
            await database.aclose()

    asyncio.run(leave_behind())
    asyncio.run(go_on())
    assert kept_in(sqlite_url) == ["first", "a", "b", *more]


async def test_the_log_is_written_back_and_begun_anew_in_the_thread(sqlite_url: str) -> None:
    """However many steps come without a pause."""
    written_back: list[int] = []

    def listen(raw: sqlite3.Connection, _record: object) -> None:
        raw.set_trace_callback(lambda said: "wal_checkpoint" in said and written_back.append(threading.get_ident()))

    engine = await asyncio.to_thread(engine_of, sqlite_url)
    event.listen(engine, "connect", listen)
    database = Database(engine, open_queue=await asyncio.to_thread(kernel_queues))
    await database.write(noting("first"))
    log, sizes = Path(f"{file_of(sqlite_url)}-wal"), list[int]()
    for number in range(5 * LOG_COMMITS):
        await database.step(noting(str(number)))
        if number % LOG_COMMITS == LOG_COMMITS - 1:
            sizes.append((await asyncio.to_thread(log.stat)).st_size)
    assert len(written_back) == 5
    assert threading.get_ident() not in written_back
    assert max(sizes) < 1.5 * sizes[0]
    await database.aclose()
    assert len(kept_in(sqlite_url)) == 1 + 5 * LOG_COMMITS


async def test_a_commit_on_the_loop_leaves_the_disk_to_the_flush_and_one_in_the_thread_does_not(
    sqlite_url: str,
) -> None:
    def synchronous(connection: Connection) -> tuple[object, ...]:
        return tuple(connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "busy_timeout"))

    normal, full = 1, 2
    async with open_database(sqlite_url) as database:
        assert await database.write(synchronous) == (full, BUSY_MS)
        assert await database.step(synchronous) == (normal, 0)
        assert await database.write(synchronous) == (full, BUSY_MS)


async def test_a_file_without_a_log_has_its_steps_in_the_thread(sqlite_url: str) -> None:
    database = await asyncio.to_thread(prepared, sqlite_url, "PRAGMA journal_mode = DELETE")
    threads = [await database.step(lambda _connection: threading.get_ident()) for _ in range(3)]
    assert threading.get_ident() not in threads
    await database.step(noting("a"))
    assert await database.read(noted) == ["a"]
    await database.aclose()


def kept_in(url: str) -> list[str]:
    with closing(sqlite3.connect(file_of(url) or "")) as connection:
        return [word for (word,) in connection.execute("SELECT command_id FROM receipts ORDER BY id")]
