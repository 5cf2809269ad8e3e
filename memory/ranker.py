"""How matching records are ordered: the ranker's port, and the reference ranker."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from memory.pool import pool_of
from memory.record import MemoryRecord
from memory.scorer import KEYWORD_WEIGHT, RECENCY_WEIGHT, keyword_match, score
from memory.store import Hit
from memory.text import query_terms, tokenize

NO_SIMILARITY: Mapping[str, float] = {}


class Ranker(Protocol):
    """Pure. Adapters: keyword (the reference), relevance."""

    def rank(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        now: datetime,
        similarity: Mapping[str, float] = NO_SIMILARITY,
        limit: int | None = None,
    ) -> list[Hit]:
        """Every active record of one scope that matches, best first, equals in the order given.

        ``records`` come in the order of their sequence numbers, either way: neighbours of one conversation may count.
        A ``Pool`` of them is ranked faster the second time. ``similarity`` tells by record id how close query and
        record are, as a cosine, where both have vectors. ``limit``: only so many of the best.
        """
        ...

    def pooled(self, hits: Sequence[Hit], query: str) -> list[Hit]:
        """The hits of several scopes as one list, best first, equals in the order given."""
        ...


class KeywordRanker:
    """The reference formula, exactly: 0.7 · keyword match + 0.3 · recency, gated by the match (section 5)."""

    def rank(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        now: datetime,
        similarity: Mapping[str, float] = NO_SIMILARITY,  # noqa: ARG002 - the reference knows words only
        limit: int | None = None,
    ) -> list[Hit]:
        pool, tokens = pool_of(records), tokenize(query)
        matched: Counter[int] = Counter()
        times = Counter(tokens)
        for token, places in pool.having_words(times).items():
            for place in places:
                matched[place] += times[token]
        hits = [Hit(pool[place], score(matched[place] / len(tokens), pool[place], now)) for place in sorted(matched)]
        hits.sort(key=lambda hit: -hit.score)
        return hits if limit is None else hits[: max(0, limit)]

    def pooled(self, hits: Sequence[Hit], query: str) -> list[Hit]:
        """Scored again: being returned has just made every one of them recent (section 22)."""
        tokens = tokenize(query)
        fresh = [Hit(hit.record, KEYWORD_WEIGHT * keyword_match(tokens, hit.record) + RECENCY_WEIGHT) for hit in hits]
        return sorted(fresh, key=lambda hit: -hit.score)


def matches_any(query: str, record: MemoryRecord) -> bool:
    """Whether a listing filtered by ``query`` shows the record: some token of it is the record's.

    A query in a script that has no such tokens is matched by terms; one of punctuation alone matches nothing.
    """
    tokens = tokenize(query)
    if tokens:
        return keyword_match(tokens, record) > 0
    return not record.terms.isdisjoint(query_terms(query))
