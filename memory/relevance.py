"""The relevance ranker: what a record covers of the question, nudged by who said it, how fresh and how used it is."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from heapq import nlargest
from math import exp2, inf, ulp
from operator import attrgetter

from memory.authors import named_authors
from memory.coverage import covered_shares
from memory.fusion import fused
from memory.pool import Pool, pool_of
from memory.ranker import NO_SIMILARITY
from memory.record import MemoryRecord
from memory.store import Hit
from memory.text import query_terms

RECENCY_NUDGE = 0.1
"""A factor of 1.1 for what was used just now falls to 0.9: enough to order equals, too little to outweigh a word."""
RECENCY_HALF_LIFE = timedelta(days=90)
USE_NUDGE = 0.05
"""Even less, for what is recalled is used more and would be recalled ever more."""
_USES_FOR_HALF = 4
AUTHOR_LIFT = 0.3
"""Less than a second matching word is worth: who said it matters among records that answer alike."""
_HALF_LIFE_S = RECENCY_HALF_LIFE.total_seconds()
_LEAST_NUDGE = 0.99 * (1 - RECENCY_NUDGE)
_MOST_NUDGE = 1.01 * (1 + RECENCY_NUDGE) * (1 + USE_NUDGE)
"""With a hair's breadth for rounding."""
_ABOVE_NOTHING = ulp(0.0)
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
        limit: int | None = None,
    ) -> list[Hit]:
        pool = pool_of(records)
        terms = query_terms(query)
        scores = covered_shares(pool, terms)
        if similarity:
            scores = _fused(pool, scores, similarity)
        named = named_authors(pool.authors, terms)
        most = len(pool) if limit is None else max(0, limit)
        found = _ordered(pool, scores, named, now, most)
        return [Hit(pool[place], -score) for score, place in found]

    def pooled(self, hits: Sequence[Hit], query: str) -> list[Hit]:  # noqa: ARG002 - scores of scopes compare as they are
        return sorted(hits, key=_SCORE, reverse=True)


def _fused(pool: Pool, shares: Sequence[float], similarity: Mapping[str, float]) -> list[float]:
    """Scores by slot, of words and vectors together; what is not above 0 does not match."""
    slots = pool.layout.slots
    scores = [0.0] * len(shares)
    both = fused([shares[slot] for slot in slots], [similarity.get(record.id) for record in pool])
    for slot, score in zip(slots, both, strict=True):
        scores[slot] = score
    return scores


def _ordered(
    pool: Pool, scores: Sequence[float], named: frozenset[str], now: datetime, most: int
) -> list[tuple[float, int]]:
    """The best ``most`` of what matches, best first, equals in the order given: scores below 0, and places."""
    farthest = _MOST_NUDGE * (1 + AUTHOR_LIFT if named else 1)
    slots = _contenders(scores, most, _LEAST_NUDGE / farthest)
    places, trace = pool.layout.places, pool.shelf.trace
    found: list[tuple[float, int]] = []
    enough = 0.0
    for slot in slots:
        score = scores[slot]
        if score < enough:
            break
        place = places[slot]
        author, used_at, uses = trace(place)
        found.append((-(_lifted(score) if author in named else score) * _nudge(used_at, uses, now), place))
        if len(found) == most:
            # Whoever comes behind has a lower score, and gets no farther than this.
            enough = -max(found)[0] / farthest
    found.sort()
    return found[:most]


def _contenders(scores: Sequence[float], most: int, lasting: float) -> list[int]:
    """The slots of what may be among the best ``most``, best first; at least ``lasting`` of a score stays of it."""
    best = nlargest(most, scores)
    least = max(best[-1] * lasting, _ABOVE_NOTHING) if best else inf
    slots = [slot for slot, score in enumerate(scores) if score >= least]
    slots.sort(key=scores.__getitem__, reverse=True)
    return slots


def _lifted(score: float) -> float:
    """More for an author the question names, never above 1."""
    return score * (1 + AUTHOR_LIFT * (1 - score))


def _nudge(used_at: datetime, uses: int, now: datetime) -> float:
    """0.9 to 1.155."""
    age_s = (now - used_at).total_seconds()
    freshness = exp2(-age_s / _HALF_LIFE_S) if age_s > 0 else 1.0
    factor = 1 - RECENCY_NUDGE + 2 * RECENCY_NUDGE * freshness
    return factor * (1 + USE_NUDGE * uses / (uses + _USES_FOR_HALF)) if uses else factor
