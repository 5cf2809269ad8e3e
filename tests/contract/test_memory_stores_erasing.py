"""What every memory store promises about real erasure (issue item 8), and about vectors."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from memory.record import WriteCounts
from memory.store import EraseReceipt, Query, Vector
from memory.stores.vectors import KeptVector, VectorTable, packed
from memory.text import query_terms
from tests.memory_records import ORG, RANKERS, SHELVES, THREAD, USER, Shelf, VectorStore, fact, found, kept, texts

OTHER_THREAD = "slack:C1:2.0"
MODEL = "test/small"


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[VectorStore]:
    async with shelf.open() as opened:
        yield opened


async def test_an_erased_record_is_gone_whatever_its_status_was(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two"), fact("three")])
    await found(store, ORG, "one two three")
    await store.forget(ORG, "mem:org:acme:1")
    for number in (0, 1):
        assert await store.erase(ORG, f"mem:org:acme:{number}") == EraseReceipt(1, 1)
        assert await store.erase(ORG, f"mem:org:acme:{number}") == EraseReceipt()
    assert texts(await kept(store)) == texts(await found(store, ORG, "one two three")) == ["three"]
    assert await store.write(ORG, [fact("two")]) == WriteCounts(inserted=1)


async def test_the_id_of_an_erased_record_never_comes_back(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two")])
    await store.erase(ORG, "mem:org:acme:1")
    await store.write(ORG, [fact("three")])
    assert [each.id for each in await kept(store)] == ["mem:org:acme:0", "mem:org:acme:2"]


@pytest.mark.parametrize("name", ["mem:user:slack:U1:0", "mem:org:acme:8", "mem:org:acme:00", "", "nonsense"])
async def test_a_foreign_id_erases_nothing(store: VectorStore, name: str) -> None:
    await store.write(ORG, [fact("one")])
    await store.write(USER, [fact("mine")])
    assert await store.erase(ORG, name) == EraseReceipt()
    assert texts([*await kept(store), *await kept(store, USER)]) == ["one", "mine"]


async def test_an_erased_scope_is_as_if_it_had_never_been(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two")])
    await store.write(USER, [fact("mine")])
    await store.forget(ORG, "mem:org:acme:0")
    await found(store, ORG, "two")
    assert await store.erase(ORG) == EraseReceipt(2, 1)
    assert await store.erase(ORG) == EraseReceipt()
    assert await kept(store) == await found(store, ORG, "one two") == []
    assert texts(await kept(store, USER)) == ["mine"]
    await store.write(ORG, [fact("anew")])
    assert [each.id for each in await kept(store)] == ["mem:org:acme:0"]


async def test_a_thread_is_erased_from_every_scope(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two", thread=OTHER_THREAD), fact("three")])
    await store.write(USER, [fact("mine")])
    await store.write("channel:slack:C1", [fact("elsewhere", thread=OTHER_THREAD)])
    await store.forget(ORG, "mem:org:acme:2")
    await found(store, ORG, "one two")
    assert await store.erase_thread(THREAD) == EraseReceipt(3, 2)
    assert await store.erase_thread(THREAD) == EraseReceipt()
    left = [await kept(store, key) for key in (ORG, USER, "channel:slack:C1")]
    assert [texts(records) for records in left] == [["two"], [], ["elsewhere"]]
    assert texts(await found(store, ORG, "one two")) == ["two"]


async def test_vectors_are_kept_for_active_records_only(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two"), fact("three")])
    await store.forget(ORG, "mem:org:acme:1")
    assert texts(await store.unembedded(ORG, MODEL, 1)) == ["three"]
    ids = [f"mem:org:acme:{number}" for number in (0, 1, 8)] + ["mem:user:slack:U1:0", "nonsense"]
    assert await store.keep_vectors(ORG, MODEL, dict.fromkeys(ids, (0.5, 1.0))) == 1
    assert texts(await store.unembedded(ORG, MODEL, 8)) == ["three"]
    assert texts(await store.unembedded(ORG, "test/other", 8)) == ["three", "one"]
    assert await store.keep_vectors(ORG, "test/other", {"mem:org:acme:0": (1.0, 2.0, 3.0)}) == 1
    assert texts(await store.unembedded(ORG, MODEL, 8)) == ["three", "one"], "one vector for each record"


async def test_vectors_of_nothing_are_nothing(store: VectorStore) -> None:
    assert await store.unembedded(ORG, MODEL, 8) == []
    assert await store.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (1.0,)}) == 0
    await store.write(ORG, [fact("one")])
    assert await store.keep_vectors(ORG, MODEL, {}) == 0


@pytest.mark.parametrize("values", [(1.0,), (1.0, 2.0, 3.0), (), (float("nan"), 1.0), (float("inf"), 1.0)])
async def test_a_vector_that_cannot_be_compared_is_refused(store: VectorStore, values: tuple[float, ...]) -> None:
    await store.write(ORG, [fact("one"), fact("two")])
    await store.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (1.0, 2.0)})
    with pytest.raises(ValueError, match="dimension"):
        await store.keep_vectors(ORG, MODEL, {"mem:org:acme:1": values})
    assert texts(await store.unembedded(ORG, MODEL, 8)) == ["two"]


async def test_the_ranker_hears_how_close_each_record_is(shelf: Shelf) -> None:
    """The relevance ranker fuses similarity in; the reference knows words only."""
    async with shelf.open() as store:
        await store.write(ORG, [fact("deploy one"), fact("deploy two"), fact("deploy three")])
        near = {"mem:org:acme:0": (0.0, 1.0), "mem:org:acme:1": (1.0, 0.1), "mem:org:acme:2": (0.0, 0.0)}
        await store.keep_vectors(ORG, MODEL, near)
        query = Query("deploy", 8, Vector(MODEL, (2.0, 0.0)))
        for _ in range(2):
            hits = (await store.retrieve(ORG, query)).hits
            assert {hit.record.text for hit in hits} == {"deploy one", "deploy two", "deploy three"}
            expected = "deploy one" if shelf.kind.endswith("keyword") else "deploy two"
            assert hits[0].record.text == expected


async def test_a_question_that_names_an_author_is_compared_without_the_authors_voice(shelf: Shelf) -> None:
    """Ana's records point one way, Bo's another; every fourth one is about what is asked, in no word of it."""
    directions = {f"note {number}": (1.0 - number % 2, number % 2, number % 4 < 2) for number in range(40)}
    async with shelf.open() as store:
        candidates = [replace(fact(text), author="Ana" if voice else "Bo") for text, (voice, *_) in directions.items()]
        await store.write(ORG, candidates)
        records = await kept(store)
        vectors = {record.id: tuple(map(float, directions[record.text])) for record in records}
        await store.keep_vectors(ORG, MODEL, vectors)
        question, asked = "what does Ana note", Vector(MODEL, (2.0, 0.0, 2.0))
        hits = (await store.retrieve(ORG, Query(question, 40, asked))).hits
    table = VectorTable(KeptVector(each.id, each.author, packed(vectors[each.id])) for each in records)
    rank = partial(RANKERS[shelf.kind.split("-")[1]].rank, records, question, shelf.clock.now())
    expected, unnamed = (
        [(hit.record.id, pytest.approx(hit.score, abs=1e-5)) for hit in rank(table.similarity(asked.values, named))]
        for named in (query_terms(question), ())
    )
    assert [(hit.record.id, hit.score) for hit in hits] == expected
    assert (expected == unnamed) == shelf.kind.endswith("keyword"), "it matters to the ranker that knows vectors"


@pytest.mark.parametrize(
    "vector",
    [
        Vector("test/other", (1.0, 0.0)),
        Vector("te\x00st", (1.0, 0.0)),
        Vector(MODEL, (1.0,)),
        Vector(MODEL, (0.0, 0.0)),
        Vector(MODEL, ()),
    ],
)
async def test_a_query_vector_of_another_kind_changes_nothing(store: VectorStore, vector: Vector) -> None:
    await store.write(ORG, [fact("deploy one"), fact("deploy two")])
    await store.keep_vectors(ORG, MODEL, {"mem:org:acme:0": (0.0, 1.0), "mem:org:acme:1": (1.0, 0.0)})
    plain = (await store.retrieve(ORG, Query("deploy", 8))).hits
    assert [hit.score for hit in (await store.retrieve(ORG, Query("deploy", 8, vector))).hits] == pytest.approx(
        [hit.score for hit in plain], abs=0.2
    )


async def test_a_retired_record_loses_its_vector(store: VectorStore) -> None:
    await store.write(ORG, [fact("one"), fact("two")])
    await store.keep_vectors(ORG, MODEL, {f"mem:org:acme:{number}": (1.0, 2.0) for number in (0, 1)})
    await store.forget(ORG, "mem:org:acme:0")
    await store.write(ORG, [replace(fact("2"), supersedes="mem:org:acme:1")])
    await store.keep_vectors(ORG, MODEL, {"mem:org:acme:2": (1.0, 2.0, 3.0)})
    assert await store.unembedded(ORG, MODEL, 8) == [], "no vector of the old dimension is left to contradict"
