"""The relevance ranker: which records match a question, and in which order."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.coverage import ADJACENT, SAME_THREAD, SECOND, covered_shares
from memory.engine import mint_record
from memory.fusion import CLEARLY_SIMILAR, fused
from memory.pool import Pool
from memory.ranker import KeywordRanker, Ranker
from memory.reach import term_weight
from memory.record import MemoryCandidate, MemoryRecord, Status
from memory.relevance import RelevanceRanker
from memory.store import Hit
from memory.text import query_terms

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RANKER = RelevanceRanker()


def record(
    text: str, number: int = 1, *, thread: str = "", author: str | None = None, said_at: datetime = NOW
) -> MemoryRecord:
    """In a conversation of its own unless ``thread`` says otherwise."""
    candidate = MemoryCandidate("fact", text, thread or f"slack:C1:{number}.0", author=author)
    return mint_record("org:acme", number, candidate, said_at)


def told(*texts: str, thread: str = "slack:C1:1.0") -> list[MemoryRecord]:
    """Said one after the other in one conversation."""
    return [record(text, number, thread=thread) for number, text in enumerate(texts, 1)]


def ranked(records: Sequence[MemoryRecord], query: str, **similarity: float) -> list[str]:
    by_id = {f"mem:org:acme:{number.removeprefix('r')}": cosine for number, cosine in similarity.items()}
    return [hit.record.text for hit in RANKER.rank(records, query, NOW, by_id)]


def shares_of(records: Sequence[MemoryRecord], terms: Sequence[str]) -> list[float]:
    """Of each record; 0 where nothing is covered."""
    pool = Pool(records)
    shares = covered_shares(pool, terms)
    return [shares[slot] for slot in pool.layout.slots]


def test_a_record_that_matches_nothing_is_never_returned() -> None:
    """Section 5: the gate is the match, whatever else speaks for a record."""
    fresh = replace(record("lunch is at noon"), last_used_at=NOW, use_count=1000)
    assert ranked([fresh], "deploy staging") == []
    assert ranked([fresh], "?!") == []
    assert ranked([], "deploy") == []


def test_stop_words_alone_match_only_a_question_of_nothing_else() -> None:
    records = [record("who they are", 1), record("a deploy", 2)]
    assert ranked(records, "what are the deploys?") == ["a deploy"]
    assert ranked(records, "who are they?") == ["who they are"]


def test_only_active_records_are_ranked() -> None:
    """Section 8."""
    assert ranked([replace(record("deploy"), status=status) for status in Status], "deploy") == ["deploy"]


def test_a_rare_word_outweighs_a_common_one() -> None:
    common = [record(f"deploy number {number}", number) for number in range(2, 30)]
    rare = record("kubernetes", 1)
    assert ranked([*common, rare], "kubernetes deploy")[0] == "kubernetes"


def test_an_old_answer_beats_a_fresh_record_that_shares_one_word() -> None:
    """The reference formula fails this; one matched word weighs as much there as all freshness."""
    answer = record("the staging database is called heron", 1, said_at=NOW - timedelta(days=365))
    fresh = record("staging lunch", 2)
    assert ranked([fresh, answer], "which staging database") == [answer.text, fresh.text]
    assert KeywordRanker().rank([fresh, answer], "which staging database", NOW)[0].record is fresh


@pytest.mark.parametrize("newer", [record("Deploy!", 2), replace(record("Deploy!", 2, said_at=NOW), use_count=3)])
def test_of_equals_the_fresher_and_the_more_used_come_first(newer: MemoryRecord) -> None:
    older = record("deploy", 1, said_at=NOW - timedelta(days=30))
    assert ranked([older, newer], "deploy") == ["Deploy!", "deploy"]


def test_equals_keep_the_order_given() -> None:
    records = [record("deploy", number) for number in (3, 1, 2)]
    hits = RANKER.rank(records, "deploy", NOW)
    assert [hit.record for hit in hits] == records
    assert [hit.record for hit in RANKER.pooled(hits, "deploy")] == records


@given(st.integers(0, 20_000), st.integers(0, 10**9))
def test_time_and_use_move_a_score_by_a_tenth_and_a_twentieth_at_most(days: int, use_count: int) -> None:
    plain = RANKER.rank([record("deploy", said_at=NOW + timedelta(days=1))], "deploy", NOW)[0].score
    aged = replace(record("deploy"), created_at=NOW - timedelta(days=days), use_count=use_count)
    score = RANKER.rank([aged], "deploy", NOW)[0].score
    assert plain == pytest.approx(1.1)
    assert 0.9 <= score <= 1.1 * 1.05


def test_the_last_use_counts_as_freshness() -> None:
    long_ago = record("deploy", said_at=NOW - timedelta(days=900))
    just_used = replace(long_ago, last_used_at=NOW)
    assert RANKER.rank([long_ago], "deploy", NOW)[0].score < RANKER.rank([just_used], "deploy", NOW)[0].score


def test_scores_of_a_small_and_a_large_scope_compare() -> None:
    """Section 22: one pool. A scope of one record must not lose because its every word is common there."""
    small = [record("replies in German", 1)]
    large = [record("replies go to the channel", 2), *(record(f"note {number}", number) for number in range(3, 99))]
    query = "which language for replies, German?"
    pooled = RANKER.pooled([*RANKER.rank(large, query, NOW), *RANKER.rank(small, query, NOW)], query)
    assert pooled[0].record is small[0]


def test_the_pool_of_scopes_is_ordered_by_score_alone() -> None:
    hits = [Hit(record("a", 1), 0.2), Hit(record("b", 2), 0.9), Hit(record("c", 3), 0.2)]
    assert [hit.record.text for hit in RANKER.pooled(hits, "anything")] == ["b", "a", "c"]


def test_who_said_it_counts_when_the_question_names_them() -> None:
    records = [record("prefers tabs", 1, author="Ben Ito"), record("prefers tabs", 2, author="Ann Lee")]
    hits = RANKER.rank(records, "what does Ann prefer", NOW)
    assert [hit.record.author for hit in hits] == ["Ann Lee", "Ben Ito"]
    both = RANKER.rank(records, "what do Ann and Ben prefer", NOW)
    assert both[0].score == both[1].score
    assert [hit.record.author for hit in RANKER.rank([record("prefers tabs", 1)], "prefer", NOW)] == [None]


def test_a_date_in_the_question_finds_what_was_said_then() -> None:
    may = record("we shipped", 1, said_at=datetime(2023, 5, 8, tzinfo=UTC))
    june = record("we shipped", 2, said_at=datetime(2023, 6, 9, tzinfo=UTC))
    assert RANKER.rank([june, may], "what was shipped in May 2023", NOW)[0].record is may
    assert RANKER.rank([may, june], "what was shipped on 9 June", NOW)[0].record is june


def test_neighbours_in_a_conversation_support_each_other() -> None:
    """What one turn asks the next one answers, without repeating it."""
    talk = told("which database does staging use", "it is heron", "lunch?", "no", "later", "then heron it is")
    alone = record("heron", 7)
    assert ranked([alone, *talk], "staging database heron")[:2] == [talk[0].text, talk[1].text]
    assert ranked([alone, *talk], "staging database heron")[-1] == "heron"


def test_support_halves_with_each_step_and_ends_with_the_conversation() -> None:
    talk = told("heron", "heron", "heron", "staging heron", "heron", thread="slack:C1:1.0")
    other = record("heron", 6)
    records = [*talk, other]
    terms = query_terms("heron staging")
    weights = [term_weight(6, 6), term_weight(1, 6)]
    heron, staging = (weight / sum(weights) for weight in weights)
    supports = [SAME_THREAD, SECOND, ADJACENT, 1, ADJACENT, 0]
    assert shares_of(records, terms) == pytest.approx([heron + support * staging for support in supports])
    backwards = shares_of(records[::-1], terms)
    assert backwards == pytest.approx(shares_of(records, terms)[::-1])


def test_what_much_of_the_pool_has_supports_nobody() -> None:
    talk = told(*["deploy", "heron"] * 40)
    shares = shares_of(talk, ["deploy", "heron"])
    assert shares == pytest.approx([0.5] * 80)


def test_a_neighbour_without_any_match_stays_out() -> None:
    assert ranked(told("deploy heron", "yes"), "deploy heron") == ["deploy heron"]


WORDS = st.lists(st.sampled_from(["deploy", "heron", "staging", "the", "not", "42", "café", "東京"]), max_size=5).map(
    " ".join
)


@given(st.lists(st.tuples(WORDS, st.sampled_from(["a", "b"])), max_size=12), WORDS)
def test_shares_are_at_most_one_and_above_nothing_exactly_for_a_match(said: list[tuple[str, str]], query: str) -> None:
    records = [record(text, number, thread=thread) for number, (text, thread) in enumerate(said, 1)]
    terms = query_terms(query)
    shares = shares_of(records, terms)
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    assert [share > 0 for share in shares] == [not each.terms.isdisjoint(terms) for each in records]


@given(st.text(st.characters(), max_size=60), st.lists(st.text(st.characters(), max_size=40), max_size=5))
def test_any_text_is_a_legal_question(query: str, texts: list[str]) -> None:
    records = [record(text, number) for number, text in enumerate(texts, 1)]
    for hit in RANKER.rank(records, query, NOW):
        assert 0 < hit.score <= 1.2


def test_a_text_finds_itself_first() -> None:
    records = [
        record(text, number) for number, text in enumerate(("deploy at noon", "deploy", "noon deploy at ten"), 1)
    ]
    for each in records:
        assert each.text in ranked(records, each.text)[:2]


def test_vectors_reorder_what_words_found() -> None:
    records = [record("deploy heron", 1), record("deploy crane", 2)]
    assert ranked(records, "deploy", r1=0.2, r2=0.8) == ["deploy crane", "deploy heron"]
    assert ranked(records, "deploy", r1=0.8, r2=0.2) == ["deploy heron", "deploy crane"]


def test_a_record_without_a_shared_word_enters_through_a_clearly_high_cosine_only() -> None:
    records = [record("ships on Fridays", 1), *(record(f"note {number}", number) for number in range(2, 30))]
    others = {f"r{number}": 0.1 for number in range(2, 30)}
    assert ranked(records, "release day", r1=0.9, **others) == ["ships on Fridays"]
    assert ranked(records, "release day", r1=0.5, **others) == []
    assert ranked(records[:1], "release day", r1=0.9) == ["ships on Fridays"]


def test_a_model_that_finds_everything_alike_lets_nothing_in() -> None:
    records = [record(f"note {number}", number) for number in range(1, 100)]
    assert ranked(records, "release day", **{f"r{number}": 0.8 for number in range(1, 100)}) == []


def test_a_record_without_a_vector_is_judged_by_its_words() -> None:
    records = [record("deploy heron", 1), record("deploy", 2)]
    assert ranked(records, "deploy heron", r2=0.4) == ["deploy heron", "deploy"]
    assert ranked(records, "deploy heron", r9=0.9) == ranked(records, "deploy heron")


def test_the_best_of_words_and_vectors_has_their_weighted_sum() -> None:
    assert fused([0.5, 0.0], [0.9, 0.1]) == pytest.approx([0.6 * 0.5 + 0.4 * 0.9, 0.0])
    assert fused([0.5, 0.25], [None, None]) == [0.5, 0.25]
    assert fused([], []) == []


def test_equal_cosines_leave_the_order_to_the_words() -> None:
    scores = fused([0.2] * 6 + [0.4] * 6, [0.5] * 12)
    assert scores[0] < scores[6]
    assert len(set(scores)) == 2


def test_the_least_cosine_of_a_large_pool_counts_nothing() -> None:
    """Min-max: the range is the pool's own, once it is large enough to have one."""
    scores = fused([0.5] * 10, [0.7, *[0.9] * 9])
    size = 0.6 * 0.5 + 0.4 * 0.9
    assert scores[0] == pytest.approx(size * 0.6)
    assert scores[1] == pytest.approx(size)


@given(st.lists(st.tuples(st.floats(0, 1), st.none() | st.floats(-1, 1)), max_size=30))
def test_fusion_never_drops_a_match_of_words_and_stays_within_one(pool: list[tuple[float, float | None]]) -> None:
    shares, cosines = [share for share, _ in pool], [cosine for _, cosine in pool]
    scores = fused(shares, cosines)
    assert len(scores) == len(pool)
    assert all(0 <= score <= 1 + 1e-9 for score in scores)
    for share, cosine, score in zip(shares, cosines, scores, strict=True):
        assert score > 0 or share < 1e-9
        assert score == 0 or share or (cosine or 0) > CLEARLY_SIMILAR


def test_it_is_a_ranker_like_the_reference() -> None:
    rankers: list[Ranker] = [RANKER, KeywordRanker()]
    assert all(ranker.rank([record("deploy")], "deploy", NOW) for ranker in rankers)
