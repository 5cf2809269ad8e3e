"""The pool a search ranks: ranked again it answers as it did before, and a limit only cuts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import mint_record, used
from memory.pool import MATCH_TOKENS, Pool, longest, pool_of
from memory.ranker import Ranker
from memory.rankers import RANKERS, ranker_for
from memory.record import MemoryCandidate, MemoryRecord, Status

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = st.lists(st.sampled_from(["deploy", "heron", "staging", "the", "not", "42", "café", "東京"]), max_size=6).map(
    " ".join
)
AUTHORS = (None, "Ann", "Heron")

by_ranker = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)


def record(text: str, number: int, thread: str = "", author: str | None = None) -> MemoryRecord:
    candidate = MemoryCandidate("fact", text or "nothing", thread or f"slack:C1:{number}.0", author=author)
    return mint_record("org:acme", number, candidate, NOW - timedelta(days=number * 7))


records_of_any_kind = st.lists(
    st.tuples(WORDS, st.sampled_from(["a", "b", ""]), st.sampled_from(AUTHORS), st.integers(0, 9)), max_size=14
).map(
    lambda told: [
        replace(record(text, number, thread, author), use_count=uses)
        for number, (text, thread, author, uses) in enumerate(told)
    ]
)


@by_ranker
@given(records=records_of_any_kind, queries=st.lists(WORDS, min_size=3, max_size=3))
def test_a_pool_that_is_ranked_again_answers_like_a_new_one(
    ranker: Ranker, records: list[MemoryRecord], queries: list[str]
) -> None:
    pool = Pool(records)
    for query in queries:
        assert ranker.rank(pool, query, NOW) == ranker.rank(records, query, NOW)


@by_ranker
@given(records=records_of_any_kind, query=WORDS, limit=st.integers(-1, 15))
def test_a_limit_takes_the_best_of_what_there_is_without_one(
    ranker: Ranker, records: list[MemoryRecord], query: str, limit: int
) -> None:
    assert ranker.rank(records, query, NOW, limit=limit) == ranker.rank(records, query, NOW)[: max(0, limit)]


@given(records=records_of_any_kind, query=WORDS, limit=st.integers(1, 5), cosine=st.floats(-1, 1))
def test_a_limit_only_cuts_where_meanings_count_too(
    records: list[MemoryRecord], query: str, limit: int, cosine: float
) -> None:
    similarity = {each.id: cosine for each in records[::2]}
    hits = RANKERS["relevance"].rank(records, query, NOW, similarity)
    assert RANKERS["relevance"].rank(records, query, NOW, similarity, limit) == hits[:limit]


def test_a_use_takes_the_place_of_what_was_before() -> None:
    pool = Pool([record("deploy", 0), record("heron", 1)])
    earlier = pool[1]
    pool.count_use(used(earlier, NOW))
    pool.count_use(earlier)
    pool.count_use(used(record("staging", 2), NOW))
    assert [each.use_count for each in pool] == [0, 1]
    assert pool[0:1][0].text == "deploy"


def test_only_active_records_are_in_a_pool_and_a_pool_stays_itself() -> None:
    records = [replace(record("deploy", number), status=status) for number, status in enumerate(Status)]
    pool = pool_of(records)
    assert [each.status for each in pool] == [Status.ACTIVE]
    assert pool_of(pool) is pool


def test_standing_records_come_last_first() -> None:
    pool = Pool([replace(record("deploy", number), is_standing=number != 1) for number in range(4)])
    assert [each.sequence for each in pool.standing(2)] == [3, 2]
    assert pool.standing(-1) == []


def test_a_query_of_few_words_leaves_every_match_a_candidate() -> None:
    """Section 17."""
    words = [f"heron{chr(ord('a') + number)}" for number in range(MATCH_TOKENS)]
    assert Pool([record("deploy", 0)]).chosen_by(" ".join(words)) is None
    assert Pool([record("deploy", 0)]).chosen_by("デプロイは金曜日に禁止") is None
    assert Pool([record("ox", 0)]).chosen_by(" ".join([*words, "ox"])) is not None


def test_of_many_words_the_longest_choose_of_equally_long_ones_the_earlier() -> None:
    """Section 17, trap 31."""
    long = [f"longertoken{number:02}" for number in range(MATCH_TOKENS)]
    pool = Pool([record("ox", 0), record(long[3], 1), record(f"ox {long[4]}", 2), record("elsewhere", 3)])
    assert pool.chosen_by(" ".join(["ox", *long])) == {"mem:org:acme:1", "mem:org:acme:2"}
    assert longest(["bb", "aaa", "cc", "aaa"]) == ["aaa", "bb", "cc"]
    assert longest(["aa", *(f"{number:02}" for number in range(MATCH_TOKENS))])[-1] == f"{MATCH_TOKENS - 2:02}"


def test_a_query_may_name_another_ranker() -> None:
    own = RANKERS["keyword"]
    assert ranker_for(None, own) is own
    assert ranker_for("relevance", own) is RANKERS["relevance"]
