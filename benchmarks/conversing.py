"""Conversations: a thousand at once over a slow model, a long one opened again, a message accepted for good."""

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from app.state.opening import default_url
from benchmarks.bots import CpuTime, Side
from benchmarks.children import Child, child
from benchmarks.conversing_bots import MODEL_S, PeakMemory, slow_bot
from benchmarks.conversing_people import Talk, Waits, pooled
from benchmarks.conversing_records import LINES, TOGETHER, Costs, CostsOver, postgres_url, records_keeper, sync_s
from benchmarks.figures import Aim, median, ms, percentile, ratio
from benchmarks.tables import Table
from benchmarks.workspaces import Connected, Desk, workspace

ADDED = Aim(25, "ms", is_exclusive=True)
"""At the median, beyond the time the model takes."""
SPOILT = Aim(0)
"""Lost, doubled and reordered answers."""
MEMORY = Aim(400, "MB", is_exclusive=True)
"""Resident, at its most."""
OPENED = Aim(30, "ms", is_exclusive=True)
"""At the median and in 99 of 100 times."""
ACCEPTED = Aim(5, "ms", is_exclusive=True)
"""At the median."""
_BYTES_PER_MB = 1_000_000
_PATIENCE_S = 120.0
_WARM_UP = 10
_CROWD_S = 0.9 * MODEL_S
"""In which a whole crowd asks: the last of it before the first is answered."""


@dataclass(frozen=True, slots=True)
class Scale:
    threads: int
    rounds: int
    per_s: float
    times: int
    """Of each step of the records."""


FULL, QUICK = Scale(1_000, 3, 80.0, 300), Scale(300, 1, 60.0, 50)


@dataclass(frozen=True, slots=True)
class Talked:
    """One side's day: at a pace, then crowds that all wait at the same time, then everybody in one instant."""

    paced: Waits
    crowded: Waits
    together: Waits
    cpu_s: float
    """Of the bot's process, over all of it."""
    peak_bytes: int

    def all(self) -> tuple[Waits, ...]:
        return self.paced, self.crowded, self.together


def run(scale: Scale) -> Generator[Table]:
    yield talk_table({side: _talked(side, scale) for side in Side}, scale)
    with tempfile.TemporaryDirectory(prefix="switchboard-bench-") as name, postgres_url() as postgres:
        folder = Path(name)
        urls = {"SQLite": default_url(folder)} | ({"PostgreSQL": postgres} if postgres is not None else {})
        with child(records_keeper) as keeper:
            keeper.greeting()
            over = {name: keeper.ask(CostsOver(url, scale.times), _PATIENCE_S) for name, url in urls.items()}
        yield records_table(over, sync_s(folder, scale.times))


def _talked(side: Side, scale: Scale) -> Talked:
    """One side after the other: each has the machine for itself."""
    goes_on = side is Side.OURS
    with ExitStack() as stack:
        desk: Child[Desk] = stack.enter_context(child(workspace))
        bot: Child[object] = stack.enter_context(child(slow_bot, side, desk.greeting()))
        bot.greeting()
        desk.ask(Connected())
        desk.ask(Talk(_WARM_UP, 1, None, goes_on))
        before_s = bot.ask(CpuTime())
        pace = Talk(scale.threads, scale.rounds, scale.per_s, goes_on)
        paced = desk.ask(pace, scale.threads * scale.rounds / scale.per_s + _PATIENCE_S)
        crowd = Talk(scale.threads, 1, scale.threads / _CROWD_S, goes_on)
        crowded = pooled([desk.ask(crowd, _PATIENCE_S) for _ in range(scale.rounds)])
        together = desk.ask(Talk(scale.threads, 1, None, goes_on), _PATIENCE_S)
        return Talked(paced, crowded, together, bot.ask(CpuTime()) - before_s, bot.ask(PeakMemory()))


