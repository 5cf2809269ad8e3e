"""The PostgreSQL store with many writers, many scopes and large scopes (specification, sections 17 and 18)."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
import pytest
from psycopg.sql import SQL, Composed, Literal

from memory.pool import MATCH_TOKENS
from memory.record import WriteCounts
from memory.store import Query, Vector
from memory.stores.postgres import PostgresStore
from memory.stores.postgres_finding import COUNT_USE, INDEXED
from memory.stores.postgres_listing import GET, LIST
from memory.stores.postgres_server import Bounds, Connection, Server
from memory.stores.postgres_snapshot import CHANGED, WHOLE
from memory.stores.postgres_writing import TOUCHED
from memory.stores.searches import WHOLE_POOL
from tests.memory_databases import MEMORY_DATABASES
from tests.memory_postgres import opened, sql
from tests.memory_records import ORG, RANKERS, USER, StoppedClock, fact, found, kept, standing, texts
from tests.state_databases import PostgresServer, name_of

WRITERS = 1_000
MODEL = "test/small"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return MEMORY_DATABASES.at(tmp_path)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture(params=RANKERS)
async def indexed(request: pytest.FixtureRequest, url: str, clock: StoppedClock) -> AsyncGenerator[PostgresStore]:
    """A scope that is searched through its index, as if it were large: one telling old record and many others."""
    async with opened(url, clock, ranker=request.param) as store:
        await store.write(ORG, [fact("kubernetes rollback runbook")])
        sql(url, "UPDATE scopes SET is_indexed = true")
        await store.restore(ORG, [replace(each, use_count=1) for each in await kept(store)])
        clock.pass_by()
        await store.write(ORG, [replace(fact(f"cluster note {number}"), keywords=()) for number in range(80)])
        yield store


@pytest.mark.unfollowed  # a thousand times what another test does once
async def test_a_thousand_concurrent_writers_of_one_scope_lose_nothing(url: str, clock: StoppedClock) -> None:
    """Criterion: concurrent write batches to one scope → all succeed, unique ids (section 18)."""
    bounds = Bounds(connections=8, deadline_s=60.0)
    async with opened(url, clock, bounds) as ours, opened(url, clock, bounds) as theirs:
        async with asyncio.timeout(60):
            counts = await asyncio.gather(
                *((ours, theirs)[number % 2].write(ORG, [fact(f"from {number}")]) for number in range(WRITERS))
            )
        assert counts == [WriteCounts(inserted=1)] * WRITERS
        records = await kept(ours)
        assert {each.sequence for each in records} == set(range(WRITERS))
        assert {each.text for each in records} == {f"from {number}" for number in range(WRITERS)}


async def test_searches_and_writes_of_two_processes_at_the_same_time_lose_no_use(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock) as ours, opened(url, clock) as theirs:
        await ours.write(ORG, [fact("deploys need approval"), fact("deploys are slow")])
        async with asyncio.timeout(60):
            await asyncio.gather(
                *(found(store, ORG, "deploys") for store in (ours, theirs) for _ in range(25)),
                *(
                    store.write(ORG, [fact("Deploys are SLOW"), fact(f"w{n}")])
                    for n, store in enumerate((ours, theirs))
                ),
            )
        assert [each.use_count for each in await kept(ours)][:2] == [50, 52]
        assert sorted(each.use_count for each in await found(ours, ORG, "deploys")) == [51, 53]


async def test_an_old_record_that_matches_best_is_found_through_the_index(indexed: PostgresStore) -> None:
    """Criterion: bm25 candidate ordering rescues a relevant-but-old record."""
    hits = await found(indexed, ORG, "kubernetes rollback runbook cluster", 5)
    assert hits[0].text == "kubernetes rollback runbook"
    assert len(hits) == 5
    assert [each.use_count for each in await found(indexed, ORG, "kubernetes")] == [3]


async def test_equally_good_candidates_are_the_newest(indexed: PostgresStore) -> None:
    numbers = [each.sequence for each in await found(indexed, ORG, "cluster", 10)]
    assert min(numbers) >= 31, "fifty candidates of eighty"


async def test_retired_and_erased_records_are_not_in_the_index(indexed: PostgresStore, url: str) -> None:
    await indexed.write(ORG, [replace(fact("moved elsewhere"), supersedes="mem:org:acme:0"), fact("zanzibar")])
    assert await found(indexed, ORG, "kubernetes") == []
    assert await indexed.forget(ORG, "mem:org:acme:81")
    await indexed.erase(ORG, "mem:org:acme:82")
    assert await indexed.write(ORG, [fact("last")], cap=5) == WriteCounts(inserted=1, evicted=76)
    numbers = sql(url, "SELECT DISTINCT seq FROM record_terms ORDER BY seq")
    assert numbers == sql(url, "SELECT seq FROM records WHERE status = 'active' ORDER BY seq")
    assert len(numbers) == 5
    assert texts(await found(indexed, ORG, "last")) == ["last"]


async def test_words_of_any_form_and_length_are_in_the_index(indexed: PostgresStore) -> None:
    long = "w" * 4_000
    await indexed.write(
        ORG, [fact("Ümläute are fine, deploying too"), fact(long), fact("東京都で会議"), fact("a 'b' \\c")]
    )
    assert texts(await found(indexed, ORG, "deploying umlaute", 1)) == ["Ümläute are fine, deploying too"]
    assert texts(await found(indexed, ORG, long)) == [long]
    assert await found(indexed, ORG, long[:-1]) == [], "cut off alike, which the ranker sees"
    for odd in ("'b' & | ! :* <->", "\x00 \ud800", "東京"):
        await found(indexed, ORG, odd)


async def test_the_index_is_made_anew_with_the_terms_of_a_later_version(indexed: PostgresStore, url: str) -> None:
    await indexed.forget(ORG, "mem:org:acme:1")
    sql(url, "UPDATE scopes SET terms_version = 0")
    sql(url, "UPDATE records SET terms = 'nonsense'")
    sql(url, "UPDATE record_terms SET term = 'nonsense' WHERE NOT is_word AND term = 'kubernet'")
    assert texts(await found(indexed, ORG, "kubernetes")) == ["kubernetes rollback runbook"]
    assert sql(url, "SELECT count(*) FROM record_terms WHERE term = 'nonsense' OR seq = 1") == [(0,)]


async def test_the_index_is_asked_for_the_longest_words_only(indexed: PostgresStore) -> None:
    """Criterion: a query of more than 24 distinct tokens keeps the longest."""
    words = [f"distinctive{number:02}" for number in range(MATCH_TOKENS)]
    await indexed.write(ORG, [fact("zz"), fact(f"the {words[-1]}")])
    assert texts(await found(indexed, ORG, " ".join(["zz", *words]))) == [f"the {words[-1]}"]


async def test_what_stands_and_what_lies_close_comes_along(indexed: PostgresStore) -> None:
    await indexed.write(ORG, [replace(fact(f"rule {number}"), is_standing=True) for number in range(3)])
    assert texts(await standing(indexed, ORG, 2)) == ["rule 2", "rule 1"]
    await indexed.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (1.0, 0.0), "mem:org:acme:1": (0.0, 1.0)})
    retrieved = await indexed.retrieve(ORG, Query("rule", 8, Vector(MODEL, (1.0, 0.0)), standing=1))
    assert {"rule 0", "rule 1", "rule 2"} <= {hit.record.text for hit in retrieved.hits}
    assert texts(retrieved.standing) == ["rule 2"]


async def test_a_scope_that_outgrows_memory_gets_its_index_and_loses_it_with_the_scope(
    url: str, clock: StoppedClock
) -> None:
    async with opened(url, clock) as store:
        await store.write(USER, [fact("kubernetes rollback runbook")])
        await store.write(ORG, [fact("kubernetes rollback runbook")])
        assert len(await found(store, ORG, "kubernetes")) == 1
        await store.write(ORG, [replace(fact(f"cluster note {number}"), keywords=()) for number in range(WHOLE_POOL)])
        assert sql(url, "SELECT key FROM scopes WHERE is_indexed") == [(ORG,)]
        assert sql(url, "SELECT count(DISTINCT (scope, seq)) FROM record_terms") == [(WHOLE_POOL + 1,)]
        assert [each.use_count for each in await found(store, ORG, "kubernetes rollback")] == [2]
        assert (await store.erase(ORG)).records == WHOLE_POOL + 1
        assert sql(url, "SELECT count(*) FROM record_terms") == [(0,)]
        assert texts(await found(store, USER, "kubernetes")) == ["kubernetes rollback runbook"]


async def test_only_so_many_records_of_idle_scopes_stay_in_memory(url: str, clock: StoppedClock) -> None:
    async with opened(url, clock, Bounds(records=30)) as store:
        for number in range(12):
            await store.write(f"repo:{number}", [fact(f"deploy {each}") for each in range(5)])
            await found(store, f"repo:{number}", "deploy")
            assert store.scopes.weight <= 30
        assert len(store.scopes) == 5
        await asyncio.gather(*(found(store, f"repo:{number}", "deploy") for number in range(12)))
        assert store.scopes.weight <= 30
        await store.erase_thread("slack:C1:1.0")
        assert store.scopes.weight == len(store.scopes) == 0


HOT: dict[str, tuple[LiteralString, Mapping[str, object]]] = {
    "check": (CHANGED, {"key": "repo:7", "version": 5_000, "epoch": 7}),
    "load": (WHOLE, {"key": "repo:7"}),
    "count": (COUNT_USE, {"scope": 7, "sequences": [1, 2, 3], "now": "2026-11-29T12:00:00Z"}),
    "index": (
        INDEXED,
        {"scope": 7, "words": ["note"], "terms": ["note"], "size": 50, "closest": [1, 2], "standing": 5},
    ),
    "touched": (TOUCHED, {"scope": 7, "norms": [b"a", b"b"], "sequences": [1, 2, 3]}),
    "get": (GET, {"key": "repo:7", "sequences": [1, 2, 3]}),
    "list": (LIST, {"key": "repo:7", "before": 50, "kind": None, "limit": 8}),
}


@pytest.fixture(scope="module")
def crowd(_servers: Callable[[], PostgresServer]) -> Iterator[str]:
    """Six hundred scopes of thirty records: enough for the planner to care. For those who write nothing."""
    with _servers().lent() as url:
        asyncio.run(_made(url))
        _fill(url)
        yield url


@pytest.fixture
def own_crowd(crowd: str, postgres: PostgresServer) -> Iterator[str]:
    with postgres.lent(name_of(crowd)) as url:
        yield url


async def _made(url: str) -> None:
    async with opened(url, StoppedClock()):
        """Its tables are there from now on."""


def _fill(url: str) -> None:
    sql(
        url,
        "INSERT INTO scopes (id, key, epoch, version, terms_version) OVERRIDING SYSTEM VALUE"
        " SELECT n, 'repo:' || n, n, n, 1 FROM generate_series(1, 600) AS n",
    )
    sql(
        url,
        "INSERT INTO records SELECT scope, seq, scope * 30 + seq, decode(md5(scope || '.' || seq), 'hex'), 'fact',"
        " 'note ' || seq, '{}', 'note', 'note', 't', NULL, NULL, NULL, now(), NULL, NULL, false, 'active'"
        " FROM generate_series(1, 600) AS scope, generate_series(0, 29) AS seq",
    )
    sql(url, "INSERT INTO uses SELECT scope, seq, 1, now() FROM records")
    sql(url, "INSERT INTO record_terms SELECT scope, seq, false, 'note' FROM records")
    sql(url, "ANALYZE")


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("name", HOT)
def test_every_statement_of_a_search_and_a_write_reads_one_scope_by_an_index(crowd: str, name: str, mode: str) -> None:
    prepare, explain = _explaining(name)
    options = f"-c search_path=switchboard_memory -c plan_cache_mode={mode}"
    with psycopg.connect(crowd, options=options) as connection:
        connection.execute(prepare)
        row = connection.execute(explain).fetchone()
        connection.rollback()
    assert row is not None
    _require_one_scope(row[0][0]["Plan"])


@pytest.mark.parametrize("name", HOT)
async def test_what_was_planned_before_anything_was_used_reads_one_scope_once_much_was(
    own_crowd: str, name: str
) -> None:
    """A server keeps its plans until its statistics change, and those of a table that was empty say that it is."""
    sql(own_crowd, "DELETE FROM uses")
    sql(own_crowd, "VACUUM (ANALYZE) uses")
    prepare, explain = _explaining(name)

    async def planned(connection: Connection) -> dict[str, Any]:
        await connection.execute(prepare)
        row = await (await connection.execute(explain)).fetchone()
        assert row is not None
        return row[0][0]["Plan"]

    _require_one_scope(await Server(own_crowd, Bounds()).alone(planned, deadline_s=20.0))


async def test_a_search_is_planned_once(url: str, clock: StoppedClock) -> None:
    """Planning takes longer than asking what has changed."""
    async with opened(url, clock, Bounds(connections=1)) as store:
        await store.write(ORG, [fact("deploys need approval")])
        for _ in range(30):
            await found(store, ORG, "deploys")
        assert await store.server.read(_plans) == (0, 2)


async def _plans(connection: Connection) -> tuple[Any, ...] | None:
    """How often statements of the connection were planned for their values, and of how many that is known."""
    cursor = await connection.execute(
        "SELECT sum(custom_plans)::int, count(*)::int FROM pg_prepared_statements WHERE generic_plans > 9"
    )
    return await cursor.fetchone()


def _explaining(name: str) -> tuple[bytes, Composed]:
    """Statements that have the one of that name prepared, and tell how it is carried out."""
    statement, values = HOT[name]
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
    given = SQL(", ").join(Literal(values[each]) for each in names)
    return f"PREPARE hot AS {numbered}".encode(), SQL("EXPLAIN (FORMAT JSON) EXECUTE hot ({})").format(given)


def _require_one_scope(plan: dict[str, Any]) -> None:
    read = list(_reads(plan))
    assert read
    for node in read:
        led_by = "key" if node["Relation Name"] == "scopes" and "key" in json.dumps(node) else "scope"
        led_by = "id" if "(id = " in node.get("Index Cond", "") else led_by
        assert f"({led_by} = " in node["Index Cond"], node


def _reads(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a plan that read a table; a bitmap's condition is that of the index below it."""
    children = cast("list[dict[str, Any]]", node.get("Plans", []))
    if node["Node Type"] == "Bitmap Heap Scan":
        for below in _indexes(children):
            yield {**node, "Index Cond": below.get("Index Cond", "")}
        return
    if "Relation Name" in node and node["Node Type"] != "ModifyTable":
        yield {"Index Cond": "", **node}
    for child in children:
        yield from _reads(child)


def _indexes(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if node["Node Type"] == "Bitmap Index Scan":
            yield node
        yield from _indexes(node.get("Plans", []))
