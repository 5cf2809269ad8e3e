"""What the state database promises, over SQLite and PostgreSQL."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Connection, event, func, insert, select, text

from app.state.engine import BATCH, Database
from app.state.errors import StateError
from app.state.opening import open_database
from app.state.prepared import Prepared, Row, inserting
from app.state.tables import boots, erasures, inbox, receipts, sessions
from tests.state_databases import MOMENT, Gate, failing_after, noted, noting, noting_what_is_refused

WAIT_S = 20


async def test_a_read_sees_every_write_that_has_returned(database: Database) -> None:
    for number in range(20):
        await database.write(noting(str(number)))
        assert (await database.read(noted))[-1] == str(number)


async def test_writes_return_what_their_function_does(database: Database) -> None:
    assert await database.write(lambda connection: connection.scalar(select(func.count()).select_from(receipts))) == 0


async def test_writes_are_carried_out_in_the_order_they_were_handed_in(database: Database) -> None:
    words = [str(number) for number in range(3 * BATCH)]
    await Gate(database).gathered(*map(noting, words))
    assert await database.read(noted) == words


async def test_writes_that_gather_share_a_commit(database: Database) -> None:
    commits = 0

    def count(_connection: Connection) -> None:
        nonlocal commits
        commits += 1

    event.listen(database.engine, "commit", count)
    await Gate(database).gathered(*[noting("word")] * 40)
    assert commits == 2


async def test_a_prepared_statement_works_within_the_transaction_and_turns_values_both_ways(database: Database) -> None:
    begin, starts = Prepared(insert(boots)), Prepared(select(boots.c.started_at, boots.c.ended_at))
    await database.write(lambda connection: begin.rows(connection, {"started_at": MOMENT, "ended_at": None}))
    await database.write(
        lambda connection: begin.run_each(connection, [{"started_at": MOMENT, "ended_at": MOMENT}] * 2)
    )

    def look(connection: Connection) -> tuple[Sequence[Row], bool]:
        return starts.rows(connection, {}), connection.in_transaction()

    found, is_within = await database.read(look)
    assert [tuple(row) for row in found] == [(MOMENT, None), (MOMENT, MOMENT), (MOMENT, MOMENT)]
    assert is_within
    with pytest.raises(StateError):
        await database.write(lambda connection: begin.rows(connection, {"started_at": None, "ended_at": None}))


async def test_a_prepared_insertion_tells_the_key_that_was_counted_and_whether_there_was_anything_to_insert(
    database: Database,
) -> None:
    erase = inserting(erasures, lambda insert: insert.on_conflict_do_nothing())
    accept = inserting(inbox, lambda insert: insert.on_conflict_do_nothing())
    texts = {"session_key": "key", "thread_key": "thread", "payload": "", "state": "waiting"}

    def message(name: str) -> dict[str, object]:
        return {"event_id": name, "place": name, "begins": 0, "accepted_at": MOMENT, **texts}

    def insert_some(connection: Connection) -> tuple[list[int | None], list[int]]:
        keys = [accept.inserted(connection, message(name)) for name in ("a", "b", "b", "c")]
        erasure = {"kind": "thread", "subject": "thread", "erased_at": MOMENT}
        return keys, [erase.changed(connection, erasure) for _ in range(2)]

    def kept(connection: Connection) -> Sequence[int]:
        return connection.execute(select(inbox.c.id).order_by(inbox.c.event_id)).scalars().all()

    keys, changes = await database.write(insert_some)
    assert keys[2] is None
    assert [key for key in keys if key is not None] == await database.read(kept)
    assert len(keys) == 4
    assert changes == [1, 0]


async def test_a_write_is_kept_whole_or_not_at_all(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        await database.write(failing_after("one", "two"))
    assert await database.read(noted) == []


async def test_the_connection_of_a_write_that_failed_goes_back_to_the_pool_which_looks_after_it(
    database: Database,
) -> None:
    given_back = 0

    def count(*_: object) -> None:
        nonlocal given_back
        given_back += 1

    await database.write(noting("word"))
    event.listen(database.engine, "checkin", count)
    with pytest.raises(ZeroDivisionError):
        await database.write(failing_after("word"))
    assert given_back == 1
    await database.write(noting("word"))


async def test_one_members_failure_leaves_its_neighbours_whole_and_in_order(database: Database) -> None:
    outcomes = await Gate(database).gathered(noting("a"), failing_after("b"), noting("c"), noting("d"))
    assert [type(outcome) for outcome in outcomes] == [type(None), ZeroDivisionError, type(None), type(None)]
    assert await database.read(noted) == ["a", "c", "d"]


async def test_what_comes_after_a_failed_batch_waits_for_its_members(database: Database) -> None:
    gate = Gate(database)
    gathered = asyncio.ensure_future(gate.gathered(noting("a"), failing_after("b"), *[noting("c")] * BATCH))
    await gathered
    await database.write(noting("last"))
    assert await database.read(noted) == ["a", *["c"] * BATCH, "last"]


async def test_a_function_may_handle_what_the_database_refuses(database: Database) -> None:
    """The library's own error inside, so that a function can decide; ours outside."""
    assert await database.write(noting_what_is_refused) == "refused"
    assert await database.read(noted) == ["kept"]


