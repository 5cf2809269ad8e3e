"""What a write does, and what a full scope gives up (specification, sections 8, 18 and 27)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import (
    Dedup,
    Insert,
    Restate,
    WritePlan,
    checked,
    deduped,
    mint_record,
    normalized,
    plan_eviction,
    plan_write,
    restated,
    used,
)
from memory.record import MemoryCandidate, MemoryRecord, Status, WriteCounts
from tests.memory_records import EPOCH, ORG, fact, record


def plan(candidate: MemoryCandidate, active: Iterable[MemoryRecord]) -> WritePlan:
    """As a store calls it."""
    records = list(active)
    same = [each for each in records if normalized(each.text) == normalized(candidate.text)]
    pointers = {candidate.restates, candidate.supersedes}
    return plan_write(candidate, same_text=same, named=[each for each in records if each.id in pointers])


ONE, TWO = record(1, "use yarn"), record(2, "use npm")


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (fact("use bun"), Insert(None)),
        (fact(" USE\tyarn"), Dedup(ONE)),
        (replace(fact("use bun"), supersedes=ONE.id), Insert(ONE)),
        (replace(fact("Use yarn"), supersedes=ONE.id), Dedup(ONE)),
        (replace(fact("use npm"), supersedes=ONE.id), Insert(ONE)),
        (replace(fact("use npm"), supersedes="mem:org:acme:9"), Insert(None)),
        (replace(fact("use npm"), supersedes=""), Dedup(TWO)),
        (replace(fact("use npm"), restates=ONE.id), Restate(ONE)),
        (replace(fact("use npm"), restates=ONE.id, supersedes=TWO.id), Restate(ONE)),
        (replace(fact("use npm"), restates="mem:org:acme:9"), Dedup(TWO)),
        (replace(fact("use npm"), restates="mem:org:acme:9", supersedes=ONE.id), Insert(ONE)),
        (replace(fact("use npm"), restates=""), Dedup(TWO)),
    ],
)
def test_a_candidate_restates_deduplicates_or_is_inserted(candidate: MemoryCandidate, expected: WritePlan) -> None:
    """Criterion: Engine: planWrite dedup/supersede rules incl. the collision guard (reference-bot 2.12)."""
    assert plan(candidate, [ONE, TWO]) == expected


def test_the_earliest_of_equal_texts_takes_the_count() -> None:
    """Criterion: duplicate-norm dedup bumps the earliest."""
    assert plan(fact("use yarn"), [ONE, replace(ONE, id="mem:org:acme:3")]) == Dedup(ONE)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.FORGOTTEN, Status.EVICTED])
def test_a_retired_record_is_no_target(status: Status) -> None:
    """Trap 14."""
    retired = replace(ONE, status=status)
    for pointing in (replace(fact("x"), supersedes=ONE.id), replace(fact("x"), restates=ONE.id)):
        assert plan_write(pointing, same_text=[], named=[retired]) == Insert(None)


def test_a_confirmation_keeps_the_higher_confidence() -> None:
    now = EPOCH + timedelta(days=1)
    for had, given_now, expected in ((0.7, 0.9, 0.9), (0.7, 0.1, 0.7), (None, 0.1, 0.1), (0.7, None, 0.7)):
        after = restated(replace(ONE, confidence=had), replace(fact("x"), confidence=given_now), now)
        assert after == replace(ONE, confidence=expected, use_count=1, last_used_at=now)
    assert restated(ONE, fact("x"), now).confidence is None


def test_a_use_changes_nothing_else_of_a_record() -> None:
    full = MemoryRecord(
        id=ONE.id,
        scope_key=ORG,
        kind="summary",
        text="text",
        keywords=("word",),
        source_thread_key="thread",
        created_at=EPOCH - timedelta(2),
        terms=frozenset({"term"}),
        source_run_id="run",
        source_user="user",
        author="author",
        last_used_at=EPOCH - timedelta(1),
        use_count=5,
        confidence=0.5,
        supersedes="mem:org:acme:9",
        status=Status.SUPERSEDED,
        is_standing=True,
    )
    assert used(full, EPOCH, 2) == replace(full, use_count=7, last_used_at=EPOCH)


def test_a_repetition_and_a_use_count_differently() -> None:
    """Trap 11."""
    assert deduped(ONE, fact("x")) == replace(ONE, use_count=1)
    assert used(ONE, EPOCH) == replace(ONE, use_count=1, last_used_at=EPOCH)
    assert used(ONE, EPOCH, 3) == replace(ONE, use_count=3, last_used_at=EPOCH)
    assert (used(ONE, EPOCH).used_at, replace(ONE, created_at=EPOCH + timedelta(1)).used_at) == (
        EPOCH,
        EPOCH + timedelta(1),
    )


def test_a_new_record_is_unused_and_active() -> None:
    """Criterion: mintRecord shape (reference-bot 2.13)."""
    minted = mint_record(ORG, 7, replace(fact("Deploy the deploy"), confidence=0.5, supersedes=""), EPOCH)
    assert (minted.id, minted.sequence, minted.scope_key) == ("mem:org:acme:7", 7, ORG)
    assert (minted.keywords, minted.status, minted.use_count) == (("deploy", "the"), Status.ACTIVE, 0)
    assert (minted.created_at, minted.last_used_at, minted.supersedes) == (EPOCH, None, None)
    assert minted.terms


def test_given_keywords_are_kept_even_when_there_are_none() -> None:
    assert mint_record(ORG, 1, replace(fact("deploy"), keywords=()), EPOCH).keywords == ()


def test_what_no_store_can_hold_is_replaced_in_every_field() -> None:
    odd = "a\x00\ud800"
    minted = mint_record(ORG, 1, MemoryCandidate("fact", odd, odd, (odd,), odd, odd, odd, None, odd), EPOCH)
    clean = "a \ufffd"
    assert (minted.text, minted.source_thread_key, minted.keywords, minted.source_run_id) == (
        clean,
        clean,
        (clean,),
        clean,
    )
    assert (minted.source_user, minted.author, minted.supersedes) == (clean, clean, clean)
    assert normalized(odd) == normalized(clean)


def test_negations_numbers_and_marks_stay_in_the_deduplication_key() -> None:
    """Memory systems, A3 17."""
    assert normalized(" Do\u00a0NOT\n\tdeploy\ufeff at 5! ") == "do not deploy at 5!"


@given(st.text())
def test_the_deduplication_key_is_its_own_key(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)


def test_nothing_is_given_up_at_or_under_the_cap() -> None:
    """Criterion: planEviction: nothing at/under cap."""
    assert plan_eviction([ONE, TWO], 2) == plan_eviction([ONE], 2) == plan_eviction([], 1) == []


def test_what_was_used_longest_ago_goes_first_and_of_equals_the_older() -> None:
    """Criterion: planEviction: exactly active - cap, least recently used first, ties by lower createdAt (trap 15)."""
    later = EPOCH + timedelta(days=1)
    unused_old = replace(record(1), created_at=EPOCH)
    used_late = replace(record(2), created_at=EPOCH, last_used_at=later)
    unused_new = replace(record(3), created_at=later)
    twin = replace(record(4), created_at=later)
    records = [twin, unused_new, used_late, unused_old]
    assert plan_eviction(records, 3) == [unused_old.id]
    assert plan_eviction(records, 2) == [unused_old.id, used_late.id]
    assert plan_eviction(records, 1) == [unused_old.id, used_late.id, unused_new.id]


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 3))), st.integers(1, 9))
def test_a_scope_is_never_over_its_cap_afterwards(ages: list[tuple[int, int | None]], cap: int) -> None:
    records = [
        replace(
            record(number + 1),
            created_at=EPOCH + timedelta(days=created),
            last_used_at=None if used_on is None else EPOCH + timedelta(days=used_on),
        )
        for number, (created, used_on) in enumerate(ages)
    ]
    evicted = plan_eviction(records, cap)
    assert len(records) - len(set(evicted)) == min(cap, len(records))
    stays = [each.used_at for each in records if each.id not in evicted]
    goes = [each.used_at for each in records if each.id in evicted]
    assert not goes or not stays or max(goes) <= min(stays)


@pytest.mark.parametrize("text", ["x", "x" * 4_000])
def test_a_candidate_within_the_caps_is_taken_as_it_is(text: str) -> None:
    name = "n" * 200
    candidate = MemoryCandidate("fact", text, name, ("k" * 64,) * 20, name, name, name, 1.0, name, name)
    assert checked(candidate) is candidate
    assert checked(replace(candidate, keywords=None, confidence=None)).keywords is None


@pytest.mark.parametrize(
    ("candidate", "field"),
    [
        (fact(""), "text"),
        (fact(" \n"), "text"),
        (fact("\x00 \x00"), "text"),
        (fact("x" * 4_001), "text"),
        (replace(fact("x"), keywords=("k",) * 21), "keywords"),
        (replace(fact("x"), keywords=("k" * 65,)), "keywords"),
        (replace(fact("x"), keywords=("",)), "keywords"),
        (fact("x", thread=""), "source_thread_key"),
        (fact("x", thread="x" * 201), "source_thread_key"),
        (replace(fact("x"), source_run_id="x" * 201), "source_run_id"),
        (replace(fact("x"), source_user="x" * 201), "source_user"),
        (replace(fact("x"), author="x" * 201), "author"),
        (replace(fact("x"), supersedes="x" * 201), "supersedes"),
        (replace(fact("x"), restates="x" * 201), "restates"),
        (replace(fact("x"), confidence=-0.1), "confidence"),
        (replace(fact("x"), confidence=1.1), "confidence"),
    ],
)
def test_a_candidate_beyond_a_cap_is_refused_by_the_name_of_its_field(candidate: MemoryCandidate, field: str) -> None:
    """Section 16, trap 39."""
    with pytest.raises(ValueError, match=field):
        checked(candidate)


def test_counts_add_up() -> None:
    assert WriteCounts(1, 2, 3, 4, 5) + WriteCounts(10, 20, 30, 40, 50) == WriteCounts(11, 22, 33, 44, 55)
