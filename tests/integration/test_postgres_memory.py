"""The PostgreSQL store: how its tables come to be, what it says of a server that refuses, and several processes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from memory.store import Query, StoreUnavailableError, Vector
from memory.stores.postgres import open_postgres
from memory.stores.postgres_schema import MIGRATIONS
from memory.stores.postgres_server import Bounds
from memory.stores.vectors import MOST_TABLES
from memory.text import TERMS_VERSION
from tests.memory_databases import MEMORY_DATABASES
from tests.memory_postgres import opened, sql
from tests.memory_records import ORG, RANKERS, USER, StoppedClock, fact, found, kept, record, standing, texts
from tests.state_databases import PostgresServer

SECRET = "s3cr3t-pa55"
MODEL = "test/small"


@pytest.fixture
def fresh_url(postgres: PostgresServer) -> str:
    """Of a database without any tables."""
    return postgres.new()


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of a database without any records."""
    return MEMORY_DATABASES.at(tmp_path)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


async def test_a_new_database_is_migrated_and_what_is_in_it_stays(fresh_url: str, clock: StoppedClock) -> None:
    for run in range(2):
        async with opened(fresh_url, clock) as store:
            await store.write(ORG, [fact(f"deploys need approval {run}")])
    async with opened(fresh_url, clock) as store:
        assert len(await found(store, ORG, "deploys")) == 2
    assert sql(fresh_url, "SELECT number FROM switchboard_memory.version") == [(len(MIGRATIONS),)]


async def test_many_processes_may_open_a_new_database_at_once(fresh_url: str, clock: StoppedClock) -> None:
    async with asyncio.timeout(30):
        stores = await asyncio.gather(
            *(open_postgres(fresh_url, ranker=RANKERS["relevance"], now=clock.now) for _ in range(5))
        )
    await asyncio.gather(*(store.write(ORG, [fact(f"from {number}")]) for number, store in enumerate(stores)))
    assert len(await kept(stores[0])) == 5
    for store in stores:
        await store.aclose()


async def test_a_newer_database_is_refused(fresh_url: str, clock: StoppedClock) -> None:
    async with opened(fresh_url, clock):
        pass
    sql(fresh_url, "UPDATE switchboard_memory.version SET number = 99")
    with pytest.raises(StoreUnavailableError, match="newer version of the program"):
        await open_postgres(fresh_url, ranker=RANKERS["relevance"], now=clock.now)


async def test_a_role_that_may_create_nothing_opens_what_another_one_migrated(
    fresh_url: str, clock: StoppedClock
) -> None:
    async with opened(fresh_url, clock):
        pass
    sql(fresh_url, "DROP ROLE IF EXISTS reader_and_writer")
    sql(fresh_url, "CREATE ROLE reader_and_writer LOGIN")
    sql(fresh_url, "GRANT USAGE ON SCHEMA switchboard_memory TO reader_and_writer")
    sql(
        fresh_url,
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA switchboard_memory TO reader_and_writer",
    )
    sql(fresh_url, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA switchboard_memory TO reader_and_writer")
    async with opened(fresh_url.replace("postgres@", "reader_and_writer@", 1), clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]


async def test_a_role_without_rights_is_told_so(fresh_url: str, clock: StoppedClock) -> None:
    sql(fresh_url, "DROP ROLE IF EXISTS nobody_at_all")
    sql(fresh_url, "CREATE ROLE nobody_at_all LOGIN")
    with pytest.raises(StoreUnavailableError, match="its role may not do what memory needs"):
        await open_postgres(
            fresh_url.replace("postgres@", "nobody_at_all@", 1), ranker=RANKERS["relevance"], now=clock.now
        )


async def test_a_database_in_another_encoding_is_refused(postgres: PostgresServer, clock: StoppedClock) -> None:
    postgres.execute("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(StoreUnavailableError, match=r"latin on .* must have the encoding UTF8"):
        await open_postgres(postgres.url("latin"), ranker=RANKERS["relevance"], now=clock.now)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        (f"postgresql://bot:{SECRET}@127.0.0.1:1/facts", "facts on 127.0.0.1 cannot be used: nobody listens there"),
        (f"postgresql://bot:{SECRET}@/facts?host=/nowhere/at/all", "facts on /nowhere/at/all .*: nobody listens"),
        (f"postgresql://bot:{SECRET}@127.0.0.1:{SECRET}/facts", "address of memory's database cannot be read"),
        (f"postgresql://bot:pa/{SECRET}@127.0.0.1/facts", "address of memory's database cannot be read"),
        (f"postgresql://bot:pa@{SECRET}@127.0.0.1/facts", "address of memory's database cannot be read"),
        (f"postgresql://bot:%zz{SECRET}@127.0.0.1/facts", "address of memory's database cannot be read"),
        (f"host=127.0.0.1 password={SECRET}", "address of memory's database cannot be read"),
        (f"mysql://bot:{SECRET}@127.0.0.1/facts", "address of memory's database cannot be read"),
    ],
)
async def test_an_address_that_leads_nowhere_is_told_without_its_password(
    address: str, reason: str, clock: StoppedClock, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StoreUnavailableError, match=reason) as refusal:
        await open_postgres(address, ranker=RANKERS["relevance"], now=clock.now, bounds=Bounds(connect_s=2.0))
    fault: BaseException | None = refusal.value
    while fault is not None:
        assert SECRET not in str(fault)
        fault = fault.__cause__
    assert SECRET not in "".join(capfd.readouterr())


