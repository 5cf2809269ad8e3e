"""What a database is asked for, and how much of a scope a search looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.pool import Pool
from memory.ranker import Ranker
from memory.record import Kind, MemoryRecord
from memory.store import Hit, Query

WHOLE_POOL = 2_000
"""Up to so many active records a search ranks every one of them; beyond, an index chooses."""
_FEWEST_CANDIDATES = 50
_CANDIDATES_PER_HIT = 5


@dataclass(frozen=True, slots=True)
class Search:
    query: Query
    ranker: Ranker
    now: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    limit: int
    query: str
    kind: Kind | None
    before: int | None


def ranked(records: Sequence[MemoryRecord], search: Search, similarity: Mapping[str, float]) -> list[Hit]:
    """The best of ``records``: of a whole scope only those that the query's longest words choose, as an index does."""
    query = search.query
    chosen = records.chosen_by(query.text) if isinstance(records, Pool) else None
    if chosen is None:
        return search.ranker.rank(records, query.text, search.now, similarity, max(0, query.limit))
    hits = search.ranker.rank(records, query.text, search.now, similarity)
    return [hit for hit in hits if hit.record.id in chosen or hit.record.id in similarity][: max(0, query.limit)]


def candidates_for(limit: int) -> int:
    """How many candidates the index chooses (specification, section 17)."""
    return max(_FEWEST_CANDIDATES, _CANDIDATES_PER_HIT * limit)
