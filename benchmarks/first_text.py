"""What the bot adds to the time between a mention and the first visible text of its answer."""

import time
from dataclasses import dataclass

from benchmarks.bots import Side
from benchmarks.figures import Aim, median, ms, percentile, ratio
from benchmarks.sides import both_sides
from benchmarks.tables import Table
from benchmarks.workspaces import OneMention

ADDED_MEDIAN = Aim(10, "ms")
"""README, "Tests, checks, figures": on top of Bolt alone, at the median."""
_PAUSE_S = 0.04
"""Lets the calls that follow an answer end before the other side is measured."""


@dataclass(frozen=True, slots=True)
class Scale:
    mentions: int


FULL, QUICK = Scale(200), Scale(25)


def run(scale: Scale) -> Table:
    times_s: dict[Side, list[float]] = {side: [] for side in Side}
    with both_sides() as pairs:
        for _ in range(scale.mentions):
            for side, pair in pairs.items():
                times_s[side].append(pair.workspace.ask(OneMention()))
                time.sleep(_PAUSE_S)
    return table(times_s[Side.BARE], times_s[Side.OURS])


def table(bare_s: list[float], ours_s: list[float]) -> Table:
    rows = [_row("median", median(bare_s), median(ours_s)), _row("p95", percentile(bare_s, 95), percentile(ours_s, 95))]
    added_ms = (median(ours_s) - median(bare_s)) * 1000
    return Table(
        "Mention to first visible text",
        ("", Side.BARE, Side.OURS, "added", "ratio"),
        rows,
        (
            f"added at the median: {added_ms:.1f} ms, {ADDED_MEDIAN.verdict(added_ms)}",
            f"{len(ours_s)} mentions each, in turn; Socket Mode; a model that answers at once",
        ),
    )


def _row(name: str, bare_s: float, ours_s: float) -> tuple[str, ...]:
    return name, ms(bare_s), ms(ours_s), ms(ours_s - bare_s), ratio(ours_s, bare_s)