async def test_a_caller_who_stops_waiting_undoes_nothing(database: Database) -> None:
    begun, going_on = threading.Event(), threading.Event()

    def slow(connection: Connection) -> None:
        noting("kept")(connection)
        begun.set()
        assert going_on.wait(WAIT_S)

    running = asyncio.ensure_future(database.write(slow))
    waiting = asyncio.ensure_future(database.write(noting("kept, too")))
    await asyncio.to_thread(begun.wait, WAIT_S)
    running.cancel()
    waiting.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    going_on.set()
    await database.write(noting("later"))
    assert await database.read(noted) == ["kept", "kept, too", "later"]


async def test_closing_finishes_what_was_handed_in(migrated_url: str) -> None:
    async with open_database(migrated_url) as first:
        writes = [asyncio.ensure_future(first.write(noting(str(number)))) for number in range(2 * BATCH)]
        await asyncio.sleep(0)
        await asyncio.gather(first.aclose(), first.aclose())
        assert [write.exception() for write in await all_done(writes)] == [None] * 2 * BATCH
    async with open_database(migrated_url) as second:
        assert len(await second.read(noted)) == 2 * BATCH


async def all_done(tasks: Sequence[asyncio.Future[None]]) -> Sequence[asyncio.Future[None]]:
    async with asyncio.timeout(WAIT_S):
        await asyncio.wait(tasks)
    return tasks


async def test_a_closed_database_refuses(database: Database) -> None:
    await database.aclose()
    with pytest.raises(StateError, match="closed"):
        await database.write(noting("word"))
    with pytest.raises(StateError, match="closed"):
        await database.read(noted)


async def test_counted_keys_grow_and_moments_are_exact(database: Database) -> None:
    moment = MOMENT.replace(microsecond=123_457)

    def boot(connection: Connection) -> int:
        return connection.execute(insert(boots).values(started_at=moment).returning(boots.c.id)).scalar_one()

    first, second = await database.write(boot), await database.write(boot)
    assert first < second
    assert await database.read(lambda connection: connection.scalar(select(boots.c.started_at))) == moment


async def test_no_error_tells_what_was_written(database: Database) -> None:
    """Neither the statement's values nor the row that a server quotes, in the error or in what it came from."""
    marker = "what somebody said"
    await database.write(naming(marker))
    for work in (naming(marker), asking_nowhere(marker)):
        with pytest.raises(StateError) as told:
            await database.write(work)
        cause: BaseException | None = told.value
        while cause is not None:
            assert marker not in str(cause)
            cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def naming(key: str) -> Callable[[Connection], object]:
    row = {"session_id": key, "session_key": "k", "created_at": MOMENT, "last_active_at": MOMENT}
    return lambda connection: connection.execute(insert(sessions).values(row))


def asking_nowhere(word: str) -> Callable[[Connection], object]:
    return lambda connection: connection.execute(text("SELECT :word FROM nowhere"), {"word": word})
