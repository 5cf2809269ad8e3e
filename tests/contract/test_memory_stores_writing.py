"""What every memory store promises about writing (specification, sections 8, 18, 27 and 28)."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.record import MemoryCandidate, WriteCounts
from memory.store import MemoryStore
from tests.memory_records import (
    EPOCH,
    LOCAL_SHELVES,
    ORG,
    SHELVES,
    THREAD,
    USER,
    BreakingName,
    Shelf,
    fact,
    found,
    kept,
    standing,
    texts,
)


@pytest.fixture(params=SHELVES)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return Shelf(request.param, tmp_path / "memory")


@pytest.fixture
async def store(shelf: Shelf) -> AsyncGenerator[MemoryStore]:
    async with shelf.open() as opened:
        yield opened


NAMES = ("source_run_id", "source_user", "author", "supersedes", "restates")


async def test_a_record_comes_back_as_it_was_handed_in(store: MemoryStore) -> None:
    """Criterion: inserts active namespaced records with provenance (sections 3, 8)."""
    whole = MemoryCandidate(
        "summary", "Deploys need approval", THREAD, ("ship", "it"), "run-1", "slack:U7", "Ada", 0.75, None, None, True
    )
    assert await store.write(ORG, [whole, fact("Lunch at noon")]) == WriteCounts(inserted=2)
    first, second = await kept(store)
    assert (first.id, first.scope_key, first.kind, first.text) == ("mem:org:acme:0", ORG, "summary", whole.text)
    assert (first.keywords, first.source_thread_key, first.source_run_id) == (("ship", "it"), THREAD, "run-1")
    assert (first.source_user, first.author, first.confidence, first.is_standing) == ("slack:U7", "Ada", 0.75, True)
    assert (first.created_at, first.last_used_at, first.use_count, first.supersedes) == (EPOCH, None, 0, None)
    assert (second.id, second.keywords, second.author, second.confidence) == (
        "mem:org:acme:1",
        ("lunch", "at", "noon"),
        None,
        None,
    )
    assert "approv" in first.terms or "approval" in first.terms


async def test_an_empty_batch_is_nothing(store: MemoryStore) -> None:
    """Criterion: empty batch no-op."""
    assert await store.write(ORG, []) == WriteCounts()
    assert await kept(store) == []


async def test_the_same_words_are_counted_not_kept_twice(shelf: Shelf) -> None:
    """Criterion: dedups identical text, case/whitespace-insensitive, bumps useCount (section 8, trap 11)."""
    async with shelf.open() as store:
        await store.write(ORG, [fact("Deploys need approval")])
        shelf.clock.pass_by()
        again = ["  deploys NEED\n\tapproval ", "deploys need\u00a0approval", "\ufeffdeploys need approval"]
        assert await store.write(ORG, [fact(text) for text in again]) == WriteCounts(deduped=3)
        [only] = await kept(store)
        assert (only.text, only.use_count, only.last_used_at) == ("Deploys need approval", 3, None)


@pytest.mark.parametrize("other", ["deploys need no approval", "deploys need approval 2", "deploys need approval!"])
async def test_a_negation_a_number_and_a_mark_make_another_record(store: MemoryStore, other: str) -> None:
    """Criterion: near-duplicates are not merged (issue item 6)."""
    await store.write(ORG, [fact("deploys need approval"), fact(other)])
    assert texts(await kept(store)) == ["deploys need approval", other]


async def test_a_batch_sees_its_own_earlier_records(store: MemoryStore) -> None:
    """Criterion: a later candidate dedups against the same batch's earlier insert (section 18)."""
    batch = [fact("one"), fact("ONE"), replace(fact("one, rather two"), supersedes="mem:org:acme:0"), fact("one")]
    assert await store.write(ORG, batch) == WriteCounts(inserted=3, deduped=1, superseded=1)
    assert texts(await kept(store)) == ["one, rather two", "one"]


async def test_a_correction_retires_what_it_corrects(store: MemoryStore) -> None:
    """Criterion: supersede: named active same-scope record → superseded, pointer kept (section 8, trap 14)."""
    await store.write(ORG, [fact("deploys are on friday")])
    counts = await store.write(ORG, [replace(fact("deploys are on monday"), supersedes="mem:org:acme:0")])
    assert counts == WriteCounts(inserted=1, superseded=1)
    [only] = await kept(store)
    assert (only.text, only.supersedes) == ("deploys are on monday", "mem:org:acme:0")
    assert texts(await found(store, ORG, "deploys friday")) == ["deploys are on monday"]
    assert await store.get(ORG, ["mem:org:acme:0"]) == []
    assert await store.write(ORG, [fact("deploys are on friday")]) == WriteCounts(inserted=1)