async def test_a_database_that_is_not_there_is_named(postgres: PostgresServer, clock: StoppedClock) -> None:
    with pytest.raises(StoreUnavailableError, match=r"the memory database gone on .*: the server has no such database"):
        await open_postgres(postgres.url("gone"), ranker=RANKERS["relevance"], now=clock.now)


async def test_changes_of_another_process_show_in_the_next_search(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as ours, opened(url, clock) as theirs:
        await ours.write(ORG, [fact("deploys need approval"), replace(fact("be brief"), is_standing=True)])
        assert texts(await found(ours, ORG, "deploys")) == texts(await found(theirs, ORG, "deploys"))
        await theirs.write(ORG, [replace(fact("deploys need two approvals"), supersedes="mem:org:acme:0")])
        assert texts(await found(ours, ORG, "deploys")) == ["deploys need two approvals"]
        await theirs.forget(ORG, "mem:org:acme:1")
        assert not await standing(ours, ORG, 5)
        await theirs.erase(ORG, "mem:org:acme:2")
        assert await found(ours, ORG, "deploys") == []
        await theirs.restore(ORG, [record(5, "deploys are free")])
        assert texts(await found(ours, ORG, "deploys")) == ["deploys are free"]
        await theirs.restore(ORG, [record(5, "deploys cost nothing")])
        assert texts(await found(ours, ORG, "deploys")) == ["deploys cost nothing"]
        await theirs.erase(ORG)
        await theirs.write(ORG, [fact("deploys begin anew")])
        assert [(each.id, each.use_count) for each in await found(ours, ORG, "deploys")] == [("mem:org:acme:0", 1)]


async def test_what_two_processes_use_is_counted_together(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as ours, opened(url, clock) as theirs:
        await ours.write(ORG, [fact("deploys need approval")])
        for uses in range(1, 7, 2):
            assert [each.use_count for each in await found(ours, ORG, "deploys")] == [uses]
            assert [each.use_count for each in await found(theirs, ORG, "deploys")] == [uses + 1]
        assert [each.use_count for each in await kept(ours)] == [6]


async def test_questions_that_name_model_after_model_fill_no_memory(url: str, clock: StoppedClock) -> None:
    """A client may name any."""
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("one"), fact("two")])
        await store.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (0.0, 1.0), "mem:org:acme:1": (1.0, 0.0)})
        for number in range(3 * MOST_TABLES):
            await store.retrieve(ORG, Query("one", 8, Vector(MODEL, (1.0, 0.0))))
            await store.retrieve(ORG, Query("one", 8, Vector(f"test/{number}", (1.0, 0.0))))
            with store.scopes.at(ORG) as scope:
                assert scope.snapshot is not None
                assert len(scope.snapshot.tables) <= MOST_TABLES
                assert scope.weight <= 1 + 2 + 2


async def test_vectors_of_another_process_are_compared_at_once(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as ours, opened(url, clock) as theirs:
        await ours.write(ORG, [fact("one"), fact("two")])
        query = Query("nothing in common", 8, Vector(MODEL, (1.0, 0.0)))
        assert (await ours.retrieve(ORG, query)).hits == ()
        await theirs.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (0.0, 1.0), "mem:org:acme:1": (1.0, 0.0)})
        assert [hit.record.text for hit in (await ours.retrieve(ORG, query)).hits][:1] == ["two"]


