"""Where in a pool a term counts: with the records that have it, and with what stands beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory.layout import Layout

COMMON_SHARE = 1 / 8
"""A term that more of the pool has tells nothing about a neighbourhood."""
SMALLEST_POOL = 100
"""Smaller pools count as this large: in them the rarest words look common. It keeps scores of scopes comparable."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Of one term in one pool: all that a search takes from it, whatever else is asked."""

    weight: float
    holders: Sequence[int] = ()
    """The slots of the records that have it."""
    plane: int = 0
    """A byte for each slot, 1 for a holder: those of several terms are laid over each other in one step."""
    adjacent: Sequence[int] = ()
    """Slots one step from a holder that are none, of records; ``second``: two steps, and none of either."""
    second: Sequence[int] = ()
    threads: Sequence[int] = ()
    """The holders' conversations; like the two before empty for a common term."""


def term_weight(holders: int, records: int) -> float:
    """Inverse document frequency as in BM25, above 0: what ``holders`` of ``records`` have."""
    size = max(records, SMALLEST_POOL)
    return math.log1p((size - holders + 0.5) / (holders + 0.5))


def reach_of(holders: Sequence[int], layout: Layout) -> Reach:
    records = len(layout.slots)
    weight = term_weight(len(holders), records)
    marks = bytearray(layout.size)
    for slot in holders:
        marks[slot] = 1
    plane = int.from_bytes(marks, "little")
    if len(holders) > COMMON_SHARE * max(records, SMALLEST_POOL):
        return Reach(weight, holders, plane)
    holding = set(holders)
    adjacent = {slot + step for slot in holders for step in (-1, 1)} - holding
    second = {slot + step for slot in holders for step in (-2, 2)} - holding - adjacent
    threads = {layout.thread_of[slot] for slot in holders}
    return Reach(weight, holders, plane, _taken(adjacent, layout), _taken(second, layout), tuple(threads))


def _taken(slots: set[int], layout: Layout) -> tuple[int, ...]:
    """Those that a record has."""
    return tuple(slot for slot in slots if layout.places[slot] >= 0)
