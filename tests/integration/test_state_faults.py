"""What goes wrong with a state database, told apart: busy, full, damaged, gone, and what works again afterwards."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from blockbuster import BlockBuster
from sqlalchemy import Connection, Engine, event, text

from app.errors import ConfigurationError
from app.sessions.errors import TranscriptUnreadableError
from app.state.engine import Database
from app.state.errors import (
    StateBusyError,
    StateDamagedError,
    StateError,
    StateFullError,
    StateUnreachableError,
    StateValueError,
)
from app.state.opening import engine_of, file_of, open_database
from tests.fakes import ManualClock
from tests.session_lines import said, store_over, thread
from tests.state_databases import WAIT_S, Gate, PostgresServer, noted, noting, prepared


async def test_a_file_that_another_one_holds_is_busy_for_everybody_at_once(sqlite_url: str) -> None:
    """The wait is spent once for a whole commit, not once for each member."""
    impatient = await asyncio.to_thread(prepared, sqlite_url, "PRAGMA busy_timeout = 20")
    statements: list[str] = []

    def trace(connection: sqlite3.Connection, _record: object) -> None:
        connection.set_trace_callback(statements.append)

    event.listen(impatient.engine, "connect", trace)
    with closing(sqlite3.connect(file_of(sqlite_url) or "", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        outcomes = await asyncio.gather(*[impatient.write(noting("a")) for _ in range(20)], return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {StateBusyError}
        assert len({id(outcome) for outcome in outcomes}) == 20
        assert 1 <= statements.count("BEGIN IMMEDIATE") <= 3
        other.execute("ROLLBACK")
    await impatient.write(noting("c"))
    assert await impatient.read(noted) == ["c"]
    await impatient.aclose()


async def test_a_lock_that_is_not_given_up_is_busy(postgres_url: str) -> None:
    impatient = await asyncio.to_thread(prepared, postgres_url)

    def write(connection: Connection) -> None:
        connection.execute(text("SET LOCAL lock_timeout = 20"))
        noting("a")(connection)

    with psycopg.connect(postgres_url) as other:
        other.execute("LOCK TABLE receipts")
        with pytest.raises(StateBusyError):
            await impatient.write(write)
    await impatient.write(noting("b"))
    assert await impatient.read(noted) == ["b"]
    await impatient.aclose()


async def test_a_statement_that_takes_too_long_is_busy(postgres_url: str) -> None:
    async with open_database(postgres_url) as database:

        def slow(connection: Connection) -> None:
            connection.execute(text("SET LOCAL statement_timeout = 20"))
            connection.execute(text("SELECT pg_sleep(60)"))

        with pytest.raises(StateBusyError):
            await database.write(slow)


async def test_a_full_disk_keeps_nothing_of_a_write_and_the_small_ones_beside_it(sqlite_url: str) -> None:
    narrow = await asyncio.to_thread(prepared, sqlite_url, "PRAGMA max_page_count = 100")
    large = noting(*["x" * 1_000] * 1_000)
    outcomes = await Gate(narrow).gathered(noting("before"), large, noting("after"))
    assert [type(outcome) for outcome in outcomes] == [type(None), StateFullError, type(None)]
    assert await narrow.read(noted) == ["before", "after"]
    await narrow.aclose()


@pytest.mark.parametrize("damage", ["at = 'yesterday'", "content = x'ff00'", "files = 'some'"])
async def test_a_line_of_the_transcript_with_what_only_sqlite_keeps_there_is_no_empty_transcript(
    sqlite_url: str, damage: str
) -> None:
    async with open_database(sqlite_url, ManualClock()) as database:
        store = store_over(database, ManualClock())
        session_id = (await store.get_or_create(*thread())).session_id
        await store.append(session_id, [said("words")])
        await database.write(lambda connection: connection.execute(text(f"UPDATE transcript SET {damage}")))  # noqa: S608
        with pytest.raises(TranscriptUnreadableError):
            await store.load(session_id)


async def test_a_moment_that_is_none_is_an_error_of_the_records(sqlite_url: str) -> None:
    async with open_database(sqlite_url, ManualClock()) as database:
        store = store_over(database, ManualClock())
        entry = await store.get_or_create(*thread())
        await database.write(lambda connection: connection.execute(text("UPDATE routes SET updated_at = 'now'")))
        with pytest.raises(StateValueError):
            await store.get(entry.session_key)


@pytest.mark.parametrize(
    ("code", "error"), [("53100", StateFullError), ("XX001", StateDamagedError), ("P0001", StateError)]
)
async def test_what_a_server_reports_is_told_apart(postgres_url: str, code: str, error: type[StateError]) -> None:
    async with open_database(postgres_url) as database:

        def fail(connection: Connection) -> None:
            connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'a row' USING ERRCODE = '{code}'; END $$"))

        with pytest.raises(StateError) as told:
            await database.write(fail)
        assert type(told.value) is error
        assert "a row" not in str(told.value)


def killing(server: PostgresServer, *, after: Callable[[Connection], object]) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        after(connection)
        server.execute(f"SELECT pg_terminate_backend({connection.scalar(text('SELECT pg_backend_pid()'))})")

    return work


async def test_a_connection_that_breaks_is_told_and_the_next_write_works(
    postgres: PostgresServer, postgres_url: str
) -> None:
    async with open_database(postgres_url) as database:
        with pytest.raises(StateUnreachableError):
            await database.write(killing(postgres, after=noting("a")))
        await database.write(noting("b"))
        assert await database.read(noted) == ["b"]


async def test_a_commit_whose_fate_is_unknown_is_not_tried_again(postgres: PostgresServer, postgres_url: str) -> None:
    """Its members might be carried out twice."""
    async with open_database(postgres_url) as database:
        outcomes = await Gate(database).gathered(noting("a"), noting("b"), killing(postgres, after=noting("c")))
        assert {type(outcome) for outcome in outcomes} == {StateUnreachableError}
        assert await database.read(noted) == []


async def test_idle_connections_that_were_cut_are_not_noticed(postgres: PostgresServer, postgres_url: str) -> None:
    async with open_database(postgres_url) as database:
        await database.write(noting("a"))
        await database.read(noted)
        name = postgres_url.partition("@/")[2].partition("?")[0]
        postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - our own name
        assert await database.read(noted) == ["a"]
        await database.write(noting("b"))
        assert await database.read(noted) == ["a", "b"]


async def test_a_server_that_stops_is_told_and_used_again_once_it_is_back(
    postgres: PostgresServer, postgres_url: str
) -> None:
    async with open_database(postgres_url) as database:
        await database.write(noting("a"))
        await asyncio.to_thread(postgres.stop)
        try:
            for _ in range(2):
                with pytest.raises(StateUnreachableError):
                    await database.write(noting("lost"))
            with pytest.raises(StateUnreachableError):
                await database.read(noted)
        finally:
            await asyncio.to_thread(postgres.start)
        await database.write(noting("b"))
        assert await database.read(noted) == ["a", "b"]


async def test_a_server_that_is_not_there_is_named_and_its_password_is_not(tmp_path: Path) -> None:
    with pytest.raises(StateUnreachableError, match="cannot be reached") as told:
        async with open_database(f"postgresql://bot:SECRET@/state?host={tmp_path}"):
            pass
    assert str(tmp_path) in str(told.value)
    assert "SECRET" not in str(told.value)


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("nonsense SECRET", "is no database URL"),
        ("postgresql://u:SECRET@host:port/db", "is no database URL"),
        ("mysql://u:SECRET@host/db", "mysql is not supported"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:////proc/state.db", "data_dir or state.url: /proc/state.db cannot be made; the bot's account"),
        ("sqlite:////dev/null/state.db", "data_dir or state.url: the folder /dev/null cannot be made"),
    ],
)
async def test_a_url_that_is_of_no_use_is_refused_in_a_sentence(url: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as told:
        async with open_database(url):
            pass
    assert "SECRET" not in str(told.value)
    assert told.value.__cause__ is None or isinstance(told.value.__cause__, OSError)


def test_drivers_in_a_url_are_ours_to_choose(tmp_path: Path) -> None:
    assert file_of(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}") == tmp_path / "a.db"
    assert file_of("postgres://somewhere/state") is None
    assert engine_of("postgresql+asyncpg://somewhere/state").driver == "psycopg"


async def test_a_file_that_cannot_be_opened_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "state.db").mkdir()
    with pytest.raises(StateError, match="cannot be opened"):
        async with open_database(f"sqlite:///{tmp_path / 'state.db'}"):
            pass


class PromptExecutor(ThreadPoolExecutor):
    """Is done with a piece of work before the one who handed it in can say whom to tell."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done = super().submit(fn, *args, **kwargs)
        wait([done], WAIT_S)
        return done


class PromptDatabase(Database):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._writer = PromptExecutor(1)


async def test_a_write_that_ends_at_once_is_reported_all_the_same(
    sqlite_url: str, loop_stays_free: BlockBuster
) -> None:
    loop_stays_free.deactivate()  # waiting is the point here
    database = PromptDatabase(await asyncio.to_thread(engine_of, sqlite_url))
    async with asyncio.timeout(WAIT_S):
        await database.write(noting("a"))
        with pytest.raises(ZeroDivisionError):
            await database.write(fail)
        assert await database.read(noted) == ["a"]
    await database.aclose()


async def test_every_write_ends_however_soon_it_fails(sqlite_url: str) -> None:
    database = await asyncio.to_thread(prepared, sqlite_url)
    for _ in range(50):
        async with asyncio.timeout(WAIT_S):
            outcomes = await asyncio.gather(*[database.write(fail) for _ in range(20)], return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {ZeroDivisionError}
    await database.aclose()


def fail(_connection: Connection) -> None:
    raise ZeroDivisionError
