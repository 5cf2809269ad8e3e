"""What remembering in a memory service adds to the time between a mention and the first visible text of its answer."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from app.playground.seed import ALICE, GENERAL
from benchmarks.children import BenchmarkError, Child, child
from benchmarks.figures import Aim, median, ms, percentile
from benchmarks.made_up_words import RECORD_WORDS, made_up_words, sentence
from benchmarks.serving_bots import AttentiveModel, ShareWithMemory, remembering_bot
from benchmarks.serving_services import Files, Place, memory_server
from benchmarks.tables import Table
from benchmarks.workspaces import Connected, Desk, OneMention, Quiet, workspace
from memory.record import MemoryCandidate

ADDED = Aim(10, "ms", is_exclusive=True)
"""README, "Tests, checks, figures": at the median, on top of a bot that remembers nothing."""
SCOPE_KEYS = ("org:benchmarks", f"channel:slack:{GENERAL}", f"user:slack:{ALICE}")
SCOPE_RECORDS = 400
_BATCH = 50
_EVERY = 20
"""So often a record has a word of the question."""
_WARM_UP = 10
_PAUSE_S = 0.04
"""Lets the calls that follow an answer end before the other side is measured."""


class Memory(StrEnum):
    NONE = "no memory"
    REMOTE = "memory service"


@dataclass(frozen=True, slots=True)
class Scale:
    mentions: int


FULL, QUICK = Scale(200), Scale(25)


@dataclass(frozen=True, slots=True)
class _Side:
    desk: Child[Desk]
    bot: Child[AttentiveModel]


def run(folder: Path, scale: Scale) -> Table:
    """``folder`` is empty. Raises ``BenchmarkError`` unless the one model was always told what is remembered."""
    place = Files(folder)
    asyncio.run(_fill(place))
    times_s: dict[Memory, list[float]] = {memory: [] for memory in Memory}
    with ExitStack() as stack:
        service = stack.enter_context(memory_server(place))
        sides = {memory: _opened(stack, service.port if memory is Memory.REMOTE else None) for memory in Memory}
        for number in range(_WARM_UP + scale.mentions):
            for memory, side in sides.items():
                took_s = side.desk.ask(OneMention())
                if number >= _WARM_UP:
                    times_s[memory].append(took_s)
                time.sleep(_PAUSE_S)
        shares = {memory: side.bot.ask(ShareWithMemory()) for memory, side in sides.items()}
    if shares != {Memory.NONE: 0.0, Memory.REMOTE: 1.0}:
        raise BenchmarkError(f"the bots did not remember as they were set: {shares}")
    return table(times_s)


async def _fill(place: Place) -> None:
    random = Random(2)
    words = made_up_words(random)
    async with place.opened() as store:
        for key in SCOPE_KEYS:
            for start in range(0, SCOPE_RECORDS, _BATCH):
                await store.write(key, [_record(words, random, number) for number in range(start, start + _BATCH)])


def _record(words: Sequence[str], random: Random, number: int) -> MemoryCandidate:
    about = "" if number % _EVERY else "release "
    return MemoryCandidate("fact", f"{about}{sentence(words, random, RECORD_WORDS)} {number}", f"slack:C1:{number}.0")


def _opened(stack: ExitStack, service_port: int | None) -> _Side:
    desk: Child[Desk] = stack.enter_context(child(workspace))
    bot: Child[AttentiveModel] = stack.enter_context(child(remembering_bot, desk.greeting(), service_port))
    bot.greeting()
    desk.ask(Connected())
    desk.ask(Quiet())
    return _Side(desk, bot)


def table(times_s: Mapping[Memory, Sequence[float]]) -> Table:
    none, remote = times_s[Memory.NONE], times_s[Memory.REMOTE]
    figures = {
        "median": (median(none), median(remote)),
        "p95": (percentile(none, 95), percentile(remote, 95)),
    }
    added_ms = (median(remote) - median(none)) * 1000
    return Table(
        "Mention to first visible text, with and without a memory service",
        ("", Memory.NONE, Memory.REMOTE, "added"),
        [(name, ms(off), ms(on), ms(on - off)) for name, (off, on) in figures.items()],
        (
            f"added at the median: {added_ms:.1f} ms, {ADDED.verdict(added_ms)}",
            f"{len(remote)} mentions each, in turn; Socket Mode; a model that answers at once; service over SQLite;",
            f"every answer recalled from {len(SCOPE_KEYS)} scopes of {SCOPE_RECORDS} records; no learning",
        ),
    )