def talk_table(sides: Mapping[Side, Talked], scale: Scale) -> Table:
    bare, ours = sides[Side.BARE], sides[Side.OURS]
    questions = scale.threads * (2 * scale.rounds + 1)

    def added(name: str, percent: float, waits: Mapping[Side, Waits], verdict: str = "") -> tuple[str, ...]:
        figures = {side: percentile(waits[side].added_s, percent) for side in Side}
        return name, ms(figures[Side.BARE]), ms(figures[Side.OURS]), verdict

    paced = {side: sides[side].paced for side in Side}
    crowded = {side: sides[side].crowded for side in Side}
    together = {side: sides[side].together for side in Side}
    spoilt = sum(each.lost + each.doubled + each.reordered for each in ours.all())
    return Table(
        f"{scale.threads} conversations, a model that takes {MODEL_S:g} s",
        ("", Side.BARE, Side.OURS, ""),
        [
            added(f"{scale.per_s:g} questions/s: added, p50", 50, paced, _verdict(ours.paced)),
            added("the same, p99", 99, paced),
            _most("the same: under way at most", paced),
            added(f"all within {_CROWD_S:g} s: added, p50", 50, crowded, _verdict(ours.crowded)),
            added("the same, p99", 99, crowded),
            _most("the same: under way at most", crowded),
            added("all in one instant: added, p50", 50, together, _verdict(ours.together)),
            added("the same, p99", 99, together),
            _most("the same: under way at most", together),
            ("lost, doubled, reordered", _spoilt(bare), _spoilt(ours), SPOILT.verdict(spoilt)),
            (
                "resident, at most",
                f"{bare.peak_bytes / _BYTES_PER_MB:.0f} MB",
                f"{ours.peak_bytes / _BYTES_PER_MB:.0f} MB",
                MEMORY.verdict(ours.peak_bytes / _BYTES_PER_MB),
            ),
            (
                "bot's CPU ms per question",
                f"{bare.cpu_s * 1000 / questions:.2f}",
                f"{ours.cpu_s * 1000 / questions:.2f}",
                ratio(ours.cpu_s, bare.cpu_s),
            ),
        ],
        (
            f"added: from the question to the whole answer, without the model's {MODEL_S:g} s; playground included",
            f"at a pace: {scale.rounds} in each thread, at moments of chance; else one in each of new threads: at",
            f"moments of chance within {_CROWD_S:g} s, so that all wait at the same time, {scale.rounds} times",
            "in turn, or with nothing between them",
            f"{Side.OURS} over SQLite, every step on the disk before it counts, its status shown 600 times a minute",
            "at most, which is what Slack takes; one side after the other",
        ),
    )


def _verdict(waits: Waits) -> str:
    return ADDED.verdict(median(waits.added_s) * 1000)


def _most(name: str, waits: Mapping[Side, Waits]) -> tuple[str, ...]:
    return name, str(waits[Side.BARE].most_at_once), str(waits[Side.OURS].most_at_once), ""


def _spoilt(talked: Talked) -> str:
    talks = talked.all()
    counts = (
        sum(each.lost for each in talks),
        sum(each.doubled for each in talks),
        sum(each.reordered for each in talks),
    )
    return ", ".join(map(str, counts))


def records_table(over: Mapping[str, Costs], page_s: list[float]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, cost in over.items():
        accept_ms, opened_ms = median(cost.accept_s) * 1000, percentile(cost.open_s, 99) * 1000
        rows += [
            (f"{name}: one message accepted", *_figures(cost.accept_s), ACCEPTED.verdict(accept_ms)),
            (f"{name}: each of {TOGETHER} accepted at once", *_figures(cost.accept_together_s), ""),
            (f"{name}: a session of {LINES} lines opened", *_figures(cost.open_s), OPENED.verdict(opened_ms)),
        ]
    return Table(
        "The bot's records",
        ("", "p50", "p99", ""),
        [*rows, ("a page written to this disk and synced", *_figures(page_s), "")],
        (
            f"{len(page_s)} times each; what is written has reached the disk when it counts as done",
            "opened: a turn's beginning written, then the whole transcript read from the database",
        ),
    )


def _figures(values_s: Sequence[float]) -> tuple[str, str]:
    return ms(median(values_s)), ms(percentile(values_s, 99))
