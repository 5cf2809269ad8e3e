"""How much of what is asked each record of a pool covers, by itself and through what stands beside it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memory.record import MemoryRecord

ADJACENT, SECOND, SAME_THREAD = 1 / 2, 1 / 4, 1 / 8
"""What a term counts that only a record nearby in the same conversation has: half for each step away."""
COMMON_SHARE = 1 / 8
"""A term that more of the pool has tells nothing about a neighbourhood."""
SMALLEST_POOL = 100
"""Smaller pools count as this large: in them the rarest words look common. It keeps scores of scopes comparable."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class _Layout:
    """Records side by side with those of their conversation, in the order given, and a gap between conversations."""

    slots: list[int]
    """Of each record."""
    thread_of: list[int]
    """Of each slot."""
    threads: int


def term_weight(holders: int, records: int) -> float:
    """Inverse document frequency as in BM25, above 0: what ``holders`` of ``records`` have."""
    size = max(records, SMALLEST_POOL)
    return math.log1p((size - holders + 0.5) / (holders + 0.5))


def covered_shares(records: Sequence[MemoryRecord], terms: Sequence[str]) -> list[float]:
    """For each record 0 to 1: the weight of what it covers by the weight of ``terms``; 0 for one that has none of them.

    Neighbours are found by the order given, so records come in the order of their sequence numbers, either way.
    """
    layout = _layout(records)
    holders = _holders(records, terms, layout)
    asked = sum(term_weight(len(slots), len(records)) for slots in holders.values())
    own = [0.0] * len(layout.thread_of)
    beside = [0.0] * len(layout.thread_of)
    around = [0.0] * layout.threads
    for slots in holders.values():
        weight = term_weight(len(slots), len(records)) / asked
        for slot in slots:
            own[slot] += weight
        if len(slots) <= COMMON_SHARE * max(len(records), SMALLEST_POOL):
            _spread(slots, weight, beside, around, layout)
    return [own[slot] and own[slot] + beside[slot] + around[layout.thread_of[slot]] for slot in layout.slots]


def _layout(records: Sequence[MemoryRecord]) -> _Layout:
    members: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        members.setdefault(record.source_thread_key, []).append(place)
    slots = [0] * len(records)
    thread_of = [0] * _GAP
    for thread, places in enumerate(members.values()):
        for slot, place in enumerate(places, len(thread_of)):
            slots[place] = slot
        thread_of += [thread] * (len(places) + _GAP)
    return _Layout(slots, thread_of, len(members))


def _holders(records: Sequence[MemoryRecord], terms: Sequence[str], layout: _Layout) -> dict[str, list[int]]:
    """The slots of the records that have it, by term."""
    asked = frozenset(terms)
    holders: dict[str, list[int]] = {term: [] for term in terms}
    for record, slot in zip(records, layout.slots, strict=True):
        for term in asked & record.terms:
            holders[term].append(slot)
    return holders


def _spread(slots: Sequence[int], weight: float, beside: list[float], around: list[float], layout: _Layout) -> None:
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
