"""How much of what is asked each record of a pool covers, by itself and through what stands beside it."""

import math
from collections.abc import Sequence

from memory.pool import Layout, Pool

ADJACENT, SECOND, SAME_THREAD = 1 / 2, 1 / 4, 1 / 8
"""What a term counts that only a record nearby in the same conversation has: half for each step away."""
COMMON_SHARE = 1 / 8
"""A term that more of the pool has tells nothing about a neighbourhood."""
SMALLEST_POOL = 100
"""Smaller pools count as this large: in them the rarest words look common. It keeps scores of scopes comparable."""


def term_weight(holders: int, records: int) -> float:
    """Inverse document frequency as in BM25, above 0: what ``holders`` of ``records`` have."""
    size = max(records, SMALLEST_POOL)
    return math.log1p((size - holders + 0.5) / (holders + 0.5))


def covered_shares(pool: Pool, terms: Sequence[str]) -> list[float]:
    """By slot of the pool's layout the weight of what a record covers by that of ``terms``: above 0, at most 1.

    It is 0 for records that have none of the terms, and between conversations.
    """
    having = pool.having_terms(terms)
    asked = sum(term_weight(len(slots), len(pool)) for slots in having.values())
    layout = pool.layout
    own = [0.0] * layout.size
    beside = [0.0] * layout.size
    around = [0.0] * layout.threads
    for slots in having.values():
        weight = term_weight(len(slots), len(pool)) / asked
        for slot in slots:
            own[slot] += weight
        if len(slots) <= COMMON_SHARE * max(len(pool), SMALLEST_POOL):
            _spread(slots, weight, beside, around, layout)
    slots = zip(own, beside, layout.thread_of, strict=True)
    return [covered + near + around[thread] if covered else 0.0 for covered, near, thread in slots]


def _spread(slots: Sequence[int], weight: float, beside: list[float], around: list[float], layout: Layout) -> None:
    """Let a term count in its holders' conversations. ``around`` is for all of one, ``beside`` corrects it."""
    holding = set(slots)
    adjacent = {slot + step for slot in slots for step in (-1, 1)} - holding
    second = {slot + step for slot in slots for step in (-2, 2)} - holding - adjacent
    for slot in slots:
        beside[slot] -= weight * SAME_THREAD
    for slot in adjacent:
        beside[slot] += weight * (ADJACENT - SAME_THREAD)
    for slot in second:
        beside[slot] += weight * (SECOND - SAME_THREAD)
    for thread in {layout.thread_of[slot] for slot in slots}:
        around[thread] += weight * SAME_THREAD
