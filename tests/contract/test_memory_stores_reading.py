"""What every memory store promises about searching, listing and fetching (specification, sections 5, 8, 17, 24, 26)."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.record import MemoryCandidate, WriteCounts
from memory.store import EraseReceipt, MemoryStore, Query, RankerName, Retrieved, StoreUnavailableError
from memory.stores.null import NullStore
from tests.memory_records import ORG, SHELVES, THREAD, USER, Shelf, fact, found, kept, searched, standing, texts


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[MemoryStore]:
    async with shelf.open() as opened:
        yield opened


async def test_the_null_store_is_empty_and_takes_nothing() -> None:
    """Criterion: NullMemoryStore: retrieve → [], write no-op; list [], forget false (sections 1, 2)."""
    store: MemoryStore = NullStore()
    assert await store.write(ORG, [fact("deploys need approval")]) == WriteCounts()
    assert await store.retrieve(ORG, Query("deploys", 8)) == Retrieved()
    assert store.retrieve_at_once(ORG, Query("deploys", 8)) == Retrieved()
    assert [*await store.list(ORG, 8), *await standing(store, ORG, 8), *await store.get(ORG, ["mem:org:acme:0"])] == []
    assert await store.forget(ORG, "mem:org:acme:0") is False
    assert await store.erase(ORG) + await store.erase_thread(THREAD) == EraseReceipt()
    await store.aclose()


async def test_a_search_sees_one_scope_only(store: MemoryStore) -> None:
    """Criterion: InMemoryMemoryStore.retrieve: scope-partitioned (section 4)."""
    await store.write(ORG, [fact("deploys need approval")])
    await store.write(USER, [fact("deploys are scary")])
    assert texts(await found(store, ORG, "deploys")) == ["deploys need approval"]
    assert texts(await found(store, USER, "deploys")) == ["deploys are scary"]
    assert await found(store, "user:slack:U2", "deploys") == []


async def test_a_record_that_matches_nothing_is_never_found(store: MemoryStore) -> None:
    """Criterion: relevance-gated, whole-token matching (section 5, traps 2 and 33)."""
    await store.write(ORG, [fact("the command needs approval"), fact("lunch is at noon")])
    assert texts(await found(store, ORG, "lunch")) == ["lunch is at noon"]
    for nothing in ("kubernetes", "comm", "", "?!", " \t"):
        assert await found(store, ORG, nothing) == []


async def test_a_use_is_counted_on_exactly_the_records_returned(shelf: Shelf) -> None:
    """Criterion: bumps lastUsedAt/useCount on returned rows only (section 5, trap 11)."""
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploy deploy friday"), fact("deploy monday"), fact("lunch at noon")])
        used_at = shelf.clock.pass_by()
        [hit] = (await store.retrieve(ORG, Query("deploy friday", 1))).hits
        assert (hit.record.text, hit.record.use_count, hit.record.last_used_at) == ("deploy deploy friday", 1, used_at)
        assert hit.score > 0
        counts = {each.text: (each.use_count, each.last_used_at) for each in await kept(store)}
        assert counts == {
            "deploy deploy friday": (1, used_at),
            "deploy monday": (0, None),
            "lunch at noon": (0, None),
        }


async def test_uses_add_up_over_searches(shelf: Shelf) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploys need approval")])
        for uses in range(1, 6):
            now = shelf.clock.pass_by(timedelta(hours=1))
            assert [(each.use_count, each.last_used_at) for each in await found(store, ORG, "deploys")] == [(uses, now)]
        [only] = await kept(store)
        assert (only.use_count, only.last_used_at) == (5, shelf.clock.at)


@pytest.mark.parametrize("earlier", [0, 1])
async def test_who_asks_at_once_is_told_and_counted_as_who_waits(shelf: Shelf, earlier: int) -> None:
    """What comes at once is never half an answer, and what does not counts as no use."""
    async with shelf.open() as store:
        await store.write(ORG, [replace(fact("deploys on Friday"), is_standing=True), fact("deploy"), fact("lunch")])
        query = Query("deploys on Friday", 1, standing=2)
        for uses in range(earlier):
            assert len((await store.retrieve(ORG, query)).hits) == uses + 1
        for uses in range(earlier, 4):
            now = shelf.clock.pass_by()
            retrieved = await searched(store, ORG, query)
            [record] = [hit.record for hit in retrieved.hits]
            assert (record.text, record.use_count, record.last_used_at) == ("deploys on Friday", uses + 1, now)
            assert [(each.text, each.use_count) for each in retrieved.standing] == [("deploys on Friday", uses)]
            assert not retrieved.is_degraded
        assert [each.use_count for each in await kept(store)] == [4, 0, 0]


async def test_who_asks_at_once_sees_one_scope_only_and_every_change(store: MemoryStore) -> None:
    query = Query("deploys", 8)
    await store.write(ORG, [fact("deploys need approval")])
    await store.retrieve(ORG, query)
    assert (await searched(store, USER, query)).hits == ()
    await store.write(ORG, [fact("deploys are scary")])
    assert len((await searched(store, ORG, query)).hits) == 2
    await store.forget(ORG, "mem:org:acme:0")
    assert texts([hit.record for hit in (await searched(store, ORG, query)).hits]) == ["deploys are scary"]
    await store.erase(ORG)
    assert (await searched(store, ORG, query)).hits == ()


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_nothing_finds_nothing_and_counts_nothing(store: MemoryStore, limit: int) -> None:
    await store.write(ORG, [replace(fact("deploys need approval"), is_standing=True)])
    assert await found(store, ORG, "deploys", limit) == []
    assert [*await store.list(ORG, limit), *await standing(store, ORG, limit)] == []
    assert [each.use_count for each in await kept(store)] == [0]


async def test_hits_are_ranked_and_cut_at_the_limit(store: MemoryStore) -> None:
    """Criterion: ranked, limited (sections 5, 17)."""
    await store.write(ORG, [fact("red"), fact("red green"), fact("red green blue"), fact("yellow")])
    assert texts(await found(store, ORG, "red green blue", 2)) == ["red green blue", "red green"]


async def test_equally_good_hits_stay_in_the_order_they_were_learned(store: MemoryStore) -> None:
    """Trap 5."""
    await store.write(ORG, [fact(f"deploy {word}") for word in ("one", "two", "three")])
    assert texts(await found(store, ORG, "deploy")) == ["deploy one", "deploy two", "deploy three"]


async def test_a_listing_is_newest_first_limited_and_counts_no_use(store: MemoryStore) -> None:
    """Criterion: Stores: list = active, newest first, limited, per scope, no usage bump (sections 24, 26)."""
    await store.write(ORG, [fact(f"deploy {number}") for number in range(5)])
    await store.write(USER, [fact("mine")])
    assert texts(await store.list(ORG, 3)) == ["deploy 4", "deploy 3", "deploy 2"]
    assert texts(await store.list(ORG, 50)) == [f"deploy {number}" for number in (4, 3, 2, 1, 0)]
    assert {(each.use_count, each.last_used_at) for each in await store.list(ORG, 50, query="deploy")} == {(0, None)}


async def test_a_listing_can_be_filtered_by_words_kind_and_place(store: MemoryStore) -> None:
    """Criterion: list(scope, limit, query) keeps only whole-token hits, limit after filter (section 24)."""
    await store.write(ORG, [fact("deploy one"), MemoryCandidate("summary", "deploy two", THREAD), fact("lunch")])
    await store.write(ORG, [replace(fact("three"), keywords=("deploy",))])
    assert texts(await store.list(ORG, 50, query="deploy")) == ["three", "deploy two", "deploy one"]
    assert texts(await store.list(ORG, 1, query="lunch")) == ["lunch"]
    assert texts(await store.list(ORG, 50, kind="summary")) == ["deploy two"]
    assert texts(await store.list(ORG, 50, before=2)) == ["deploy two", "deploy one"]
    assert texts(await store.list(ORG, 1, query="deploy", kind="fact", before=3)) == ["deploy one"]
    for nothing in ("depl", "?!", " "):
        assert await store.list(ORG, 50, query=nothing) == []


async def test_extreme_limits_and_places_are_legal(store: MemoryStore) -> None:
    await store.write(ORG, [fact("deploys need approval")])
    huge = 10**30
    assert len(await store.list(ORG, huge, before=huge)) == 1
    assert await store.list(ORG, huge, before=-huge) == []
    assert len(await standing(store, ORG, huge)) == 0
    assert len(await found(store, ORG, "deploys", huge)) == 1


async def test_records_are_fetched_by_id_in_the_order_asked_for(store: MemoryStore) -> None:
    await store.write(ORG, [fact("one"), fact("two"), fact("three")])
    await store.write(USER, [fact("mine")])
    await store.forget(ORG, "mem:org:acme:1")
    odd = ["", "x", "mem:org:acme:", "mem:org:acme:02", "mem:org:acme:-1", "mem:org:acme:³", f"mem:org:acme:{10**40}"]
    ids = ["mem:org:acme:2", "mem:user:slack:U1:0", "mem:org:acme:1", *odd, "mem:org:acme:0", "mem:org:acme:2"]
    fetched = await store.get(ORG, ids)
    assert texts(fetched) == ["three", "one"]
    assert [each.use_count for each in await kept(store)] == [0, 0]


async def test_standing_records_come_newest_first_without_a_count(store: MemoryStore) -> None:
    rules = [replace(fact(f"rule {number}"), is_standing=True) for number in range(4)]
    await store.write(ORG, [fact("deploys need approval"), *rules])
    await store.forget(ORG, "mem:org:acme:4")
    assert texts(await standing(store, ORG, 2)) == ["rule 2", "rule 1"]
    assert {each.use_count for each in await kept(store)} == {0}


async def test_standing_records_come_along_with_what_is_found_as_they_were_before(store: MemoryStore) -> None:
    rules = [replace(fact(f"rule {number}"), is_standing=True) for number in range(3)]
    await store.write(ORG, [*rules, fact("deploys need approval")])
    for uses in range(3):
        retrieved = await store.retrieve(ORG, Query("rule 1", 1, standing=2))
        assert [(hit.record.text, hit.record.use_count) for hit in retrieved.hits] == [("rule 1", uses + 1)]
        assert [(each.text, each.use_count) for each in retrieved.standing] == [("rule 2", 0), ("rule 1", uses)]
    assert (await store.retrieve(ORG, Query("rule 1", 1))).standing == ()


async def test_nothing_known_is_nothing_found(store: MemoryStore) -> None:
    assert await store.retrieve(ORG, Query("deploys", 8)) == Retrieved()
    assert [*await store.list(ORG, 8), *await standing(store, ORG, 8), *await store.get(ORG, ["mem:org:acme:0"])] == []
    assert await store.forget(ORG, "mem:org:acme:0") is False
    assert await store.erase(ORG) + await store.erase(ORG, "mem:org:acme:0") == EraseReceipt()
    assert await store.erase_thread(THREAD) == EraseReceipt()


@pytest.mark.parametrize(("ranker", "hits"), [("keyword", []), ("relevance", ["deploys need approval"])])
async def test_a_query_may_name_another_ranker(store: MemoryStore, ranker: RankerName, hits: list[str]) -> None:
    await store.write(ORG, [fact("deploys need approval")])
    for _ in range(2):
        named = await store.retrieve(ORG, Query("deployed", 8, ranker=ranker))
        assert texts([hit.record for hit in named.hits]) == hits


async def test_a_query_that_names_none_gets_the_stores_own_ranker(shelf: Shelf) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploys need approval")])
        await store.retrieve(ORG, Query("deployed", 8, ranker="keyword"))
        own = ["deploys need approval"] if shelf.kind.endswith("relevance") else []
        assert texts(await found(store, ORG, "deployed")) == own


async def test_a_closed_store_raises_on_everything(shelf: Shelf) -> None:
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploys need approval")])
        await store.aclose()
        await store.aclose()
        for call in (
            lambda: store.retrieve(ORG, Query("deploys", 8)),
            lambda: store.get(ORG, ["mem:org:acme:0"]),
            lambda: store.write(ORG, []),
            lambda: store.list(ORG, 8),
            lambda: store.forget(ORG, "mem:org:acme:0"),
            lambda: store.erase(ORG),
            lambda: store.erase_thread(THREAD),
            lambda: store.unembedded(ORG, "test/model", 8),
            lambda: store.keep_vectors(ORG, "test/model", {}),
        ):
            with pytest.raises(StoreUnavailableError, match="closed"):
                await call()
        with pytest.raises(StoreUnavailableError, match="closed"):
            store.retrieve_at_once(ORG, Query("deploys", 8))
