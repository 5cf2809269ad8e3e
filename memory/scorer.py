"""The reference ranker's arithmetic, and the budget of a block (specification, sections 5 and 6)."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from memory.record import MemoryRecord
from memory.text import tokenize

KEYWORD_WEIGHT = 0.7
RECENCY_WEIGHT = 0.3
RECENCY_TAU = timedelta(weeks=1)
CHARS_PER_TOKEN = 4


def keyword_match(query_tokens: Sequence[str], record: MemoryRecord) -> float:
    """The share of the query's tokens, repeated ones counted each time, that the record has; 0 for no tokens."""
    if not query_tokens:
        return 0.0
    known = {*tokenize(" ".join(record.keywords)), *tokenize(record.text)}
    return sum(token in known for token in query_tokens) / len(query_tokens)


def recency(record: MemoryRecord, now: datetime) -> float:
    """1 when it was used just now, 1/e after a week; the future counts as now."""
    age = max(timedelta(0), now - record.used_at)
    return math.exp(-age / RECENCY_TAU)


def score(match: float, record: MemoryRecord, now: datetime) -> float:
    return KEYWORD_WEIGHT * match + RECENCY_WEIGHT * recency(record, now)


def estimated_tokens(text: str) -> int:
    """A quarter of the text's length in UTF-16 units, rounded up: the reference counts as JavaScript does."""
    return math.ceil(len(text.encode("utf-16-le", "surrogatepass")) // 2 / CHARS_PER_TOKEN)


def within_budget(
    records: Iterable[MemoryRecord], *, limit: int, max_tokens: int, cost: Callable[[MemoryRecord], int]
) -> list[MemoryRecord]:
    """The first records that fit. Stops at the first that does not, and keeps the first one whatever it costs."""
    kept: list[MemoryRecord] = []
    spent = 0
    for record in records:
        spent += cost(record)
        if len(kept) >= limit or (kept and spent > max_tokens):
            break
        kept.append(record)
    return kept