@pytest.mark.parametrize("target", ["mem:org:acme:99", "mem:user:slack:U1:0", "nonsense", "mem:org:acme:\ud800"])
async def test_a_correction_of_nothing_known_still_lands(store: MemoryStore, target: str) -> None:
    """Criterion: unknown/foreign id supersedes nothing; the new record lands with its pointer (section 8)."""
    await store.write(USER, [fact("mine")])
    assert await store.write(ORG, [replace(fact("new"), supersedes=target)]) == WriteCounts(inserted=1)
    [only] = await kept(store)
    assert only.supersedes == target.replace("\ud800", "\ufffd")
    assert texts(await kept(store, USER)) == ["mine"]


async def test_an_unrelated_equal_text_never_swallows_a_correction(store: MemoryStore) -> None:
    """Criterion: collision guard, even when the id is unresolvable (section 8, trap 13)."""
    await store.write(ORG, [fact("use yarn"), fact("use npm")])
    for target, superseded in (("mem:org:acme:0", 1), ("mem:org:acme:77", 0)):
        counts = await store.write(ORG, [replace(fact("use npm"), supersedes=target)])
        assert counts == WriteCounts(inserted=1, superseded=superseded)
    assert texts(await kept(store)) == ["use npm", "use npm", "use npm"]
    await store.write(ORG, [fact("Use npm")])
    assert [each.use_count for each in await kept(store)] == [1, 0, 0], "the earliest takes the count"


async def test_restating_what_one_corrects_is_no_correction(store: MemoryStore) -> None:
    """Criterion: restating the target is a no-op dedup (section 8)."""
    await store.write(ORG, [fact("use yarn")])
    assert await store.write(ORG, [replace(fact("USE yarn"), supersedes="mem:org:acme:0")]) == WriteCounts(deduped=1)
    [only] = await kept(store)
    assert (only.text, only.use_count, only.last_used_at) == ("use yarn", 1, None)


async def test_an_empty_pointer_is_no_pointer(store: MemoryStore) -> None:
    """Criterion: supersedes: "" still dedups against the whole active set (section 18, trap 12)."""
    await store.write(ORG, [fact("use yarn")])
    assert await store.write(ORG, [replace(fact("use yarn"), supersedes="", restates="")]) == WriteCounts(deduped=1)


async def test_a_confirmation_counts_as_use_and_raises_confidence(shelf: Shelf) -> None:
    """Reference-bot 2.12, trap 11."""
    async with shelf.open() as store:
        await store.write(ORG, [replace(fact("use yarn"), confidence=0.7), fact("we prefer yarn")])
        at = shelf.clock.pass_by()
        stronger = replace(fact("we prefer yarn"), restates="mem:org:acme:0", confidence=0.9)
        weaker = replace(stronger, confidence=0.1)
        silent = replace(stronger, confidence=None)
        assert await store.write(ORG, [stronger, weaker, silent]) == WriteCounts(restated=3)
        first, second = await kept(store)
        assert (first.text, first.use_count, first.last_used_at, first.confidence) == ("use yarn", 3, at, 0.9)
        assert (second.use_count, second.last_used_at) == (0, None)
        gone = [replace(fact("we prefer yarn"), restates=name) for name in ("mem:org:acme:8", "mem:user:slack:U1:0")]
        assert await store.write(ORG, gone) == WriteCounts(deduped=2)


async def test_what_is_said_again_for_good_stands_from_then_on(store: MemoryStore) -> None:
    """Issue item 4: a preference governs from the day it is said to, though its words were known before."""
    await store.write(ORG, [fact("answer in German"), fact("be brief"), fact("use metric units")])
    for_good = replace(fact("Answer in  german"), is_standing=True)
    confirmed = replace(fact("always be brief"), is_standing=True, restates="mem:org:acme:1")
    assert await store.write(ORG, [for_good, confirmed, fact("answer in German")]) == WriteCounts(deduped=2, restated=1)
    assert texts(await standing(store, ORG, 8)) == ["be brief", "answer in German"]
    assert [each.is_standing for each in await kept(store)] == [True, True, False]


async def test_what_governs_every_answer_is_given_up_last(shelf: Shelf) -> None:
    """Issue item 4: standing records come along with every search, and that counts as no use."""
    async with shelf.open(cap=2) as store:
        await store.write(ORG, [replace(fact("answer in German"), is_standing=True)])
        for number in range(3):
            shelf.clock.pass_by()
            await store.write(ORG, [fact(f"fact {number}")])
        assert texts(await kept(store)) == ["answer in German", "fact 2"]
        await store.write(ORG, [replace(fact(f"rule {number}"), is_standing=True) for number in range(2)])
        assert texts(await kept(store)) == ["rule 0", "rule 1"]


