"""What a database is asked for, and how much of a scope a search looks at."""

from dataclasses import dataclass
from datetime import datetime

from memory.ranker import Ranker
from memory.record import Kind
from memory.store import Query

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


def candidates_for(limit: int) -> int:
    """How many candidates the index chooses (specification, section 17)."""
    return max(_FEWEST_CANDIDATES, _CANDIDATES_PER_HIT * limit)
