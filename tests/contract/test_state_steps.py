"""What a step of the state database promises beside a write, over SQLite and PostgreSQL."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select

from app.state.engine import BATCH, STEPS, Database
from app.state.errors import StateError
from app.state.opening import open_database
from app.state.tables import receipts
from tests.state_databases import WAIT_S, Gate, failing_after, noted, noting, noting_what_is_refused


async def test_a_read_sees_every_step_that_has_returned(database: Database) -> None:
    for number in range(20):
        await database.step(noting(str(number)))
        assert (await database.read(noted))[-1] == str(number)


async def test_steps_return_what_their_function_does(database: Database) -> None:
    for _ in range(2):
        assert (
            await database.step(lambda connection: connection.scalar(select(func.count()).select_from(receipts))) == 0
        )


async def test_steps_and_writes_are_carried_out_in_the_order_they_were_handed_in(database: Database) -> None:
    """However they alternate."""
    words = [str(number) for number in range(2 * BATCH + 7 * STEPS)]
    ways = [database.write if number % 50 < 10 else database.step for number in range(len(words))]
    calls = [way(noting(word)) for way, word in zip(ways, words, strict=True)]
    assert await behind_a_gate(database, *calls) == [None] * len(words)
    assert await database.read(noted) == words


async def test_steps_that_gather_share_commits(database: Database) -> None:
    await database.step(noting("first"))
    commits = 0

    def count(_connection: Connection) -> None:
        nonlocal commits
        commits += 1

    event.listen(database.engine, "commit", count)
    await behind_a_gate(database, *[database.step(noting("word")) for _ in range(2 * STEPS)])
    assert commits <= 3


async def test_a_step_is_kept_whole_or_not_at_all(database: Database) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await database.step(failing_after("one", "two"))
        assert await database.read(noted) == []


async def test_one_steps_failure_leaves_its_neighbours_whole_and_in_order(database: Database) -> None:
    await database.step(noting("first"))
    steps = [noting("a"), failing_after("b"), noting("c"), failing_after("d"), noting("e")]
    outcomes = await behind_a_gate(database, *map(database.step, steps))
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [type(None), ZeroDivisionError, type(None), ZeroDivisionError, type(None)]
    await database.step(noting("last"))
    assert await database.read(noted) == ["first", "a", "c", "e", "last"]


async def test_a_step_may_handle_what_the_database_refuses(database: Database) -> None:
    await database.step(noting("first"))
    assert await database.step(noting_what_is_refused) == "refused"
    assert await database.read(noted) == ["first", "kept"]


async def test_a_caller_who_stops_waiting_for_a_step_undoes_nothing(database: Database) -> None:
    await database.step(noting("first"))
    steps = [asyncio.ensure_future(database.step(noting(word))) for word in "abc"]
    await asyncio.sleep(0)
    for each in steps:
        each.cancel()
    await asyncio.gather(*steps, return_exceptions=True)
    await database.step(noting("later"))
    assert await database.read(noted) == ["first", "a", "b", "c", "later"]


async def test_closing_finishes_the_steps_that_were_handed_in(migrated_url: str) -> None:
    async with open_database(migrated_url) as first:
        await first.step(noting("first"))
        steps = [asyncio.ensure_future(first.step(noting(str(number)))) for number in range(3 * STEPS)]
        await asyncio.sleep(0)
        await asyncio.gather(first.aclose(), first.aclose())
        async with asyncio.timeout(WAIT_S):
            assert await asyncio.gather(*steps) == [None] * 3 * STEPS
        with pytest.raises(StateError, match="closed"):
            await first.step(noting("word"))
    async with open_database(migrated_url) as second:
        assert len(await second.read(noted)) == 1 + 3 * STEPS


async def behind_a_gate(database: Database, *calls: Coroutine[Any, Any, object]) -> Sequence[object]:
    """What becomes of ``calls``, all of which wait until a write is done."""
    async with Gate(database).closed():
        waiting = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0)
    async with asyncio.timeout(WAIT_S):
        return await asyncio.gather(*waiting, return_exceptions=True)
