"""What every memory store promises about counting everything in it, taking it out and putting it back."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.engine import put_back
from memory.record import MemoryRecord, Status, WriteCounts
from memory.store import MemoryArchive, Query, RecordConflictError, Stats, StoreUnavailableError
from memory.stores.null import NullStore
from tests.memory_records import EPOCH, ORG, SHELVES, USER, Shelf, VectorStore, fact, found, kept, record, texts

MODEL = "test/small"
SCOPES = [f"user:slack:U{number}" for number in range(7)]
HUGE = 10**30


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[VectorStore]:
    async with shelf.open() as opened:
        yield opened


async def retire_in_every_way(store: VectorStore) -> None:
    """Seven records, numbered from 0: one of each status, and two active ones."""
    await store.write(ORG, [fact("one"), fact("two"), fact("The PR is merged"), fact("four"), fact("five")])
    await store.erase(ORG, "mem:org:acme:4")
    await store.forget(ORG, "mem:org:acme:0")
    await store.write(ORG, [replace(fact("2"), supersedes="mem:org:acme:1", confidence=0.25)])
    await store.sweep(ORG)
    await found(store, ORG, "2")
    await store.write(ORG, [replace(fact("seven"), is_standing=True, author="Ada", keywords=("k", "é"))], cap=2)


STATUSES = [Status.FORGOTTEN, Status.SUPERSEDED, Status.SWEPT, Status.EVICTED, Status.ACTIVE, Status.ACTIVE]


async def test_every_scope_that_has_a_record_is_named_page_by_page(store: VectorStore) -> None:
    for key in (*SCOPES, ORG):
        await store.write(key, [fact("one")])
    await store.forget(SCOPES[3], f"mem:{SCOPES[3]}:0")
    await store.erase(SCOPES[5])
    await store.erase(SCOPES[6], f"mem:{SCOPES[6]}:0")
    await found(store, "channel:slack:C1", "one")
    everything = list(await store.scope_keys(100))
    assert sorted(everything) == sorted([*SCOPES[:5], ORG])
    assert list(await store.scope_keys(HUGE)) == everything
    pages: list[str] = []
    while page := await store.scope_keys(2, after=pages[-1] if pages else None):
        assert len(page) <= 2
        pages += page
    assert pages == everything


async def test_a_walk_over_the_scopes_goes_on_behind_one_that_is_gone(store: VectorStore) -> None:
    for key in SCOPES:
        await store.write(key, [fact("one")])
    first, second, *others = await store.scope_keys(100)
    await store.erase(second)
    assert list(await store.scope_keys(100, after=second)) == others
    assert list(await store.scope_keys(100, after=first)) == others
    assert list(await store.scope_keys(100, after=others[-1])) == []


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_of_nothing_takes_nothing_out(store: VectorStore, limit: int) -> None:
    await store.write(ORG, [fact("one")])
    assert [*await store.scope_keys(limit), *await store.records(ORG, limit)] == []


async def test_records_of_every_status_come_out_oldest_first(store: VectorStore) -> None:
    await retire_in_every_way(store)
    records = await store.records(ORG, 100)
    assert [each.sequence for each in records] == [0, 1, 2, 3, 5, 6]
    assert [each.status for each in records] == STATUSES
    assert texts(records) == ["one", "two", "The PR is merged", "four", "2", "seven"]
    assert [put_back(ORG, each) for each in records[4:]] == await kept(store)
    assert (records[4].use_count, records[4].supersedes, records[4].confidence) == (1, "mem:org:acme:1", 0.25)


async def test_records_come_out_page_by_page_and_are_not_used_by_it(store: VectorStore) -> None:
    await retire_in_every_way(store)
    everything = list(await store.records(ORG, HUGE, after=-HUGE))
    assert list(await store.records(ORG, HUGE, after=HUGE)) == []
    pages: list[MemoryRecord] = []
    while page := await store.records(ORG, 4, after=pages[-1].sequence if pages else None):
        assert len(page) <= 4
        pages += page
    assert pages == everything == list(await store.records(ORG, 100))
    assert [each.sequence for each in await store.records(ORG, 100, after=4)] == [5, 6]
    assert [each.sequence for each in await store.records(ORG, 1, after=0)] == [1]


async def test_an_unknown_scope_has_nothing_to_take_out_and_is_not_made_by_asking(store: VectorStore) -> None:
    assert list(await store.records(ORG, 10)) == []
    assert await store.stats(ORG) == await store.stats() == Stats()
    assert await store.restore(ORG, []) == 0
    assert list(await store.scope_keys(10)) == []


async def test_what_is_put_back_elsewhere_is_exactly_what_was_taken_out(shelf: Shelf, tmp_path: Path) -> None:
    other = Shelf(shelf.kind, tmp_path / "other", shelf.clock)
    async with shelf.open() as store, other.open() as target:
        await retire_in_every_way(store)
        records = await store.records(ORG, 100)
        shelf.clock.pass_by()
        assert await target.restore(ORG, records) == 6
        assert list(await target.records(ORG, 100)) == list(records)
        assert await target.restore(ORG, records) == 0, "a second time changes nothing"
        assert list(await target.records(ORG, 100)) == list(records)
        assert await kept(target) == await kept(store)
        assert await target.stats() == await store.stats()
        words = "one two four 2 seven merged"
        assert await found(target, ORG, words) == await found(store, ORG, words)


async def test_restored_active_records_are_found_and_retired_ones_are_not(store: VectorStore) -> None:
    retired = [status for status in Status if status is not Status.ACTIVE]
    records = [record(number, f"deploy {status}") for number, status in enumerate(retired, start=1)]
    gone = [replace(each, status=status) for each, status in zip(records, retired, strict=True)]
    standing = replace(record(0, "deploy on friday"), is_standing=True)
    assert await store.restore(ORG, [*gone, standing]) == len(retired) + 1
    hits = await store.retrieve(ORG, Query("deploy friday", 50, standing=5))
    assert texts([hit.record for hit in hits.hits]) == texts(hits.standing) == ["deploy on friday"]
    assert texts(await store.list(ORG, 50, query="deploy")) == ["deploy on friday"]
    assert texts(await store.unembedded(ORG, MODEL, 50)) == ["deploy on friday"]
    assert texts(await store.get(ORG, [each.id for each in (*gone, standing)])) == ["deploy on friday"]


async def test_terms_are_computed_where_a_record_is_put_back(store: VectorStore) -> None:
    await store.write(ORG, [replace(fact("deploys need approval"), author="Ada")])
    [whole] = await store.records(ORG, 1)
    assert await store.restore(ORG, [replace(whole, terms=frozenset())]) == 0
    assert await store.restore(ORG, [replace(whole, terms=frozenset({"stale"}), use_count=7)]) == 1
    assert list(await store.records(ORG, 1)) == [replace(whole, use_count=7)]


async def test_a_record_whose_id_is_there_takes_its_place(store: VectorStore) -> None:
    await store.write(ORG, [fact("deploys are on friday"), fact("lunch is at noon")])
    await found(store, ORG, "deploys")
    await store.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (1.0, 2.0), "mem:org:acme:1": (1.0, 2.0)})
    first, second = await store.records(ORG, 2)
    later = replace(first, text="deploys are on monday", use_count=9, last_used_at=EPOCH + timedelta(days=9))
    assert await store.restore(ORG, [later, second]) == 1
    assert texts(await kept(store)) == ["deploys are on monday", "lunch is at noon"]
    [back, _] = await store.records(ORG, 2)
    assert (back.use_count, back.last_used_at) == (9, EPOCH + timedelta(days=9))
    assert texts(await found(store, ORG, "friday monday")) == ["deploys are on monday"]
    assert texts(await store.unembedded(ORG, MODEL, 8)) == ["deploys are on monday"], "its vector was of other words"
    assert await store.write(ORG, [fact("deploys are on friday")]) == WriteCounts(inserted=1)


async def test_a_record_is_brought_back_to_life_and_laid_to_rest_by_its_status(store: VectorStore) -> None:
    await store.write(ORG, [fact("deploy one"), fact("deploy two")])
    before = await store.records(ORG, 2)
    await store.forget(ORG, "mem:org:acme:0")
    assert await store.restore(ORG, before) == 1
    assert texts(await found(store, ORG, "deploy")) == ["deploy one", "deploy two"]
    assert await store.restore(ORG, [replace(each, status=Status.EVICTED) for each in before]) == 2
    assert await found(store, ORG, "deploy") == await kept(store) == []


async def test_ids_that_are_given_later_lie_above_restored_ones(store: VectorStore) -> None:
    await store.write(ORG, [fact("one")])
    assert await store.restore(ORG, [record(41, "forty-one"), record(7, "seven")]) == 2
    await store.write(ORG, [fact("two")])
    assert [each.sequence for each in await kept(store)] == [0, 7, 41, 42]
    await store.erase(ORG, "mem:org:acme:42")
    await store.write(ORG, [fact("three")])
    assert (await kept(store))[-1].id == "mem:org:acme:43"


async def test_putting_back_applies_no_cap(shelf: Shelf) -> None:
    async with shelf.open(cap=2) as store:
        assert await store.restore(ORG, [record(number, f"number {number}") for number in range(5)]) == 5
        assert len(await kept(store)) == 5
        assert (await store.write(ORG, [fact("one more")])).evicted == 4


async def test_words_the_scope_has_under_another_id_are_a_conflict_that_changes_nothing(store: VectorStore) -> None:
    await store.write(ORG, [fact("use yarn"), fact("use npm")])
    before = await store.records(ORG, 10)
    with pytest.raises(RecordConflictError) as refusal:
        await store.restore(ORG, [record(7, "use bun"), replace(before[1], use_count=3), record(9, " USE  yarn")])
    assert "yarn" not in str(refusal.value)
    assert list(await store.records(ORG, 10)) == list(before)
    await store.write(ORG, [fact("next")])
    assert (await kept(store))[-1].sequence == 2


async def test_a_retired_record_and_a_correction_may_have_words_the_scope_has(store: VectorStore) -> None:
    await store.write(ORG, [fact("use yarn")])
    again = [
        replace(record(5, "use yarn"), status=Status.FORGOTTEN),
        replace(record(6, "use yarn"), supersedes="mem:org:acme:5"),
    ]
    assert await store.restore(ORG, again) == 2
    assert [each.sequence for each in await kept(store)] == [0, 6]


async def test_records_may_change_places(store: VectorStore) -> None:
    """What counts for a conflict is how the scope is afterwards, not the order of what is put back."""
    await store.write(ORG, [fact("use yarn"), fact("use npm")])
    first, second = await store.records(ORG, 2)
    swapped = [replace(second, id=first.id), replace(first, id=second.id)]
    assert await store.restore(ORG, swapped) == 2
    assert texts(await kept(store)) == ["use npm", "use yarn"]
    assert [each.id for each in await found(store, ORG, "npm")] == [first.id]
    heir = [record(8, "use npm"), replace(swapped[0], status=Status.FORGOTTEN)]
    assert await store.restore(ORG, heir) == 2
    assert [each.sequence for each in await kept(store)] == [1, 8]


async def test_of_one_record_given_twice_the_last_counts_once(store: VectorStore) -> None:
    assert await store.restore(ORG, [record(1, "use yarn"), record(2), record(1, "use npm")]) == 2
    assert texts(await kept(store)) == ["use npm", "deploys need approval"]


@pytest.mark.parametrize(
    "bad",
    [
        replace(record(1), scope_key=USER),
        replace(record(1), id="mem:user:slack:U1:1"),
        replace(record(1), id="mem:user:slack:U1:1", scope_key=USER),
        *(
            replace(record(1), id=name)
            for name in ("", "1", "mem:org:acme:", "mem:org:acme:x", "mem:org:acme:-1", "mem:org:acme:01")
        ),
        replace(record(1), id="mem:org:acme:1:2"),
        replace(record(1), id=f"mem:org:acme:{HUGE}"),
        # What is written next would have a number that no id may have, and could never be forgotten.
        replace(record(1), id=f"mem:org:acme:{10**18 - 1}"),
        replace(record(1), text="x" * 4_001),
        replace(record(1), text=" "),
        replace(record(1), keywords=("k" * 65,)),
        replace(record(1), keywords=("k",) * 21),
        replace(record(1), source_thread_key=""),
        replace(record(1), author="x" * 201),
        replace(record(1), supersedes="x" * 201),
        replace(record(1), confidence=1.5),
        # What a store keeps has neither: it puts other characters in their place.
        replace(record(1), text="a\x00b"),
        replace(record(1), keywords=("fine", "\ud800")),
        replace(record(1), source_thread_key="slack:\x00"),
        replace(record(1), author="Ad\x00a"),
    ],
)
async def test_a_record_of_another_scope_or_beyond_the_caps_is_refused_with_all(
    store: VectorStore, bad: MemoryRecord
) -> None:
    with pytest.raises(ValueError, match=r"must|at most|scope") as refusal:
        await store.restore(ORG, [record(0, "good"), bad])
    assert "xxx" not in str(refusal.value)
    assert list(await store.scope_keys(10)) == []


@pytest.mark.parametrize("key", ["team-42", "x", "a:b:7", "mem:org:acme:1"])
async def test_whatever_the_name_of_a_scope_what_is_written_to_it_can_be_put_back(store: VectorStore, key: str) -> None:
    """Section 16: a memory service takes any visible text."""
    await store.write(key, [fact("one"), fact("two")])
    records = [replace(each, use_count=3) for each in await store.records(key, 9)]
    assert await store.restore(key, records) == 2
    assert [each.use_count for each in await store.records(key, 9)] == [3, 3]


async def test_what_there_is_can_be_counted(store: VectorStore) -> None:
    await retire_in_every_way(store)
    await store.write(USER, [fact("mine"), fact("mine too")])
    await store.forget(USER, f"mem:{USER}:0")
    once_each = dict.fromkeys((Status.FORGOTTEN, Status.SUPERSEDED, Status.SWEPT, Status.EVICTED), 1)
    assert await store.stats(ORG) == Stats(1, {**once_each, Status.ACTIVE: 2})
    assert await store.stats(USER) == Stats(1, {Status.ACTIVE: 1, Status.FORGOTTEN: 1})
    assert await store.stats() == Stats(2, {**once_each, Status.ACTIVE: 3, Status.FORGOTTEN: 2})
    await store.erase(ORG)
    assert await store.stats() == await store.stats(USER)
    await store.erase(USER, f"mem:{USER}:0")
    await store.erase(USER, f"mem:{USER}:1")
    assert await store.stats() == await store.stats(USER) == Stats()


async def test_a_closed_store_gives_nothing_out_and_takes_nothing_back(store: VectorStore) -> None:
    await store.aclose()
    for call in (
        lambda: store.scope_keys(8),
        lambda: store.records(ORG, 8),
        lambda: store.restore(ORG, []),
        lambda: store.restore(ORG, [record(1)]),
        store.stats,
        lambda: store.stats(ORG),
    ):
        with pytest.raises(StoreUnavailableError, match="closed"):
            await call()


def test_the_null_store_is_no_archive() -> None:
    assert not isinstance(NullStore(), MemoryArchive)
