"""The rankers there are, by the names that settings and requests call them by."""

from collections.abc import Mapping

from memory.ranker import KeywordRanker, Ranker
from memory.relevance import RelevanceRanker
from memory.store import RankerName

RANKERS: Mapping[RankerName, Ranker] = {"relevance": RelevanceRanker(), "keyword": KeywordRanker()}


def ranker_for(name: RankerName | None, own: Ranker) -> Ranker:
    """The one a query names, or else the store's ``own``."""
    return own if name is None else RANKERS[name]
