"""Everything in one store brought into another one, whatever happens on the way, and compared afterwards."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.comparison import Outcome
from memory.moving import copy
from memory.record import Status, WriteCounts
from memory.service.wire import MOST_RECORDS
from memory.store import RecordConflictError, StoreDamagedError, StoreFullError, StoreUnavailableError
from memory.stores.sqlite_connections import path_of
from memory.verification import verify
from memory.walking import IN_A_ROW, PAGE
from tests.memory_records import EPOCH, ORG, USER, Shelf, VectorStore, fact, found, record, sql
from tests.moving_house import Failing, Wary, Watched, everything, two_stores

SCOPES = [f"user:slack:U{number}" for number in range(12)]
EACH = 60
"""Records of a scope: two batches."""


async def fill(store: VectorStore) -> None:
    for key in SCOPES:
        await store.write(key, [fact(f"thing {number} of {key}") for number in range(EACH)])


async def live(store: VectorStore) -> None:
    """A scope with a record of each status."""
    await store.write(ORG, [fact("one"), fact("two"), fact("The PR is merged"), fact("four"), fact("five")])
    await store.forget(ORG, "mem:org:acme:0")
    await store.write(ORG, [replace(fact("2"), supersedes="mem:org:acme:1", confidence=0.25, author="Zoë")])
    await store.sweep(ORG)
    await store.write(ORG, [replace(fact("six"), is_standing=True, keywords=("k", "é"))], cap=3)
    await found(store, ORG, "six")


@pytest.mark.parametrize("target", ["inprocess-relevance", "sqlite-keyword"])
async def test_records_of_every_status_arrive_as_they_are(tmp_path: Path, target: str) -> None:
    watch = Watched()
    async with two_stores(tmp_path, "sqlite-relevance", target) as (ours, theirs):
        await live(ours)
        await ours.write(USER, [fact("mine")])
        copied = await copy(ours, theirs, watch)
        verified = await verify(ours, theirs, copied, watch)
        assert (copied.scopes, copied.copied, copied.present, copied.troubles) == (2, 8, 0, ())
        assert (verified.scopes, verified.is_whole, verified.compared.outcomes) == (2, True, {Outcome.SAME: 8})
        assert set(verified.compared.source) == set(Status)
        assert verified.compared.source == verified.compared.target == (await ours.stats()).records
        assert await everything(theirs) == await everything(ours)
        assert (watch.begun, watch.done) == ([("copy", 8), ("verify", 8)], 16)
        assert await theirs.write(USER, [fact("more")]) == WriteCounts(inserted=1)
        assert [each.sequence for each in await theirs.records(USER, 9)] == [0, 1]


async def test_a_copy_that_was_cut_off_goes_on_where_it_stood(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "sqlite-relevance", "sqlite-relevance") as (ours, theirs):
        await fill(ours)
        broken = Wary(theirs, refuses_write=Failing(good=4))
        with pytest.raises(StoreUnavailableError, match="the server has gone"):
            await copy(ours, broken, Watched(), pauses_s=())
        there = await everything(theirs)
        assert 0 < len(there) < len(SCOPES) * EACH
        whole = Wary(theirs)
        copied = await copy(ours, whole, Watched())
        assert copied.present == len(there) == sum(map(len, broken.written))
        written = [each.id for batch in (*broken.written, *whole.written) for each in batch]
        assert (len(written), len(set(written))) == (len(SCOPES) * EACH, len(SCOPES) * EACH)
        assert (await verify(ours, theirs, copied, Watched())).is_whole
        assert await everything(theirs) == await everything(ours)


async def test_a_store_that_is_away_for_a_moment_costs_a_pause(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "inprocess-relevance", "inprocess-relevance") as (ours, theirs):
        await fill(ours)
        shaken = Wary(theirs, refuses_write=Failing(good=11, bad=30))
        copied = await copy(ours, shaken, Watched(), pauses_s=[0.0] * 40)
        assert (copied.copied, copied.present, copied.troubles) == (len(SCOPES) * EACH, 0, ())
        assert (await verify(ours, theirs, copied, Watched())).is_whole


async def test_a_scope_that_cannot_be_read_is_named_and_the_others_are_copied(tmp_path: Path) -> None:
    def refuses(key: str) -> Exception | None:
        return StoreUnavailableError("the file is damaged") if key == SCOPES[3] else None

    async with two_stores(tmp_path, "inprocess-relevance", "inprocess-relevance") as (ours, theirs):
        await fill(ours)
        damaged = Wary(ours, refuses_read=refuses)
        copied = await copy(damaged, theirs, Watched(), pauses_s=())
        verified = await verify(damaged, theirs, copied, Watched(), pauses_s=())
        for troubles in (copied.troubles, verified.troubles):
            assert [(each.scope_key, each.reason) for each in troubles] == [(SCOPES[3], "the file is damaged")]
        assert copied.copied == (len(SCOPES) - 1) * EACH
        assert (verified.is_whole, verified.is_settled, verified.compared.is_whole) == (False, False, True)


async def test_a_store_that_has_gone_is_asked_no_more_than_a_few_times(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "inprocess-relevance", "inprocess-relevance") as (ours, theirs):
        await fill(ours)
        refusing = Failing(good=0)
        with pytest.raises(StoreUnavailableError):
            await copy(ours, Wary(theirs, refuses_write=refusing), Watched(), pauses_s=())
        assert 1_000_000 - refusing.bad <= 2 * IN_A_ROW


async def test_damaged_scopes_are_passed_over_without_a_pause_however_many_there_are(tmp_path: Path) -> None:
    def refuses(key: str) -> Exception | None:
        return StoreDamagedError("the file is damaged") if key != SCOPES[-1] else None

    async with (
        asyncio.timeout(20),
        two_stores(tmp_path, "inprocess-relevance", "inprocess-relevance") as (ours, theirs),
    ):
        await fill(ours)
        damaged = Wary(theirs, refuses_read=refuses)
        copied = await copy(ours, damaged, Watched(), pauses_s=[60.0])
        verified = await verify(ours, damaged, copied, Watched(), pauses_s=[60.0])
    assert copied.copied == EACH
    for troubles in (copied.troubles, verified.troubles):
        assert {each.scope_key for each in troubles} == set(SCOPES[:-1])


async def test_a_full_disk_ends_it_at_once(tmp_path: Path) -> None:
    full = Failing(good=0, fault=lambda: StoreFullError("no room"))
    async with (
        asyncio.timeout(20),
        two_stores(tmp_path, "inprocess-relevance", "inprocess-relevance") as (ours, theirs),
    ):
        await fill(ours)
        with pytest.raises(StoreFullError):
            await copy(ours, Wary(theirs, refuses_write=full), Watched(), pauses_s=[60.0])


async def test_a_second_copy_brings_only_what_has_changed(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "sqlite-relevance", "sqlite-relevance") as (ours, theirs):
        await live(ours)
        await copy(ours, theirs, Watched())
        await ours.forget(ORG, "mem:org:acme:5")
        await ours.write(ORG, [fact("2"), fact("nine")])
        target = Wary(theirs)
        copied = await copy(ours, target, Watched())
        assert (copied.copied, copied.present) == (3, 6)
        assert [each.id for batch in target.written for each in batch] == [f"mem:org:acme:{n}" for n in (5, 7, 8)]
        assert (await verify(ours, theirs, copied, Watched())).is_whole


async def test_a_time_that_lost_its_microseconds_on_the_way_is_the_same(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "sqlite-relevance", "sqlite-relevance") as (ours, theirs):
        exact = replace(record(0), created_at=EPOCH + timedelta(microseconds=1_234), use_count=1, last_used_at=EPOCH)
        await ours.restore(ORG, [exact])
        await theirs.restore(ORG, [replace(exact, created_at=EPOCH + timedelta(milliseconds=1))])
        copied = await copy(ours, theirs, Watched())
        assert (copied.copied, copied.present) == (0, 1)
        assert (await verify(ours, theirs, copied, Watched())).is_whole


async def test_what_only_the_target_has_is_counted_and_stays(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "inprocess-relevance", "sqlite-relevance") as (ours, theirs):
        await ours.write(ORG, [fact("one")])
        await theirs.restore(ORG, [record(7, "seven")])
        await theirs.write(USER, [fact("mine"), fact("too")])
        copied = await copy(ours, theirs, Watched())
        verified = await verify(ours, theirs, copied, Watched())
        assert verified.is_whole
        assert verified.compared.outcomes == {Outcome.SAME: 1, Outcome.EXTRA: 3}
        assert verified.examples == {"mem:org:acme:7": Outcome.EXTRA}
        assert len(await everything(theirs)) == 4


@pytest.mark.parametrize("target", ["inprocess-relevance", "sqlite-relevance"])
async def test_records_the_target_refuses_are_named_and_the_rest_is_copied(tmp_path: Path, target: str) -> None:
    async with two_stores(tmp_path, "inprocess-relevance", target) as (ours, theirs):
        await fill(ours)
        await theirs.restore(
            SCOPES[5], [replace(record(500, f"thing 7 of {SCOPES[5]}"), id=f"mem:{SCOPES[5]}:500", scope_key=SCOPES[5])]
        )
        copied = await copy(ours, theirs, Watched())
        verified = await verify(ours, theirs, copied, Watched())
        (trouble,) = copied.troubles
        assert trouble.scope_key == SCOPES[5]
        assert trouble.reason.startswith("1 records are refused: ")
        assert f"mem:{SCOPES[5]}:7" in trouble.reason
        assert verified.compared.outcomes == {
            Outcome.SAME: len(SCOPES) * EACH - 1,
            Outcome.MISSING: 1,
            Outcome.EXTRA: 1,
        }
        assert not verified.is_settled
        with pytest.raises(RecordConflictError):
            await theirs.restore(SCOPES[5], [each for each in await ours.records(SCOPES[5], 8) if each.sequence == 7])


async def test_comparing_finds_a_record_that_was_tampered_with(tmp_path: Path) -> None:
    shelf = Shelf("sqlite-relevance", tmp_path / "target")
    async with Shelf("inprocess-relevance", tmp_path).open() as ours:
        await live(ours)
        async with shelf.open() as theirs:
            copied = await copy(ours, theirs, Watched())
        await asyncio.to_thread(sql, path_of(shelf.directory, ORG), "UPDATE records SET use_count = 9 WHERE seq = 3")
        await asyncio.to_thread(sql, path_of(shelf.directory, ORG), "DELETE FROM records WHERE seq = 0")
        async with shelf.open() as theirs:
            verified = await verify(ours, theirs, copied, Watched())
    assert verified.examples == {"mem:org:acme:3": Outcome.DIFFERENT, "mem:org:acme:0": Outcome.MISSING}
    assert verified.compared.source - verified.compared.target == Counter({Status.FORGOTTEN: 1})
    assert not verified.is_settled


async def test_a_source_that_changes_after_it_was_copied_is_told_from_a_failure(tmp_path: Path) -> None:
    async with two_stores(tmp_path, "sqlite-relevance", "inprocess-relevance") as (ours, theirs):
        await fill(ours)
        copied = await copy(ours, theirs, Watched())
        await ours.forget(SCOPES[0], f"mem:{SCOPES[0]}:3")
        await ours.write(ORG, [fact("a new scope")])
        verified = await verify(ours, theirs, copied, Watched())
        assert (verified.is_whole, verified.is_settled) == (False, True)
        assert verified.moved.outcomes == {Outcome.SAME: EACH - 1, Outcome.DIFFERENT: 1, Outcome.MISSING: 1}


async def test_a_store_that_is_written_to_can_be_copied(tmp_path: Path) -> None:
    async def writes(store: VectorStore, is_over: asyncio.Event) -> None:
        number = 0
        while not is_over.is_set():
            key = SCOPES[number % 4]
            await store.write(key, [fact(f"later {number}")])
            await store.forget(key, f"mem:{key}:{number}")
            number += 1

    async with two_stores(tmp_path, "sqlite-relevance", "sqlite-relevance") as (ours, theirs):
        await fill(ours)
        is_over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(writes(ours, is_over))
            copied = await copy(ours, theirs, Watched())
            verified = await verify(ours, theirs, copied, Watched())
            is_over.set()
        assert (copied.troubles, verified.is_settled) == ((), True)
        copied = await copy(ours, theirs, Watched())
        assert (await verify(ours, theirs, copied, Watched())).is_whole


async def test_a_large_scope_goes_by_the_page_and_by_the_request(tmp_path: Path) -> None:
    count = 2 * PAGE + 10
    async with two_stores(tmp_path, "sqlite-relevance", "inprocess-relevance") as (ours, theirs):
        await ours.restore(ORG, [record(number, f"thing {number}") for number in range(count)])
        source, target = Wary(ours), Wary(theirs)
        copied = await copy(source, target, Watched())
        assert (copied.copied, source.largest_page) == (count, PAGE)
        assert [len(batch) for batch in target.written] == [MOST_RECORDS] * 8 + [10]
        assert (await verify(source, target, copied, Watched())).is_whole
