"""Acknowledgements while every thread waits for its model and hundreds of events come in one go."""

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from benchmarks.bots import LetGo, RunningCalls, Side
from benchmarks.children import BenchmarkError
from benchmarks.figures import Aim, ms, percentile, ratio
from benchmarks.sides import Pair, both_sides
from benchmarks.tables import Table
from benchmarks.workspaces import Acks, Burst, EveryThreadAnswered, Quiet

ACK_P99 = Aim(200, "ms", is_exclusive=True)
"""README, "Tests, checks, figures": 500 events at once, while a model call runs in every thread."""
REDELIVERIES = Aim(0)
"""The same sentence: none."""
MODES = {"socket": "Socket Mode", "http": "HTTP"}
_PATIENCE_S = 40.0
_LOOK_AGAIN_S = 0.05
_EVENTS_PER_MENTION = 2

Sides = Mapping[Side, Pair]
Outcome = tuple[str, dict[Side, Acks]]


@dataclass(frozen=True, slots=True)
class Scale:
    events: int
    rounds: int


FULL, QUICK = Scale(500, 3), Scale(500, 1)


def run(scale: Scale) -> Generator[Table]:
    for mode, name in MODES.items():
        with both_sides(mode, is_held=True) as pairs:
            outcomes = _measured(pairs, scale)
            threads = _answered(pairs)
        yield table(name, outcomes, scale, threads)


def _measured(pairs: Sides, scale: Scale) -> list[Outcome]:
    """First the threads with their model calls, then bursts beside them."""
    opening = _burst(pairs, Burst(scale.events), 1)
    for side, pair in pairs.items():
        _wait_for_calls(side, pair, scale.events)
    follow_ups = Burst(scale.events, follows_up=True)
    mentions = Burst(scale.events // _EVENTS_PER_MENTION)
    return [
        (f"opening: {scale.events} mentions, {scale.events * _EVENTS_PER_MENTION} events", opening),
        (f"{scale.events} follow-ups, {scale.events} events", _burst(pairs, follow_ups, scale.rounds)),
        (f"{mentions.messages} new mentions, {scale.events} events", _burst(pairs, mentions, scale.rounds)),
    ]


def _burst(pairs: Sides, burst: Burst, rounds: int) -> dict[Side, Acks]:
    acks = {side: Acks() for side in pairs}
    for _ in range(rounds):
        for side, pair in pairs.items():
            acks[side] += pair.workspace.ask(burst, _PATIENCE_S)
            if not acks[side].times_s:
                raise BenchmarkError(f"{side} acknowledged nothing at all")
            pair.workspace.ask(Quiet(), _PATIENCE_S)
    return acks


def _wait_for_calls(side: Side, pair: Pair, count: int) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while (running := pair.bot.ask(RunningCalls())) < count:
        if time.monotonic() > deadline_s:
            raise BenchmarkError(f"{side} has only {running} of {count} model calls under way")
        time.sleep(_LOOK_AGAIN_S)


def _answered(pairs: Sides) -> int:
    """How many threads there are on each side, when all of them are answered."""
    threads = 0
    for pair in pairs.values():
        pair.bot.ask(LetGo())
        threads = pair.workspace.ask(EveryThreadAnswered(_PATIENCE_S), _PATIENCE_S + 5)
        pair.workspace.ask(Quiet(), _PATIENCE_S)
    return threads


def table(mode: str, outcomes: list[Outcome], scale: Scale, threads: int) -> Table:
    rows: list[tuple[str, ...]] = []
    for place, (name, acks) in enumerate(outcomes):
        bare, ours = acks[Side.BARE], acks[Side.OURS]
        rows.append(_row(f"{name}: {Side.BARE}", bare, "", ""))
        p99_ms = percentile(ours.times_s, 99) * 1000
        verdict = ACK_P99.verdict(p99_ms) if place else ""
        against = ratio(percentile(ours.times_s, 99), percentile(bare.times_s, 99))
        rows.append(_row(f"{name}: {Side.OURS}", ours, against, verdict))
    lost = sum(acks[Side.OURS].redelivered + acks[Side.OURS].unacknowledged for _, acks in outcomes)
    return Table(
        f"Acknowledgements during bursts, {mode}",
        ("", "p50", "p99", "max", "redelivered", "p99 ratio", ""),
        rows,
        (
            f"{Side.OURS}'s redeliveries and events without acknowledgement: {lost}, {REDELIVERIES.verdict(lost)}",
            f"{scale.events} model calls under way all the time; {scale.rounds} rounds each, in turn;",
            f"then the model was let go, and all {threads} threads were answered on both sides",
        ),
    )


def _row(name: str, acks: Acks, against: str, verdict: str) -> tuple[str, ...]:
    p50, p99, most = (ms(percentile(acks.times_s, percent)) for percent in (50, 99, 100))
    return name, p50, p99, most, str(acks.redelivered), against, verdict
