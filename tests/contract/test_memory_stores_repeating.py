"""What every memory store promises about a batch that comes again with its idempotency key (section 18)."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.idempotency import KEPT
from memory.record import MemoryCandidate, WriteCounts
from memory.store import KeyReusedError
from tests.memory_records import (
    LOCAL_SHELVES,
    ORG,
    SHELVES,
    THREAD,
    USER,
    BreakingName,
    Shelf,
    VectorStore,
    fact,
    kept,
    texts,
)

KEY = "batch-1"
BATCH = [fact("deploys need approval"), fact("lunch is at noon"), fact("Lunch is at noon")]
COUNTS = WriteCounts(inserted=2, deduped=1)


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[VectorStore]:
    async with shelf.open() as opened:
        yield opened


async def test_a_batch_that_comes_again_is_applied_once_and_answered_as_it_was(store: VectorStore) -> None:
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
    once = await kept(store)
    await store.write(ORG, [fact("something else")])
    for _ in range(3):
        assert await store.write(ORG, tuple(BATCH), idempotency_key=KEY) == COUNTS
    assert await kept(store) == [*once, *(await kept(store))[2:]]
    assert texts(await kept(store)) == ["deploys need approval", "lunch is at noon", "something else"]


async def test_what_was_forgotten_since_does_not_come_back_with_a_repetition(store: VectorStore) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    await store.forget(ORG, "mem:org:acme:0")
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
    assert texts(await kept(store)) == ["lunch is at noon"]


async def test_without_a_key_every_batch_is_a_new_one(store: VectorStore) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    assert await store.write(ORG, BATCH) == WriteCounts(deduped=3)


async def test_another_key_is_another_batch(store: VectorStore) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    for key in ("batch-2", "BATCH-1", "", "' OR 1=1 --", "ключ", "k" * 255):
        assert await store.write(ORG, BATCH, idempotency_key=key) == WriteCounts(deduped=3)
        assert await store.write(ORG, BATCH, idempotency_key=key) == WriteCounts(deduped=3)
    assert [each.use_count for each in await kept(store)] == [6, 13]


@pytest.mark.parametrize(
    "other",
    [
        [fact("deploys need no approval")],
        BATCH[:2],
        [BATCH[1], BATCH[0], BATCH[2]],
        [*BATCH, fact("more")],
        [replace(BATCH[0], confidence=0.5), *BATCH[1:]],
        [replace(BATCH[0], keywords=()), *BATCH[1:]],
        [replace(BATCH[0], supersedes="mem:org:acme:0"), *BATCH[1:]],
    ],
    ids=["text", "shorter", "order", "longer", "confidence", "keywords", "pointer"],
)
async def test_another_batch_with_the_key_is_refused_and_changes_nothing(
    store: VectorStore, other: list[MemoryCandidate]
) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    before = await kept(store)
    with pytest.raises(KeyReusedError) as refusal:
        await store.write(ORG, other, idempotency_key=KEY)
    assert "approval" not in str(refusal.value)
    assert await kept(store) == before
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS


async def test_an_empty_batch_is_nothing_and_uses_no_key(store: VectorStore) -> None:
    assert await store.write(ORG, [], idempotency_key=KEY) == WriteCounts()
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
    assert await store.write(ORG, [], idempotency_key=KEY) == WriteCounts()


async def test_a_key_is_remembered_for_a_day(shelf: Shelf) -> None:
    async with shelf.open() as store:
        await store.write(ORG, BATCH, idempotency_key=KEY)
        shelf.clock.pass_by(KEPT)
        assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
        shelf.clock.pass_by(timedelta(microseconds=1))
        assert await store.write(ORG, BATCH, idempotency_key=KEY) == WriteCounts(deduped=3)
        assert await store.write(ORG, BATCH, idempotency_key=KEY) == WriteCounts(deduped=3), "a day from now on"
        shelf.clock.pass_by(KEPT + timedelta(microseconds=1))
        assert await store.write(ORG, [fact("news")], idempotency_key=KEY) == WriteCounts(inserted=1)


async def test_the_same_key_in_another_scope_is_another_key(store: VectorStore) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    assert await store.write(USER, [fact("mine")], idempotency_key=KEY) == WriteCounts(inserted=1)
    await store.erase(USER)
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS


async def test_a_batch_that_is_refused_leaves_no_key(store: VectorStore) -> None:
    with pytest.raises(ValueError, match="text"):
        await store.write(ORG, [*BATCH, fact("")], idempotency_key=KEY)
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS


@pytest.mark.parametrize("shelf", LOCAL_SHELVES, indirect=True)
async def test_a_batch_that_fails_in_the_middle_leaves_no_key(store: VectorStore) -> None:
    """Section 28: the whole batch or none of it."""
    broken = replace(fact("never"), author=BreakingName("Ada"))
    with pytest.raises(LookupError):
        await store.write(ORG, [*BATCH, broken], idempotency_key=KEY)
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS


@pytest.mark.parametrize("record_id", ["mem:org:acme:1", None])
async def test_erasing_from_the_scope_forgets_its_keys(store: VectorStore, record_id: str | None) -> None:
    """What is kept of a batch could tell whether a text was guessed right."""
    await store.write(ORG, BATCH, idempotency_key=KEY)
    await store.erase(ORG, record_id)
    inserted = 2 if record_id is None else 1
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == WriteCounts(inserted=inserted, deduped=3 - inserted)


async def test_erasing_a_thread_forgets_the_keys_of_the_scopes_it_taught(store: VectorStore) -> None:
    elsewhere = [fact("mine", thread="slack:C1:2.0")]
    await store.write(ORG, BATCH, idempotency_key=KEY)
    await store.write(USER, elsewhere, idempotency_key=KEY)
    await store.erase_thread(THREAD)
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
    assert texts(await kept(store)) == ["deploys need approval", "lunch is at noon"]
    assert await store.write(USER, elsewhere, idempotency_key=KEY) == WriteCounts(inserted=1)
    assert [each.use_count for each in await kept(store, USER)] == [0]


async def test_an_erasure_of_nothing_forgets_no_key(store: VectorStore) -> None:
    await store.write(ORG, BATCH, idempotency_key=KEY)
    await store.erase(ORG, "mem:org:acme:77")
    await store.erase_thread("slack:C1:none")
    assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS


async def test_the_same_batch_at_the_same_time_is_applied_once(store: VectorStore) -> None:
    async with asyncio.timeout(20):
        answers = await asyncio.gather(*(store.write(ORG, BATCH, idempotency_key=KEY) for _ in range(10)))
    assert answers == [COUNTS] * 10
    assert [each.use_count for each in await kept(store)] == [0, 1]


async def test_evictions_are_answered_again_too(shelf: Shelf) -> None:
    async with shelf.open(cap=1) as store:
        expected = WriteCounts(inserted=2, deduped=1, evicted=1)
        for _ in range(2):
            assert await store.write(ORG, BATCH, idempotency_key=KEY) == expected


async def test_a_call_may_bring_its_own_cap(shelf: Shelf) -> None:
    async with shelf.open(cap=2) as store:
        five = [fact(f"number {number}") for number in range(5)]
        assert await store.write(ORG, five, cap=4) == WriteCounts(inserted=5, evicted=1)
        assert texts(await kept(store)) == [f"number {number}" for number in (1, 2, 3, 4)]
        assert await store.write(ORG, [fact("number 4")]) == WriteCounts(deduped=1, evicted=2)
        assert await store.write(ORG, [fact("number 4")], cap=1) == WriteCounts(deduped=1, evicted=1)


@pytest.mark.parametrize("kind", [each for each in SHELVES if not each.startswith("inprocess")])
async def test_a_key_survives_a_restart(tmp_path: Path, kind: str) -> None:
    shelf = Shelf(kind, tmp_path / "memory")
    async with shelf.open() as store:
        await store.write(ORG, BATCH, idempotency_key=KEY)
    async with shelf.open() as store:
        assert await store.write(ORG, BATCH, idempotency_key=KEY) == COUNTS
        with pytest.raises(KeyReusedError):
            await store.write(ORG, BATCH[:1], idempotency_key=KEY)
        assert [each.use_count for each in await kept(store)] == [0, 1]
    shelf.clock.pass_by(timedelta(days=2))
    async with shelf.open() as store:
        assert await store.write(ORG, BATCH[:1], idempotency_key=KEY) == WriteCounts(deduped=1)
