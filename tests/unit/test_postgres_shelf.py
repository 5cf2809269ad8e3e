"""Rows that are ranked without being made into records: every answer is the one that the records give."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import mint_record, used
from memory.pool import Pool
from memory.ranker import Ranker
from memory.rankers import RANKERS
from memory.record import MemoryCandidate, MemoryRecord, Status
from memory.stores.postgres_rows import Row, packed
from memory.stores.postgres_shelf import RowShelf

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SCOPE = "org:acme"
WORDS = st.lists(st.sampled_from(["deploy", "heron", "staging", "the", "2026", "café", "東京"]), max_size=6).map(
    " ".join
)
AUTHORS = st.sampled_from([None, "Ann", "Heron"])
LONG_QUERY = " ".join(["heron", *(f"word{number}" for number in range(30))])


def record(text: str, number: int, thread: str = "a", author: str | None = None) -> MemoryRecord:
    candidate = MemoryCandidate("fact", text or "nothing", thread, keywords=("a\nb", '"c"'), author=author)
    return mint_record(SCOPE, number, candidate, NOW - timedelta(days=number * 7))


def row_of(record: MemoryRecord) -> Row:
    """As the database tells it."""
    about = (record.sequence, record.kind, record.text, json.dumps(record.keywords), packed(record.terms))
    source = (record.source_thread_key, record.source_run_id, record.source_user, record.author, record.created_at)
    state = (record.last_used_at, record.use_count, record.confidence, record.supersedes, record.is_standing)
    return (*about, *source, *state, record.status.value)


def shelf_of(records: Iterable[MemoryRecord]) -> RowShelf:
    return RowShelf(SCOPE, map(row_of, records))


records_of_any_kind = st.lists(
    st.tuples(WORDS, st.sampled_from("abc"), AUTHORS, st.integers(0, 9), st.booleans()), max_size=14
).map(
    lambda told: [
        replace(record(text, number, thread, author), use_count=uses, is_standing=is_standing)
        for number, (text, thread, author, uses, is_standing) in enumerate(told)
    ]
)


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
@given(records=records_of_any_kind, queries=st.lists(WORDS, min_size=3, max_size=3))
def test_rows_are_ranked_like_their_records_however_often(
    ranker: Ranker, records: list[MemoryRecord], queries: list[str]
) -> None:
    pool = Pool(shelf=shelf_of(records[::-1]))
    assert pool.chosen_by(LONG_QUERY) == Pool(records).chosen_by(LONG_QUERY)
    for query in queries:
        assert ranker.rank(pool, query, NOW, limit=5) == ranker.rank(records, query, NOW, limit=5)
    assert list(pool) == records
    assert pool.standing(3) == Pool(records).standing(3)


def test_a_later_use_is_shown_and_never_an_earlier_one() -> None:
    shelf = shelf_of([replace(record("deploy", number), use_count=3) for number in range(2)])
    shelf.count_use(used(shelf[1], NOW))
    shelf.count_use(replace(shelf[1], use_count=2))
    shelf.count_use(used(record("heron", 7), NOW))
    assert [(each.use_count, each.last_used_at) for each in (shelf[0], shelf[1])] == [(3, None), (4, NOW)]
    assert len(shelf) == 2


def test_a_change_brings_rows_replaces_them_and_takes_them_away() -> None:
    first, second, third = (record(text, number) for number, text in enumerate(("deploy", "heron", "staging")))
    changed = [third, replace(first, confidence=0.5), replace(second, status=Status.FORGOTTEN)]
    after = shelf_of([first, second]).changed_by(map(row_of, changed))
    assert list(Pool(shelf=after)) == [replace(first, confidence=0.5), third]


def test_what_a_record_was_used_outlives_a_change_that_does_not_know_of_it() -> None:
    records = [record("deploy", number) for number in range(4)]
    before = shelf_of(records)
    for each in records[:3]:
        before.count_use(used(each, NOW))
    later = used(used(records[1], NOW), NOW + timedelta(hours=1))
    retired = replace(records[2], status=Status.SUPERSEDED)
    after = before.changed_by(map(row_of, [replace(records[0], confidence=0.5), later, retired]))
    assert list(Pool(shelf=after)) == [used(replace(records[0], confidence=0.5), NOW), later, records[3]]


def test_what_has_not_changed_is_not_made_again() -> None:
    before = shelf_of([record("deploy", 0), record("heron", 2)])
    assert before.changed_by([row_of(record("staging", 1))])[2] is not before[1]
    made = before[1]
    assert before.changed_by([row_of(record("staging", 1))])[2] is made
