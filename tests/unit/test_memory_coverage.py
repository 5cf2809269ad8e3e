"""What records cover of a question: exactly what the formula says, term by term, whatever a pool keeps."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log1p

from hypothesis import given
from hypothesis import strategies as st

from memory.coverage import covered_shares
from memory.engine import mint_record
from memory.pool import MOST_REACHES, Pool
from memory.rankers import RANKERS
from memory.record import MemoryCandidate, MemoryRecord

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WORDS = ("ox", "elk", "emu", "yak", "gnu", "asp", "bee", "cod", "doe", "eel", "fox", "hen")


def record(number: int, thread: str, terms: frozenset[str]) -> MemoryRecord:
    minted = mint_record("org:acme", number, MemoryCandidate("fact", " ".join(terms) or "nothing", thread), NOW)
    return replace(minted, terms=terms)


def by_the_book(records: Sequence[MemoryRecord], terms: Sequence[str]) -> list[float]:
    """Of each record. The numbers are added in the order in which the terms are asked, as ranking always has."""
    size = max(len(records), 100)
    holders = {term: sum(term in each.terms for each in records) for term in terms}
    weights = {term: log1p((size - count + 0.5) / (count + 0.5)) for term, count in holders.items()}
    asked = sum(weights.values())
    return [share_of(each, records, {term: weights[term] / asked for term in terms}, holders) for each in records]


def share_of(
    record: MemoryRecord, records: Sequence[MemoryRecord], weights: dict[str, float], holders: dict[str, int]
) -> float:
    talk = [each for each in records if each.source_thread_key == record.source_thread_key]
    own = beside = around = 0.0
    for term, weight in weights.items():
        steps = [abs(talk.index(each) - talk.index(record)) for each in talk if term in each.terms]
        own += weight if term in record.terms else 0.0
        if steps and holders[term] <= max(len(records), 100) / 8:
            around += weight * 0.125
            nearest = min(steps)
            beside += weight * {0: -0.125, 1: 0.5 - 0.125, 2: 0.25 - 0.125}.get(nearest, 0.0)
    return own + beside + around if own else 0.0


terms_of_a_record = st.sets(st.sampled_from(WORDS), max_size=6).map(frozenset)
pools = st.lists(st.tuples(st.sampled_from("abc"), terms_of_a_record), max_size=40).map(
    lambda told: [record(number, thread, terms) for number, (thread, terms) in enumerate(told)]
)
questions = st.lists(st.sampled_from((*WORDS, "unheard", "of")), min_size=1, max_size=14, unique=True)


@given(records=pools, asked=st.lists(questions, min_size=1, max_size=4))
def test_shares_are_those_of_the_formula_to_the_last_bit(records: list[MemoryRecord], asked: list[list[str]]) -> None:
    pool = Pool(records)
    for terms in asked:
        shares = covered_shares(pool, terms)
        assert [shares[slot] for slot in pool.layout.slots] == by_the_book(records, terms)
        assert sum(map(bool, shares)) == sum(map(bool, by_the_book(records, terms)))


@given(
    records=pools,
    query=questions.map(" ".join),
    limit=st.integers(1, 9),
    ages=st.lists(st.integers(0, 4_000), min_size=40, max_size=40),
    uses=st.lists(st.integers(0, 10**6), min_size=40, max_size=40),
)
def test_the_best_are_found_whatever_age_and_use_do_to_a_score(
    records: list[MemoryRecord], query: str, limit: int, ages: list[int], uses: list[int]
) -> None:
    told = [
        replace(each, created_at=NOW - timedelta(days=age), use_count=count, author="Ox" if count % 3 else "Ann")
        for each, age, count in zip(records, ages, uses, strict=False)
    ]
    ranker = RANKERS["relevance"]
    assert ranker.rank(told, query, NOW, limit=limit) == ranker.rank(told, query, NOW)[:limit]


def test_a_pool_keeps_so_much_and_nothing_of_what_nobody_has() -> None:
    words = [f"w{number}" for number in range(3 * MOST_REACHES)]
    pool = Pool([record(0, "a", frozenset(words[MOST_REACHES:]))])
    for size in (1, 7, MOST_REACHES, len(words)):
        for start in range(0, len(words), size):
            expected = by_the_book(pool, words[start : start + size])
            assert covered_shares(pool, words[start : start + size])[pool.layout.slots[0]] == expected[0]
            assert len(pool.kept) <= MOST_REACHES
            assert pool.kept.keys().isdisjoint(words[:MOST_REACHES])
