"""How much of what is asked each record of a pool covers, by itself and through what stands beside it."""

from collections.abc import Sequence

from memory.layout import Layout
from memory.pool import Pool
from memory.reach import Reach

ADJACENT, SECOND, SAME_THREAD = 1 / 2, 1 / 4, 1 / 8
"""What a term counts that only a record nearby in the same conversation has: half for each step away."""
_BITS = 8
"""Of a byte: so many terms are laid over each other."""

Weighed = Sequence[tuple[Reach, float]]
"""Terms that some record has, each with its share of what is asked."""


def covered_shares(pool: Pool, terms: Sequence[str]) -> list[float]:
    """By slot of the pool's layout the weight of what a record covers by that of ``terms``: above 0, at most 1.

    It is 0 for records that have none of the terms, and between conversations.
    """
    reaches = pool.reaches(terms)
    asked = sum(reach.weight for reach in reaches)
    weighed = [(reach, reach.weight / asked) for reach in reaches if reach.holders]
    shares = _own(weighed, pool.layout.size)
    _support(shares, [each for each in weighed if each[0].threads], pool.layout)
    return shares


def _own(weighed: Weighed, size: int) -> list[float]:
    """By slot what a record has itself.

    Which terms it has is a number, and what they add up to, in the order they are asked, is known for each number.
    """
    bits = min(_BITS, size.bit_length())
    sums, laid = [0.0], 0
    for bit, (reach, weight) in enumerate(weighed[:bits]):
        sums += [known + weight for known in sums]
        laid |= reach.plane << bit
    own = [sums[number] for number in laid.to_bytes(size, "little")]
    for reach, weight in weighed[bits:]:
        _add(own, reach.holders, weight)
    return own


def _support(shares: list[float], weighed: Weighed, layout: Layout) -> None:
    """Let a term count in its holders' conversations. ``around`` is for all of one, ``beside`` corrects it."""
    beside = [0.0] * layout.size
    around = dict[int, float]()
    for reach, weight in weighed:
        for thread in reach.threads:
            around[thread] = around.get(thread, 0.0) + weight * SAME_THREAD
        _add(beside, reach.holders, -weight * SAME_THREAD)
        _add(beside, reach.adjacent, weight * (ADJACENT - SAME_THREAD))
        _add(beside, reach.second, weight * (SECOND - SAME_THREAD))
    for thread, support in around.items():
        for slot in layout.spans[thread]:
            own = shares[slot]
            if own:
                shares[slot] = own + beside[slot] + support


def _add(sums: list[float], slots: Sequence[int], amount: float) -> None:
    for slot in slots:
        sums[slot] += amount
