"""The PostgreSQL store when its server fails it: clear words, nothing by half, and back again without a restart."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from memory.record import WriteCounts
from memory.store import Query, StoreFullError, StoreUnavailableError
from memory.stores.postgres_server import Bounds
from tests.memory_databases import MEMORY_DATABASES
from tests.memory_postgres import opened, sql
from tests.memory_records import ORG, USER, StoppedClock, fact, found, kept, texts
from tests.state_databases import WAIT_S, PostgresServer, postgres_in_a_folder

SECRET = "s3cr3t-pa55"
ENDS: LiteralString = "PERFORM pg_terminate_backend(pg_backend_pid());"
OURS: LiteralString = "FROM pg_stat_activity WHERE application_name = 'switchboard-memory'"
FULL: LiteralString = "RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100';"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """Of a database without any records, whose triggers are taken away at the end."""
    place = MEMORY_DATABASES.at(tmp_path)
    yield place
    sql(place, "DROP FUNCTION IF EXISTS interfere CASCADE")
    sql(place, "DROP SEQUENCE IF EXISTS interferences")


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may stop."""
    with postgres_in_a_folder() as server:
        yield server


def interfere(url: str, what: LiteralString, table: LiteralString = "records", *, at_commit: bool = False) -> None:
    """Have the server do something when a row of ``table`` is inserted."""
    sql(url, "CREATE SEQUENCE IF NOT EXISTS interferences")
    body: LiteralString = f"BEGIN {what} RETURN NEW; END"
    sql(url, f"CREATE FUNCTION interfere() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
    kind: LiteralString = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
    when: LiteralString = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    sql(url, f"CREATE {kind} interfere AFTER INSERT ON {table} {when} FOR EACH ROW EXECUTE FUNCTION interfere()")


def the_first_time(what: LiteralString) -> LiteralString:
    """Sequences are outside of transactions, so this remembers."""
    return f"IF nextval('switchboard_memory.interferences') = 1 THEN {what} END IF;"


@contextmanager
def only_reading(url: str) -> Generator[None]:
    """New connections to the database may not write."""
    with psycopg.connect(url, autocommit=True) as connection:
        name = Identifier(connection.info.dbname)
        connection.execute(SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
        try:
            yield
        finally:
            connection.execute(SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))


async def test_a_server_that_restarts_is_told_and_found_again(
    own_server: PostgresServer, clock: StoppedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Requests fail clearly while it is away; afterwards nothing that was acknowledged is missing."""
    url = own_server.url("postgres").replace("postgres@", f"postgres:{SECRET}@", 1)
    outcomes: Counter[str] = Counter()
    acknowledged: list[str] = []
    refusals: set[str] = set()
    is_over = asyncio.Event()

    async with opened(url, clock, Bounds(connections=4, connect_s=1.0, wait_s=0.3)) as store:

        async def write_on(number: int) -> None:
            while not is_over.is_set():
                text = f"writer {number} said {len(acknowledged)} things"
                try:
                    await store.write(ORG, [fact(text)])
                except StoreUnavailableError as exc:
                    refusals.add(str(exc))
                    outcomes["refused"] += 1
                else:
                    acknowledged.append(text)
                    outcomes["written"] += 1
                is_degraded = (await store.retrieve(ORG, Query(text, 1))).is_degraded
                outcomes["degraded" if is_degraded else "answered"] += 1

        async def reach(outcome: str, more: int) -> None:
            aim = outcomes[outcome] + more
            while outcomes[outcome] < aim:
                await asyncio.sleep(0.001)

        async def restart() -> None:
            await reach("answered", 10)
            await asyncio.to_thread(own_server.stop)
            await reach("degraded", 5)
            await reach("refused", 5)
            await asyncio.to_thread(own_server.start)
            await reach("written", 10)
            await reach("answered", 10)
            is_over.set()

        async with asyncio.timeout(3 * WAIT_S):
            await asyncio.gather(restart(), *(write_on(number) for number in range(6)))
        present = set(texts(await kept(store)))
    assert set(acknowledged) <= present
    told = capsys.readouterr().out
    assert SECRET not in told.join(refusals)
    assert 1 <= told.count('"memory_degraded"') < outcomes["degraded"], "told once, not each time"


async def test_connections_that_the_server_ended_are_replaced_unnoticed(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock, Bounds(connections=3)) as store:
        await asyncio.gather(*(store.write(f"repo:{number}", [fact("deploys")]) for number in range(3)))
        for _ in range(3):
            sql(
                url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'switchboard-memory'",
            )
            assert texts(await found(store, "repo:1", "deploys")) == ["deploys"]
            assert await store.write("repo:2", [fact("deploys")]) == WriteCounts(deduped=1)


async def test_a_batch_whose_connection_is_killed_in_the_middle_is_nothing_of_it(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("use yarn"), fact("use npm")])
        before = await kept(store)
        interfere(url, f"IF NEW.text = 'three' THEN {ENDS} END IF;")
        batch = [fact("one"), replace(fact("two"), supersedes="mem:org:acme:0"), fact("use npm"), fact("three")]
        with pytest.raises(StoreUnavailableError, match="cannot be used"):
            await store.write(ORG, batch)
        assert await kept(store) == before
        await store.write(ORG, [fact("next")])
        assert (await kept(store))[-1].id == "mem:org:acme:2"


async def test_a_batch_that_was_surely_not_applied_is_tried_once_more(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        interfere(url, the_first_time(ENDS))
        assert await store.write(ORG, [fact("one"), fact("two")]) == WriteCounts(inserted=2)
        assert [each.id for each in await kept(store)] == ["mem:org:acme:0", "mem:org:acme:1"]


async def test_a_commit_of_unknown_outcome_is_not_repeated_unless_it_would_be_recognised(
    url: str, clock: StoppedClock
) -> None:
    async with opened(url, clock) as store:
        interfere(url, the_first_time(ENDS), at_commit=True)
        with pytest.raises(StoreUnavailableError):
            await store.write(ORG, [fact("one")])
        assert await kept(store) == []
        sql(url, "ALTER SEQUENCE interferences RESTART")
        assert await store.write(ORG, [fact("one")], idempotency_key="k") == WriteCounts(inserted=1)
        assert await store.write(ORG, [fact("one")], idempotency_key="k") == WriteCounts(inserted=1)
        assert texts(await kept(store)) == ["one"]


async def test_a_full_disk_is_told_apart_and_reading_goes_on(
    url: str, clock: StoppedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        interfere(url, FULL)
        with pytest.raises(StoreFullError, match="has no room left on its disk"):
            await store.write(ORG, [fact("one")])
        sql(url, "DROP FUNCTION interfere CASCADE")
        interfere(url, FULL, "uses")
        for _ in range(2):
            retrieved = await store.retrieve(ORG, Query("deploys", 8))
            assert (retrieved.is_degraded, [hit.record.use_count for hit in retrieved.hits]) == (False, [0])
        sql(url, "DROP FUNCTION interfere CASCADE")
        assert [each.use_count for each in await found(store, ORG, "deploys")] == [1]
    assert capsys.readouterr().out.count("memory_use_uncounted") == 1


async def test_a_server_that_only_reads_still_answers(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
    with only_reading(url):
        async with opened(url, clock) as store:
            assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
            for change in (lambda: store.write(ORG, [fact("one")]), lambda: store.erase(ORG)):
                with pytest.raises(StoreUnavailableError, match="it only reads at the moment"):
                    await change()


async def test_a_scope_that_somebody_holds_is_given_up_after_a_while_and_no_other_waits_for_it(
    url: str, clock: StoppedClock
) -> None:
    async with opened(url, clock, Bounds(connections=2, wait_s=0.2, statement_s=1.0)) as store:
        await store.write(ORG, [fact("deploys need approval")])
        with psycopg.connect(url, options="-c search_path=switchboard_memory") as other:
            other.execute("SELECT 1 FROM scopes WHERE key = %s FOR UPDATE", (ORG,))
            crowd = [store.write(ORG, [fact(f"one {number}")]) for number in range(3)]
            writing = asyncio.gather(*crowd, return_exceptions=True)
            await asyncio.sleep(0)
            assert await store.write(USER, [fact("mine")]) == WriteCounts(inserted=1)
            assert texts(await store.list(ORG, 5)) == ["deploys need approval"]
            async with asyncio.timeout(WAIT_S):
                told = {str(each) for each in await writing}
        assert {each.rpartition(": ")[2] for each in told} == {"somebody else holds what is to be changed"}
        assert await store.write(ORG, [fact("one")]) == WriteCounts(inserted=1)


async def test_a_call_that_takes_too_long_is_given_up(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as patient, opened(url, clock, Bounds(deadline_s=0.3)) as store:
        await patient.write(ORG, [fact("deploys need approval")])
        with psycopg.connect(url, options="-c search_path=switchboard_memory") as other:
            other.execute("LOCK TABLE records")
            with pytest.raises(StoreUnavailableError, match=r"did not answer within 0\.3 s"):
                await store.list(ORG, 5)
            assert (await store.retrieve(ORG, Query("deploys", 5))).is_degraded
        assert len(await patient.list(ORG, 5)) == 1


async def test_a_server_that_has_frozen_holds_nobody_up_for_long(url: str, clock: StoppedClock) -> None:
    """The driver alone would wait for ten seconds more."""
    async with opened(url, clock, Bounds(connections=1, wait_s=1.0, deadline_s=0.5)) as store:
        assert await store.list(ORG, 5) == []
        [(frozen,)] = sql(url, f"SELECT pid {OURS} AND datname = current_database()")
        os.kill(frozen, signal.SIGSTOP)
        try:
            async with asyncio.timeout(5):
                with pytest.raises(StoreUnavailableError, match="did not answer within"):
                    await store.list(ORG, 5)
                assert await store.list(ORG, 5) == [], "over another connection"
        finally:
            os.kill(frozen, signal.SIGCONT)


async def test_what_is_erased_while_it_is_found_is_not_found(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        with psycopg.connect(url, options="-c search_path=switchboard_memory") as other:
            other.execute("DELETE FROM scopes WHERE key = %s", (ORG,))
            searching = asyncio.gather(store.retrieve(ORG, Query("deploys", 8)))
            async with asyncio.timeout(WAIT_S):
                while not sql(url, f"SELECT 1 {OURS} AND wait_event_type = 'Lock'"):
                    await asyncio.sleep(0.01)
            other.commit()
        [retrieved] = await searching
        assert (retrieved.hits, retrieved.is_degraded) == ((), False)


async def test_a_record_that_is_gone_before_its_use_is_counted_is_looked_for_again(
    url: str, clock: StoppedClock
) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        interfere(url, the_first_time("RAISE EXCEPTION 'gone' USING ERRCODE = '23503';"), "uses")
        assert [each.use_count for each in await found(store, ORG, "deploys")] == [1]
