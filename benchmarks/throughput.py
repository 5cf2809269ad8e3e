"""How many mentions a second the bot holds when they come as fast as the playground can send them."""

from dataclasses import dataclass

from benchmarks.bots import CpuTime, Side
from benchmarks.figures import median, ratio
from benchmarks.sides import Pair, both_sides
from benchmarks.tables import Table
from benchmarks.workspaces import ManyMentions, Quiet, Redeliveries

_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Scale:
    mentions: int
    rounds: int


FULL, QUICK = Scale(400, 5), Scale(200, 2)


@dataclass(frozen=True, slots=True)
class Round:
    """One flood of mentions. CPU seconds are all that was used until the bot was quiet again."""

    mentions: int
    took_s: float
    bot_cpu_s: float
    playground_cpu_s: float


def run(scale: Scale) -> Table:
    """No aim of its own: the ratio is what the README tells."""
    rounds: dict[Side, list[Round]] = {side: [] for side in Side}
    with both_sides() as pairs:
        for _ in range(scale.rounds):
            for side, pair in pairs.items():
                rounds[side].append(_flooded(pair, scale.mentions))
        redelivered = {side: pair.workspace.ask(Redeliveries()) for side, pair in pairs.items()}
    return table(rounds, redelivered)


def _flooded(pair: Pair, mentions: int) -> Round:
    bot_before_s, playground_before_s = pair.bot.ask(CpuTime()), pair.workspace.ask(CpuTime())
    took_s = pair.workspace.ask(ManyMentions(mentions, _PATIENCE_S), _PATIENCE_S + 5)
    pair.workspace.ask(Quiet(), _PATIENCE_S)
    return Round(
        mentions,
        took_s,
        pair.bot.ask(CpuTime()) - bot_before_s,
        pair.workspace.ask(CpuTime()) - playground_before_s,
    )


def table(rounds: dict[Side, list[Round]], redelivered: dict[Side, int]) -> Table:
    def row(name: str, digits: int, figures: dict[Side, list[float]]) -> tuple[str, ...]:
        bare, ours = median(figures[Side.BARE]), median(figures[Side.OURS])
        return name, f"{bare:.{digits}f}", f"{ours:.{digits}f}", ratio(ours, bare)

    counted = rounds[Side.OURS]
    return Table(
        "Mentions answered per second",
        ("", Side.BARE, Side.OURS, "ratio"),
        [
            row("mentions/s, median round", 0, {s: [r.mentions / r.took_s for r in rounds[s]] for s in Side}),
            row("bot's CPU ms per mention", 2, {s: [r.bot_cpu_s * 1000 / r.mentions for r in rounds[s]] for s in Side}),
            row(
                "playground's CPU ms per mention",
                2,
                {s: [r.playground_cpu_s * 1000 / r.mentions for r in rounds[s]] for s in Side},
            ),
            ("redeliveries", str(redelivered[Side.BARE]), str(redelivered[Side.OURS]), ""),
        ],
        (
            f"{len(counted)} rounds of {counted[0].mentions} mentions each, in turn; two events each; Socket Mode",
            "the playground's rate limits are off: Slack itself allows far fewer posts a second",
        ),
    )
