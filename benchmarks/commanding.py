"""Commands: how soon ``memory list`` is answered over full scopes, and what it costs to see that a message is prose."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from app.bootstrap import build
from app.clock import SystemClock
from app.play import playing, with_state
from app.playground.seed import ALICE, BOT_USER, GENERAL
from app.playground.server import Playground, open_playground
from benchmarks.figures import Aim, ms, percentile
from benchmarks.tables import Table
from commands.registry import Registry
from commands.spec import Command, Reply
from config.loading import load
from memory.record import MemoryCandidate
from memory.relevance import RelevanceRanker
from memory.stores.inprocess import InProcessStore

LIST_MEDIAN = Aim(50.0, "ms")
PROSE = Aim(20.0, "µs", is_exclusive=True)
SCOPE_RECORDS = 500
BATCH = 50
PROSE_CALLS = 20_000
TEXTS = ("which port does the staging database listen on, and who decides about spending?", "memory of a goldfish", "!")


def run(lists: int) -> Iterator[Table]:
    times_s = asyncio.run(_listings(lists))
    median_ms = percentile(times_s, 50) * 1000
    prose_us = _prose_us()
    yield Table(
        "Commands in chat",
        ("", "p50", "p99", ""),
        [
            (
                "memory list, to the posted reply",
                f"{median_ms:.1f} ms",
                ms(percentile(times_s, 99)),
                LIST_MEDIAN.verdict(median_ms),
            ),
            ("seeing that a message is no command", f"{prose_us:.1f} µs", "", PROSE.verdict(prose_us)),
        ],
        (
            f"{lists} listings by mention; own, channel's and organisation's scopes of {SCOPE_RECORDS} records each;",
            "bot and playground in one process; Socket Mode; in-process store",
        ),
    )


async def _listings(count: int) -> list[float]:
    store = InProcessStore(ranker=RelevanceRanker(), now=SystemClock().now)
    for key in ("org:playground", f"user:slack:{ALICE}", f"channel:slack:{GENERAL}"):
        for start in range(0, SCOPE_RECORDS, BATCH):
            batch = [
                MemoryCandidate("fact", f"Rule {start + n}: every service has an owner.", "slack:C1:1.0")
                for n in range(BATCH)
            ]
            await store.write(key, batch)
    settings = await asyncio.to_thread(load, environ={}, playground=True)
    with TemporaryDirectory(prefix="switchboard-bench-") as folder:
        async with (
            open_playground(with_page=False, enforce_rates=False) as playground,
            build(with_state(playing(settings, playground), Path(folder)), memory=store) as bot,
            bot.serving(),
        ):
            await bot.connected()
            return [await _listing_s(playground) for _ in range(count)]


async def _listing_s(playground: Playground) -> float:
    began_s = time.perf_counter()
    root = playground.people.say(ALICE, GENERAL, f"<@{BOT_USER}> memory list")
    await playground.wait_for(lambda: len(playground.thread(GENERAL, root.ts)) > 1)
    return time.perf_counter() - began_s


def _prose_us() -> float:
    async def nothing(*_: object) -> Reply:
        return Reply({}, "")

    groups = ("memory", "status", "help", "config", "runs")
    registry = Registry([Command(f"{group}.show", "…", f"{group}:read", "read", nothing) for group in groups])
    began_s = time.perf_counter()
    for number in range(PROSE_CALLS):
        registry.recognise(TEXTS[number % len(TEXTS)])
    return (time.perf_counter() - began_s) / PROSE_CALLS * 1e6
