"""How much of what conversations teach is kept, whose doing the rest is, and what learning adds to a reply."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from app.agents.asking import WholeAnswer
from app.agents.providers.base import ModelRequest, Turn
from app.agents.providers.offline import OfflineProvider
from app.evaluation.perfect import Perfect
from app.evaluation.report import share
from app.evaluation.running import Case
from app.evaluation.running import run as through_the_write_path
from app.evaluation.scoring import Score, by_category, figures
from app.evaluation.scripts import CONVERSATIONS
from benchmarks.children import BenchmarkError, Child, child
from benchmarks.figures import Aim, median, ms, percentile
from benchmarks.reflecting_bots import EXTRACTION_S, Extractions, SlowLearner, Taught, learning_bot
from benchmarks.tables import Table
from benchmarks.workspaces import Connected, Desk, Quiet, workspace
from memory.extracted import Answer
from memory.extraction import Prompt

ADDED_MEDIAN = Aim(1, "ms")
"""A reflection adds nothing to the reply; what is less than this is the machine's."""
_LEARNS, _WAITS_TO_BE_TOLD = "passive", "tool"
_OUTPUT_TOKENS = 2_000
_WARM_UP = 10
_PAUSE_S = 0.04
"""Lets the calls that follow an answer end before the other side is measured."""


@dataclass(frozen=True, slots=True)
class Scale:
    mentions: int


FULL, QUICK = Scale(200), Scale(25)


def run(scale: Scale) -> Iterator[Table]:
    """Raises ``BenchmarkError`` when the write path's own part is not exact, after all tables."""
    perfect = asyncio.run(through_the_write_path(CONVERSATIONS, Perfect))
    yield own_part(perfect)
    yield offline(asyncio.run(through_the_write_path(CONVERSATIONS, Offline)))
    yield reply(scale)
    inexact = [each.conversation.name for each in perfect if not each.is_exact]
    if inexact:
        raise BenchmarkError(f"the write path's own part is not exact in {len(inexact)}: {', '.join(inexact)}")


@dataclass(frozen=True, slots=True)
class Offline:
    """Implements ``memory.reflector.Extractor``: the demo model, without its pauses."""

    case: Case

    async def __call__(self, prompt: Prompt) -> Answer:
        call = WholeAnswer()
        request = ModelRequest("demo", (prompt.system,), (Turn("user", prompt.text),), _OUTPUT_TOKENS)
        await call.make(OfflineProvider(pause_s=0), request)
        return Answer(call.text)


def own_part(scores: Sequence[Score]) -> Table:
    """With a model that names what is to be kept and what is to be refused, and nothing else."""
    refused = sum(not each.is_judgement for score in scores for each in score.conversation.unwanted)
    exact = sum(each.is_exact for each in scores)
    rows = [
        ("to be kept", str(figures(scores).due), str(sum(len(each.missing) for each in scores))),
        ("to be refused", str(refused), str(sum(len(each.let_through) for each in scores))),
        (
            "to be corrected",
            str(sum(each.corrections_due for each in scores)),
            str(sum(len(each.unretired) + len(each.retired_wrongly) for each in scores)),
        ),
        (
            "secrets",
            str(sum(len(each.conversation.never) for each in scores)),
            str(sum(len(each.leaked) for each in scores)),
        ),
        ("conversations", str(len(scores)), str(len(scores) - exact)),
    ]
    return Table(
        "Scripted conversations through the write path, with a model without fault",
        ("", "in all", "wrong"),
        rows,
        (
            f"exact in {exact} of {len(scores)} conversations: {'met' if exact == len(scores) else 'MISSED'}",
            "what is lost or let through here is the write path's own doing",
        ),
    )


def offline(scores: Sequence[Score]) -> Table:
    rows = [
        (name, str(each.due), str(each.kept), str(each.right), share(each.precision), share(each.recall))
        for name, each in ({**by_category(scores), "all": figures(scores)}).items()
    ]
    lost, let_through = sum(len(each.lost) for each in scores), sum(len(each.let_through) for each in scores)
    return Table(
        "The same conversations with the offline model",
        ("", "due", "kept", "right", "precision", "recall"),
        rows,
        (
            f"after extraction {lost} lost and {let_through} let through; the model knows a few patterns of English",
            "any other model: switchboard eval reflection --model <provider>/<model>",
        ),
    )


def reply(scale: Scale) -> Table:
    """Both bots side by side, each with a playground of its own, asked in turn."""
    times_s: dict[str, list[float]] = {_LEARNS: [], _WAITS_TO_BE_TOLD: []}
    with ExitStack() as stack:
        sides = {mode: _opened(stack, mode) for mode in times_s}
        for number in range(_WARM_UP + scale.mentions):
            for mode, (desk, _) in sides.items():
                took_s = desk.ask(Taught(number))
                if number >= _WARM_UP:
                    times_s[mode].append(took_s)
                time.sleep(_PAUSE_S)
        begun = {mode: bot.ask(Extractions()) for mode, (_, bot) in sides.items()}
    if not begun[_LEARNS] or begun[_WAITS_TO_BE_TOLD]:
        raise BenchmarkError(f"the bots did not learn as they were set: {begun}")
    return _reply_table(times_s, begun)


def _opened(stack: ExitStack, mode: str) -> tuple[Child[Desk], Child[SlowLearner]]:
    desk: Child[Desk] = stack.enter_context(child(workspace))
    bot: Child[SlowLearner] = stack.enter_context(child(learning_bot, mode, desk.greeting()))
    bot.greeting()
    desk.ask(Connected())
    desk.ask(Quiet())
    return desk, bot


def _reply_table(times_s: Mapping[str, Sequence[float]], begun: Mapping[str, int]) -> Table:
    learns, waits = times_s[_LEARNS], times_s[_WAITS_TO_BE_TOLD]
    rows = [
        (name, ms(waited), ms(learned), ms(learned - waited))
        for name, waited, learned in (
            ("median", median(waits), median(learns)),
            ("p95", percentile(waits, 95), percentile(learns, 95)),
        )
    ]
    added_ms = (median(learns) - median(waits)) * 1000
    return Table(
        "Mention to the whole reply, with a model that extracts for a long time",
        ("", "learns only when told", "learns from every turn", "added"),
        rows,
        (
            f"added at the median: {added_ms:.1f} ms, {ADDED_MEDIAN.verdict(added_ms)}",
            f"{len(learns)} mentions each, in turn; an extraction takes {EXTRACTION_S:g} s, two are always under way",
            f"extractions begun meanwhile: {begun[_LEARNS]}, with memory.mode tool {begun[_WAITS_TO_BE_TOLD]}",
        ),
    )