async def test_terms_of_an_earlier_version_are_computed_anew_scope_by_scope(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        await store.write(USER, [fact("東京都で会議")])
        terms = [each.terms for each in await kept(store)]
        sql(
            url,
            "UPDATE switchboard_memory.scopes SET terms_version = 0, version = nextval('switchboard_memory.changes')",
        )
        sql(url, "UPDATE switchboard_memory.records SET terms = 'nonsense', changed = 10000")
        assert texts(await found(store, ORG, "deploying")) == ["deploys need approval"]
        assert [each.terms for each in await kept(store)] == terms
        assert texts(await store.list(USER, 5, query="東京")) == ["東京都で会議"]
    versions = sql(url, "SELECT DISTINCT terms_version FROM switchboard_memory.scopes")
    assert versions == [(TERMS_VERSION,)]


async def test_terms_of_a_later_version_are_left_alone(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("deploys need approval")])
        sql(url, "UPDATE switchboard_memory.scopes SET terms_version = %s", TERMS_VERSION + 1)
        assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
        assert sql(url, "SELECT terms_version FROM switchboard_memory.scopes") == [(TERMS_VERSION + 1,)]
        await store.write(ORG, [fact("lunch at noon")])
        assert sql(url, "SELECT terms_version FROM switchboard_memory.scopes") == [(TERMS_VERSION,)], "to be renewed"


async def test_what_is_erased_is_in_no_file_of_the_database(
    url: str, clock: StoppedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    """The write-ahead log is another matter, of which ``postgres_erasing`` tells."""
    marker = "zebrafinch-4711"
    async with opened(url, clock) as store:
        await store.write(ORG, [fact(f"{marker} number {number}") for number in range(5)])
        await found(store, ORG, marker)
        await store.write(ORG, [fact("deploys need approval")], idempotency_key=marker)
        sql(url, "ANALYZE")
        assert holding(url, marker)
        for number in range(5):
            assert (await store.erase(ORG, f"mem:org:acme:{number}")).records == 1
        assert holding(url, marker) == []
        assert texts(await kept(store)) == ["deploys need approval"]
    assert "memory_space_kept" not in capsys.readouterr().out


async def test_a_table_that_somebody_reads_is_vacuumed_where_it_lies(
    url: str, clock: StoppedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact("one"), fact("two")])
        with psycopg.connect(url) as reader:
            reader.execute("LOCK TABLE switchboard_memory.vectors IN ACCESS SHARE MODE")
            assert (await store.erase(ORG, "mem:org:acme:0")).records == 1
    assert "memory_space_kept" not in capsys.readouterr().out


async def test_who_erases_at_the_same_time_shares_the_clearing_up(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as store:
        await store.write(ORG, [fact(f"zebrafinch {number}") for number in range(6)])
        receipts = await asyncio.gather(*(store.erase(ORG, f"mem:org:acme:{number}") for number in range(6)))
    assert [receipt.records for receipt in receipts] == [1] * 6
    assert holding(url, "zebrafinch") == []


@pytest.mark.parametrize("key", ["org:a\x00b", "org:\ud800"])
async def test_a_scope_key_that_cannot_be_kept_as_it_is_is_refused(url: str, clock: StoppedClock, key: str) -> None:
    async with opened(url, clock) as store:
        for call in (lambda: store.write(key, [fact("one")]), lambda: store.retrieve(key, Query("one", 1))):
            with pytest.raises(ValueError, match="scope key"):
                await call()


async def test_space_that_cannot_be_given_up_is_told_once(
    url: str, clock: StoppedClock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody else's maintenance of a table stands in the way."""
    async with opened(url, clock, Bounds(scrub_s=0.5)) as store:
        await store.write(ORG, [fact("one"), fact("two"), fact("three")])
        with psycopg.connect(url) as reader:
            reader.execute("LOCK TABLE switchboard_memory.vectors IN SHARE UPDATE EXCLUSIVE MODE")
            for number in range(2):
                assert (await store.erase(ORG, f"mem:org:acme:{number}")).records == 1
        assert capsys.readouterr().out.count("memory_space_kept") == 1
        assert (await store.erase(ORG)).records == 1


def holding(url: str, marker: str) -> list[Path]:
    """The database's files that have the marker."""
    sql(url, "CHECKPOINT")
    [(data, database)] = sql(
        url, "SELECT current_setting('data_directory'), oid::text FROM pg_database WHERE datname = current_database()"
    )
    files = (path for path in sorted((Path(data) / "base" / database).iterdir()) if path.is_file())
    return [path for path in files if marker.encode() in path.read_bytes()]
