"""What every memory store promises about sweeping out what told of a moment."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from memory.engine import put_back
from memory.record import Status, WriteCounts
from memory.store import Stats, StoreUnavailableError
from memory.stores.null import NullStore
from tests.memory_records import ORG, SHELVES, THREAD, USER, Shelf, VectorStore, fact, found, kept, texts

MODEL = "test/small"
OF_A_MOMENT = ["PR #12 is in review", "The PR is merged"]
LASTING = ["deploys need approval", "lunch is at noon"]


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[VectorStore]:
    """What lasts and what does not, in turns."""
    async with shelf.open() as opened:
        for lasting, passing in zip(LASTING, OF_A_MOMENT, strict=True):
            await opened.write(ORG, [fact(lasting), fact(passing)])
        yield opened


async def test_facts_of_a_moment_are_retired_and_told_oldest_first(store: VectorStore) -> None:
    assert list(await store.sweep(ORG)) == ["mem:org:acme:1", "mem:org:acme:3"]
    assert texts(await kept(store)) == LASTING
    assert texts(await found(store, ORG, "PR review merged deploys lunch")) == LASTING
    assert await store.get(ORG, ["mem:org:acme:1"]) == []


async def test_a_second_sweep_finds_nothing_more(store: VectorStore) -> None:
    await store.sweep(ORG)
    assert list(await store.sweep(ORG)) == list(await store.sweep(ORG, dry_run=True)) == []


async def test_a_dry_run_only_tells(store: VectorStore) -> None:
    before = await kept(store)
    for _ in range(2):
        assert list(await store.sweep(ORG, dry_run=True)) == ["mem:org:acme:1", "mem:org:acme:3"]
    assert await kept(store) == before
    assert await store.stats(ORG) == Stats(1, {Status.ACTIVE: 4})


async def test_the_row_stays_and_tells_that_it_was_swept(store: VectorStore) -> None:
    before = await kept(store)
    await store.sweep(ORG)
    swept = [put_back(ORG, each) for each in await store.records(ORG, 10) if each.status is Status.SWEPT]
    assert swept == [replace(each, status=Status.SWEPT) for each in before[1::2]]
    assert await store.stats(ORG) == Stats(1, {Status.ACTIVE: 2, Status.SWEPT: 2})


async def test_summaries_are_never_swept(store: VectorStore) -> None:
    await store.sweep(ORG)
    await store.write(ORG, [replace(fact(text), kind="summary") for text in OF_A_MOMENT])
    assert list(await store.sweep(ORG)) == []
    assert texts(await kept(store)) == [*LASTING, *OF_A_MOMENT]


async def test_only_active_records_are_swept(store: VectorStore) -> None:
    await store.forget(ORG, "mem:org:acme:1")
    assert list(await store.sweep(ORG)) == ["mem:org:acme:3"]
    assert {each.id: each.status for each in await store.records(ORG, 10)} == {
        "mem:org:acme:0": Status.ACTIVE,
        "mem:org:acme:1": Status.FORGOTTEN,
        "mem:org:acme:2": Status.ACTIVE,
        "mem:org:acme:3": Status.SWEPT,
    }


async def test_a_sweep_reaches_one_scope_only(store: VectorStore) -> None:
    await store.write(USER, [fact("PR #7 is in review")])
    await store.sweep(ORG)
    assert texts(await kept(store, USER)) == ["PR #7 is in review"]
    assert list(await store.sweep("channel:slack:C9")) == []
    assert list(await store.scope_keys(10)) != []
    assert "channel:slack:C9" not in await store.scope_keys(10)


async def test_swept_words_can_be_learned_again_under_another_id(store: VectorStore) -> None:
    await store.sweep(ORG)
    assert await store.write(ORG, [fact(OF_A_MOMENT[0])]) == WriteCounts(inserted=1)
    assert (await kept(store))[-1].id == "mem:org:acme:4"


async def test_a_swept_record_is_no_target_and_can_neither_be_forgotten_nor_embedded(store: VectorStore) -> None:
    await store.keep_vectors(ORG, MODEL, {"mem:org:acme:1": (1.0, 2.0)})
    await store.sweep(ORG)
    assert await store.forget(ORG, "mem:org:acme:1") is False
    assert await store.keep_vectors(ORG, MODEL, {"mem:org:acme:1": (1.0, 2.0, 3.0)}) == 0
    assert texts(await store.unembedded(ORG, MODEL, 8)) == LASTING[::-1]
    correction = replace(fact("PR review takes a day"), supersedes="mem:org:acme:1")
    assert await store.write(ORG, [correction]) == WriteCounts(inserted=1)


async def test_a_swept_record_can_be_erased(store: VectorStore) -> None:
    await store.sweep(ORG)
    assert (await store.erase(ORG, "mem:org:acme:1")).records == 1
    assert (await store.erase_thread(THREAD)).records == 3


async def test_a_sweep_survives_a_restart(tmp_path: Path) -> None:
    for kind in (each for each in SHELVES if not each.startswith("inprocess")):
        shelf = Shelf(kind, tmp_path / kind)
        async with shelf.open() as store:
            await store.write(ORG, [fact(LASTING[0]), fact(OF_A_MOMENT[0])])
            await store.sweep(ORG)
        async with shelf.open() as store:
            assert texts(await kept(store)) == texts(await found(store, ORG, "deploys PR review")) == LASTING[:1]
            assert list(await store.sweep(ORG)) == []


async def test_a_closed_store_sweeps_nothing(store: VectorStore) -> None:
    await store.aclose()
    with pytest.raises(StoreUnavailableError, match="closed"):
        await store.sweep(ORG)


async def test_the_null_store_has_nothing_to_sweep() -> None:
    assert list(await NullStore().sweep(ORG)) == []
