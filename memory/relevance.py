"""The relevance ranker: what a record covers of the question, nudged by who said it, how fresh and how used it is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import exp2
from operator import attrgetter

from memory.coverage import covered_shares
from memory.fusion import fused
from memory.ranker import NO_SIMILARITY
from memory.record import MemoryRecord, Status
from memory.store import Hit
from memory.text import name_terms, query_terms

RECENCY_NUDGE = 0.1
"""A factor of 1.1 for what was used just now falls to 0.9: enough to order equals, too little to outweigh a word."""
RECENCY_HALF_LIFE = timedelta(days=90)
USE_NUDGE = 0.05
"""Even less, for what is recalled is used more and would be recalled ever more."""
_USES_FOR_HALF = 4
AUTHOR_LIFT = 0.3
"""Less than a second matching word is worth: who said it matters among records that answer alike."""
_HALF_LIFE_S = RECENCY_HALF_LIFE.total_seconds()
_ACTIVE = Status.ACTIVE
_SCORE = attrgetter("score")


class RelevanceRanker:
    """Terms weighted by how rare they are in the pool, as a share of all that is asked.

    Records come in the order of their sequence numbers, either way: neighbours of one conversation support each other.
    """

    def rank(
        self,
        records: Sequence[MemoryRecord],
        query: str,
        now: datetime,
        similarity: Mapping[str, float] = NO_SIMILARITY,
    ) -> list[Hit]:
        active = [record for record in records if record.status is _ACTIVE]
        terms = query_terms(query)
        scores = covered_shares(active, terms)
        if similarity:
            scores = fused(scores, [similarity.get(record.id) for record in active])
        named = _named_authors(active, frozenset(terms))
        hits = [
            Hit(record, (_lifted(score) if record.author in named else score) * _nudge(record, now))
            for record, score in zip(active, scores, strict=True)
            if score > 0
        ]
        hits.sort(key=_SCORE, reverse=True)
        return hits

    def pooled(self, hits: Sequence[Hit], query: str) -> list[Hit]:  # noqa: ARG002 - scores of scopes compare as they are
        return sorted(hits, key=_SCORE, reverse=True)


def _named_authors(records: Sequence[MemoryRecord], terms: frozenset[str]) -> frozenset[str]:
    """Those the question names; nobody when they said everything, which tells nothing."""
    authors = {record.author for record in records}
    named = frozenset(author for author in authors if author and not terms.isdisjoint(name_terms(author)))
    return named if len(named) < len(authors) else frozenset()


def _lifted(score: float) -> float:
    """More for an author the question names, never above 1."""
    return score * (1 + AUTHOR_LIFT * (1 - score))


def _nudge(record: MemoryRecord, now: datetime) -> float:
    """0.9 to 1.155."""
    age_s = (now - (record.last_used_at or record.created_at)).total_seconds()
    freshness = exp2(-age_s / _HALF_LIFE_S) if age_s > 0 else 1.0
    factor = 1 - RECENCY_NUDGE + 2 * RECENCY_NUDGE * freshness
    uses = record.use_count
    return factor * (1 + USE_NUDGE * uses / (uses + _USES_FOR_HALF)) if uses else factor