async def test_forgetting_happens_once_and_for_good(store: MemoryStore) -> None:
    """Criterion: forget flips to forgotten, second call false, foreign false, no dedup target (section 24, trap 34)."""
    await store.write(ORG, [fact("use yarn"), fact("use npm")])
    assert await store.forget(USER, "mem:org:acme:0") is False
    assert await store.forget(ORG, "mem:user:slack:U1:0") is False
    assert await store.forget(ORG, "mem:org:acme:0") is True
    assert await store.forget(ORG, "mem:org:acme:0") is False
    assert texts(await kept(store)) == texts(await found(store, ORG, "use yarn")) == ["use npm"]
    assert await store.list(ORG, 8, query="yarn") == []
    assert await store.write(ORG, [fact("use yarn")]) == WriteCounts(inserted=1)
    assert texts(await kept(store)) == ["use npm", "use yarn"]


async def test_a_full_scope_gives_up_what_was_used_longest_ago(shelf: Shelf) -> None:
    """Criterion: over-cap write evicts LRU down to the cap within the batch (sections 27, 28)."""
    async with shelf.open(cap=3) as store:
        for word in ("red", "green", "blue"):
            await store.write(ORG, [fact(word)])
            shelf.clock.pass_by(timedelta(hours=1))
        await found(store, ORG, "red")
        counts = await store.write(ORG, [fact("white"), fact("black")])
        assert counts == WriteCounts(inserted=2, evicted=2)
        assert texts(await kept(store)) == ["red", "white", "black"]
        assert await found(store, ORG, "green blue") == []
        assert await store.write(ORG, [fact("green")]) == WriteCounts(inserted=1, evicted=1)


async def test_retired_records_take_no_place(shelf: Shelf) -> None:
    """Criterion: superseded/forgotten rows don't consume the cap (section 27)."""
    async with shelf.open(cap=2) as store:
        await store.write(ORG, [fact("red"), fact("green")])
        await store.forget(ORG, "mem:org:acme:0")
        counts = await store.write(ORG, [replace(fact("lime"), supersedes="mem:org:acme:1"), fact("blue")])
        assert counts == WriteCounts(inserted=2, superseded=1)
        assert await store.write(USER, [fact("a"), fact("b"), fact("c")]) == WriteCounts(inserted=3, evicted=1)


async def test_without_a_cap_nothing_is_given_up(shelf: Shelf) -> None:
    """Criterion: no cap → no eviction."""
    async with shelf.open(cap=None) as store:
        for start in range(0, 600, 50):
            counts = await store.write(ORG, [fact(f"number {number}") for number in range(start, start + 50)])
            assert counts == WriteCounts(inserted=50)
        assert len(await kept(store)) == 600


@pytest.mark.parametrize(
    "bad",
    [
        fact("x" * 4_001),
        fact(""),
        fact(" \n "),
        fact("\x00"),
        fact("x", thread=""),
        replace(fact("x"), confidence=1.1),
        replace(fact("x"), confidence=float("nan")),
        replace(fact("x"), keywords=("k",) * 21),
        replace(fact("x"), keywords=("k" * 65,)),
        replace(fact("x"), keywords=("",)),
        fact("x", thread="x" * 201),
        *(replace(fact("x"), **{name: "x" * 201}) for name in NAMES),
    ],
)
async def test_a_candidate_beyond_the_caps_is_refused_with_its_batch(store: MemoryStore, bad: MemoryCandidate) -> None:
    """Section 16."""
    with pytest.raises(ValueError, match=r"must|at most") as refusal:
        await store.write(ORG, [fact("good"), bad])
    assert "xxx" not in str(refusal.value)
    assert await kept(store) == []


@pytest.mark.parametrize("shelf", LOCAL_SHELVES, indirect=True)
async def test_a_batch_that_fails_in_the_middle_changes_nothing(store: MemoryStore) -> None:
    """Section 28: the whole batch or none of it."""
    await store.write(ORG, [fact("use yarn"), fact("use npm")])
    before = await kept(store)
    correction = replace(fact("use bun"), supersedes="mem:org:acme:0")
    broken = replace(fact("never"), author=BreakingName("Ada"))
    with pytest.raises(LookupError):
        await store.write(ORG, [fact("use npm"), correction, broken])
    assert await kept(store) == before
    await store.write(ORG, [fact("next")])
    assert (await kept(store))[-1].id == "mem:org:acme:2"


async def test_concurrent_writers_of_one_scope_take_turns(store: MemoryStore) -> None:
    """Criterion: concurrent write batches to one scope → all succeed, unique ids (section 18)."""
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(store.write(ORG, [fact(f"from {number}"), fact("shared"), fact(f"also from {number}")]))
    records = await kept(store)
    assert len({each.id for each in records}) == len(records) == 41
    [shared] = [each for each in records if each.text == "shared"]
    assert shared.use_count == 19


async def test_searches_and_writes_at_the_same_time_lose_no_use(store: MemoryStore) -> None:
    await store.write(ORG, [fact("deploys need approval")])
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        for number in range(25):
            group.create_task(found(store, ORG, "deploys"))
            group.create_task(store.write(ORG, [fact(f"word{number}")]))
    first, *others = await kept(store)
    assert first.use_count == 25
    assert len(others) == 25
