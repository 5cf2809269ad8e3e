"""The arithmetic of the figures: percentiles, ratios, and whether an aim is met."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that ``percent`` of all values stay within (nearest rank).

    Raises ``ValueError`` for no values, and for a ``percent`` outside 0 to 100.
    """
    if not values:
        raise ValueError("no values, no percentile")
    if not 0 <= percent <= 100:  # noqa: PLR2004 - what a percentage is
        raise ValueError(f"{percent} is no percentage")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(0, rank - 1)]


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two. Raises ``ValueError`` for no values."""
    if not values:
        raise ValueError("no values, no median")
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def ratio(ours: float, other: float) -> str:
    """How many times the other side's figure ours is."""
    return f"{ours / other:.2f}x" if other else "-"


@dataclass(frozen=True, slots=True)
class Aim:
    """What the README promises of a figure: ``most``, or with ``is_exclusive`` less than that."""

    most: float
    unit: str = ""
    is_exclusive: bool = False

    def is_met(self, value: float) -> bool:
        return value < self.most if self.is_exclusive else value <= self.most

    def verdict(self, value: float) -> str:
        """``met`` or ``MISSED``, with the aim beside it."""
        bound = f"{'<' if self.is_exclusive else '<='} {self.most:g} {self.unit}".rstrip()
        return f"{'met' if self.is_met(value) else 'MISSED'} (aim {bound})"


@dataclass(frozen=True, slots=True)
class Floor:
    """What the README promises of a figure: ``least`` at the least."""

    least: float
    unit: str = ""

    def is_met(self, value: float) -> bool:
        return value >= self.least

    def verdict(self, value: float) -> str:
        """As ``Aim.verdict``."""
        return f"{'met' if self.is_met(value) else 'MISSED'} (aim {f'>= {self.least:g} {self.unit}'.rstrip()})"


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
