"""The reference ranker's arithmetic and the budget, as the specification's sections 5 and 6 have them."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.engine import mint_record
from memory.ranker import KeywordRanker, matches_any
from memory.record import MemoryCandidate, MemoryRecord, Status
from memory.scorer import estimated_tokens, keyword_match, recency, score, within_budget
from memory.store import Hit
from memory.text import tokenize

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def record(
    text: str, number: int = 1, *, keywords: tuple[str, ...] | None = None, age: timedelta = timedelta(0)
) -> MemoryRecord:
    candidate = MemoryCandidate("fact", text, "slack:C1:1.0", keywords=keywords)
    return mint_record("org:acme", number, candidate, NOW - age)


def test_keyword_match_is_the_share_of_the_querys_tokens() -> None:
    """Section 5. Criterion: keywordMatch is the fraction of query tokens; whole-token; 0 for an empty query."""
    deploys = record("Deploys run nightly", keywords=("release",))
    assert keyword_match(tokenize("deploys run hourly daily"), deploys) == 0.5
    assert keyword_match(tokenize("release"), deploys) == 1
    assert keyword_match(tokenize("deploy"), deploys) == 0
    assert keyword_match([], deploys) == 0


def test_a_repeated_query_word_counts_each_time() -> None:
    """Section 5, trap 1."""
    assert keyword_match(tokenize("deploy deploy staging"), record("deploy")) == pytest.approx(2 / 3)


def test_recency_falls_to_one_eth_in_a_week() -> None:
    """Section 5. Criterion: recency uses lastUsedAt and decays to 1/e at τ."""
    week_old = record("deploy", age=timedelta(weeks=1))
    assert recency(record("deploy"), NOW) == 1
    assert recency(week_old, NOW) == pytest.approx(1 / math.e)
    assert recency(record("deploy", age=timedelta(weeks=2)), NOW) == pytest.approx(1 / math.e**2)


def test_recency_looks_at_the_last_use_even_if_it_is_older() -> None:
    """Section 5, trap 3."""
    earlier = replace(record("deploy"), last_used_at=NOW - timedelta(weeks=1))
    assert recency(earlier, NOW) == pytest.approx(1 / math.e)


def test_the_future_counts_as_now() -> None:
    """Section 5, trap 4."""
    assert recency(record("deploy", age=-timedelta(days=3)), NOW) == 1


def test_the_score_is_seven_parts_match_and_three_parts_recency() -> None:
    """Section 5. Criterion: Scorer = alpha x keyword + beta x recency."""
    assert score(0.5, record("deploy", age=timedelta(weeks=1)), NOW) == pytest.approx(0.35 + 0.3 / math.e)


def test_words_dominate_and_recency_breaks_ties() -> None:
    """Section 5. Criterion: keyword dominates, recency breaks ties."""
    old_full = record("deploy staging", 1, age=timedelta(weeks=50))
    new_half = record("deploy", 2)
    new_full = record("staging deploy", 3)
    hits = KeywordRanker().rank([old_full, new_half, new_full], "deploy staging", NOW)
    assert [hit.record for hit in hits] == [new_full, old_full, new_half]


def test_a_record_that_matches_nothing_is_never_ranked() -> None:
    """Section 5, trap 2: the gate is the match, not the score."""
    assert KeywordRanker().rank([record("something else")], "deploy", NOW) == []
    assert KeywordRanker().rank([record("deploy")], "?!", NOW) == []
    assert KeywordRanker().rank([], "deploy", NOW) == []


def test_only_active_records_are_ranked() -> None:
    """Section 8."""
    retired = [replace(record("deploy"), status=status) for status in Status if status is not Status.ACTIVE]
    assert KeywordRanker().rank(retired, "deploy", NOW) == []


def test_equal_scores_keep_the_order_given() -> None:
    """Section 5, trap 5."""
    records = [record("deploy", number) for number in (3, 1, 2)]
    ranker = KeywordRanker()
    hits = ranker.rank(records, "deploy", NOW)
    assert [hit.record for hit in hits] == records
    assert [hit.record for hit in ranker.pooled(hits, "deploy")] == records


def test_the_pool_is_scored_again_as_if_all_were_just_used() -> None:
    """Section 22."""
    old, fresh = record("deploy staging", 1, age=timedelta(weeks=9)), record("deploy", 2)
    pooled = KeywordRanker().pooled([Hit(fresh, 0.65), Hit(old, 0.7)], "deploy staging")
    assert [(hit.record, hit.score) for hit in pooled] == [(old, 1.0), (fresh, pytest.approx(0.65))]


def test_a_listing_filter_is_the_same_gate() -> None:
    """Section 24."""
    assert matches_any("the deploy", record("deploy"))
    assert not matches_any("deployment", record("deploy"))
    assert not matches_any("…", record("deploy"))


def test_a_listing_is_filtered_in_every_script() -> None:
    minted = mint_record("org:acme", 1, MemoryCandidate("fact", "デプロイは火曜日です", "slack:C1:1.0"), NOW)
    assert matches_any("火曜", minted)
    assert not matches_any("水曜", minted)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("🎉🎉", 1), ("🎉🎉a", 2), ("\ud800", 1)]
)
def test_a_token_is_four_utf_16_units(text: str, tokens: int) -> None:
    """Section 6; the reference counts as JavaScript does."""
    assert estimated_tokens(text) == tokens


def test_the_budget_stops_at_the_first_record_that_does_not_fit() -> None:
    """Section 6, trap 6. Criterion: hard budget caps by count and tokens; first record always kept; order preserved."""
    records = [record("x" * size, number) for number, size in enumerate((10, 50, 5), 1)]

    def cost(one: MemoryRecord) -> int:
        return len(one.text)

    assert within_budget(records, limit=8, max_tokens=30, cost=cost) == records[:1]
    assert within_budget(records, limit=8, max_tokens=60, cost=cost) == records[:2]
    assert within_budget(records, limit=8, max_tokens=65, cost=cost) == records
    assert within_budget(records, limit=2, max_tokens=65, cost=cost) == records[:2]
    assert within_budget(records, limit=8, max_tokens=1, cost=cost) == records[:1]
    assert within_budget(records, limit=0, max_tokens=65, cost=cost) == []


@given(st.lists(st.integers(1, 100)), st.integers(0, 10), st.integers(0, 300))
def test_the_budget_keeps_a_beginning_that_fits(sizes: list[int], limit: int, max_tokens: int) -> None:
    """Section 6."""
    records = [record("x" * size, number) for number, size in enumerate(sizes, 1)]
    kept = within_budget(records, limit=limit, max_tokens=max_tokens, cost=lambda one: len(one.text))
    assert kept == records[: len(kept)]
    assert len(kept) <= limit
    assert len(kept) <= 1 or sum(len(one.text) for one in kept) <= max_tokens
