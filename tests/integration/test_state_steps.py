"""A file's steps: carried out on the event loop, which waits for no disk and for no lock."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
from sqlalchemy import Connection, Engine, event

from app.dispatch.keying import Keying
from app.state.engine import STEPS, Database
from app.state.errors import StateBusyError, StateFullError
from app.state.journal import STEP_CHARS, StateJournal
from app.state.opening import BUSY_MS, engine_of, file_of, open_database
from tests.fakes import ManualClock, message
from tests.session_lines import turn_record
from tests.state_databases import WAIT_S, Gate, noted, noting, prepared


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    """With its connections made: the first write makes them."""
    async with open_database(sqlite_url) as opened:
        await opened.write(noting())
        yield opened


def carried_out_by(_connection: Connection) -> int:
    return threading.get_ident()


def committed_by(engine: Engine) -> list[int]:
    """Filled with the threads that commits wait in."""
    threads: list[int] = []

    def note(_connection: Connection) -> None:
        threads.append(threading.get_ident())

    event.listen(engine, "commit", note)
    return threads


async def test_a_step_is_carried_out_and_committed_on_the_loop(database: Database) -> None:
    committing = committed_by(database.engine)
    assert [await database.step(carried_out_by)] == committing
    assert committing[0] == threading.get_ident()


async def test_a_write_is_carried_out_and_committed_in_a_thread(database: Database) -> None:
    committing = committed_by(database.engine)
    assert [await database.write(carried_out_by)] == committing
    assert committing[0] != threading.get_ident()


async def test_steps_that_waited_for_a_write_are_carried_out_on_the_loop(database: Database) -> None:
    async with Gate(database).closed():
        steps = [asyncio.ensure_future(database.step(carried_out_by)) for _ in range(2 * STEPS)]
        await asyncio.sleep(0)
    assert await asyncio.gather(*steps) == [threading.get_ident()] * 2 * STEPS


async def test_a_file_that_another_one_holds_does_not_hold_up_the_loop(database: Database, sqlite_url: str) -> None:
    await database.step(noting("a"))
    with closing(sqlite3.connect(file_of(sqlite_url) or "", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(BUSY_MS / 2_000):  # half of what a thread waits for the file
            steps = [asyncio.ensure_future(database.step(noting(word))) for word in "bc"]
            for _ in range(100):
                await asyncio.sleep(0)
        assert not any(step.done() for step in steps)
        other.execute("COMMIT")
        async with asyncio.timeout(WAIT_S):
            await asyncio.gather(*steps)
    await database.step(noting("d"))
    assert await database.read(noted) == ["a", "b", "c", "d"]
    assert await database.step(carried_out_by) == threading.get_ident()


async def test_a_file_that_another_one_does_not_give_up_is_busy(sqlite_url: str) -> None:
    impatient = await asyncio.to_thread(prepared, sqlite_url, "PRAGMA busy_timeout = 20")
    await impatient.step(noting("a"))
    with closing(sqlite3.connect(file_of(sqlite_url) or "", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateBusyError):
            await impatient.step(noting("b"))
        other.execute("ROLLBACK")
    await impatient.step(noting("c"))
    assert await impatient.read(noted) == ["a", "c"]
    await impatient.aclose()


async def test_a_full_disk_keeps_nothing_of_a_step_and_the_small_ones_beside_it(sqlite_url: str) -> None:
    narrow = await asyncio.to_thread(prepared, sqlite_url, "PRAGMA max_page_count = 100")
    await narrow.step(noting("first"))
    works = (noting("before"), noting(*["x" * 1_000] * 1_000), noting("after"))
    async with Gate(narrow).closed():
        steps = [asyncio.ensure_future(narrow.step(work)) for work in works]
        await asyncio.sleep(0)
    outcomes = await asyncio.gather(*steps, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), StateFullError, type(None)]
    assert await narrow.read(noted) == ["first", "before", "after"]
    await narrow.aclose()


async def test_steps_that_cannot_be_committed_are_carried_out_once_more_and_kept_once(database: Database) -> None:
    threads: list[int] = []
    faults = [sqlite3.OperationalError("disk I/O error")]

    def fail_once(_connection: Connection) -> None:
        if faults:
            raise faults.pop()

    def step(connection: Connection) -> str:
        threads.append(threading.get_ident())
        noting("a")(connection)
        return "done"

    event.listen(database.engine, "commit", fail_once)
    assert await database.step(step) == "done"
    assert len(set(threads)) == 2
    assert await database.read(noted) == ["a"]
    assert await database.step(carried_out_by) == threading.get_ident()


@pytest.mark.parametrize(("chars", "is_on_the_loop"), [(100, True), (STEP_CHARS + 1, False)])
async def test_a_turn_is_kept_on_the_loop_unless_it_is_so_long_that_its_words_take_a_while(
    sqlite_url: str, chars: int, *, is_on_the_loop: bool
) -> None:
    keeping: list[int] = []

    def listen(raw: sqlite3.Connection, _record: object) -> None:
        raw.set_trace_callback(lambda said: "INTO transcript (" in said and keeping.append(threading.get_ident()))

    engine = await asyncio.to_thread(engine_of, sqlite_url)
    event.listen(engine, "connect", listen)
    database, keying, asked = Database(engine), Keying(), message()
    journal = StateJournal(database, ManualClock())
    accepted = await journal.accept(asked, keying.key(asked), None)
    assert accepted is not None
    entry = await journal.begin(accepted, keying.source(asked))
    await journal.end(accepted, "ran", turn_record(entry, "x" * chars))
    assert keeping
    assert (set(keeping) == {threading.get_ident()}) is is_on_the_loop
    await database.aclose()


def test_steps_whose_loop_has_ended_are_kept_all_the_same(sqlite_url: str) -> None:
    """And nobody is told."""
    database = Database(engine_of(sqlite_url))
    gate = Gate(database)

    async def leave_behind() -> None:
        await database.step(noting("a"))
        await gate.close()
        steps = [asyncio.ensure_future(database.step(noting(word))) for word in "bc"]
        await asyncio.wait(steps, timeout=0)

    asyncio.run(leave_behind())
    gate.open()
    asyncio.run(database.aclose())
    with closing(sqlite3.connect(file_of(sqlite_url) or "")) as connection:
        kept = connection.execute("SELECT command_id FROM receipts ORDER BY id").fetchall()
    assert kept == [("a",), ("b",), ("c",)]
