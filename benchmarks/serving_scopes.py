"""A million records in ten thousand scopes next to ten thousand in a hundred: how long a search takes in either."""

import asyncio
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.figures import Aim, median, ms, percentile
from benchmarks.made_up_words import made_up_words
from benchmarks.serving_filling import SCOPE_RECORDS, SEEDS, keys, multiplied_database, multiplied_files, seed
from benchmarks.serving_load import loaded
from benchmarks.serving_questions import questions
from benchmarks.serving_services import Database, Files, Place, Server, memory_server
from benchmarks.tables import Table
from memory.stores.postgres_server import DEFAULT_BOUNDS as ROWS
from memory.stores.sqlite_handles import DEFAULT_BOUNDS as FILES

P99 = Aim(1.3)
"""README, "Tests, checks, figures": the many scopes' p99 is so many times that of the few at most."""
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
_BYTES_PER_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    scopes: int
    """The many; the few are those that are filled first."""
    warm_up: int
    rounds: int
    requests: int


FULL, QUICK = Scale(10_000, 1_500, 7, 500), Scale(300, 200, 2, 300)


@dataclass(frozen=True, slots=True)
class Memory:
    """The same memory twice, with few scopes and with many."""

    few: Place
    many: Place


@dataclass(frozen=True, slots=True)
class Visits:
    """What single searches took, in seconds, round by round."""

    few: Sequence[Sequence[float]]
    many: Sequence[Sequence[float]]


def run(folder: Path, postgres: str | None, scale: Scale) -> Generator[Table]:
    """``folder`` and the database at ``postgres`` are empty."""
    words = made_up_words(Random(1))
    memories = {SQLITE: _files(folder, words, scale.scopes)}
    if postgres is not None:
        memories[POSTGRES] = _database(Database(postgres), words, scale.scopes)
    visits = {name: _visited(memory, words, scale) for name, memory in memories.items()}
    yield table(visits, {name: memory.many.size_bytes() for name, memory in memories.items()}, scale)


def _files(folder: Path, words: Sequence[str], scopes: int) -> Memory:
    few = Files(folder / "few")
    asyncio.run(seed(few, words))
    return Memory(few, multiplied_files(few, folder / "many", scopes))


def _database(few: Database, words: Sequence[str], scopes: int) -> Memory:
    asyncio.run(seed(few, words))
    return Memory(few, multiplied_database(few, "many", scopes))


def _visited(memory: Memory, words: Sequence[str], scale: Scale) -> Visits:
    """Both in turn, each through a service of its own; scopes of chance, all as likely as each other."""
    with ExitStack() as stack:
        few, many = (
            _asking(stack.enter_context(memory_server(place)), keys(scopes), words)
            for place, scopes in ((memory.few, SEEDS), (memory.many, scale.scopes))
        )
        for ask in (few, many):
            ask(scale.warm_up)
        rounds = [(few(scale.requests), many(scale.requests)) for _ in range(scale.rounds)]
    return Visits([each for each, _ in rounds], [each for _, each in rounds])


def _asking(server: Server, scope_keys: Sequence[str], words: Sequence[str]) -> Callable[[int], Sequence[float]]:
    asked = questions(scope_keys, words, Random(3))
    return lambda count: loaded(server.port, asked, count, 1).times_s


def table(visits: Mapping[str, Visits], sizes: Mapping[str, int], scale: Scale) -> Table:
    reduced = "" if scale.scopes == FULL.scopes else f"; the full size has {FULL.scopes:,} scopes"
    return Table(
        f"/retrieve from scopes of {SCOPE_RECORDS} records, {scale.scopes:,} of them next to {SEEDS}",
        ("", f"{SEEDS} scopes", f"{scale.scopes:,} scopes", "ratio", ""),
        [row for name, each in visits.items() for row in _rows(name, each)],
        (
            f"scopes of chance, one connection, a service each; {scale.rounds} rounds of {scale.requests} in turn",
            f"after a warm-up of {scale.warm_up:,} searches; all figures of the median round{reduced}",
            *(f"{name}: {_kept(name, scale)}; {size / _BYTES_PER_MB:,.0f} MB" for name, size in sizes.items()),
            "what is not in a store's own memory comes out of the system's: all of it has just been written",
        ),
    )


def _rows(name: str, visits: Visits) -> Generator[tuple[str, ...]]:
    for percent, aim in ((50, None), (99, P99)):
        few, many = ([percentile(each, percent) for each in rounds] for rounds in (visits.few, visits.many))
        ratio = median([b / a for a, b in zip(few, many, strict=True)])
        verdict = "" if aim is None else aim.verdict(ratio)
        yield f"{name}: p{percent}", ms(median(few)), ms(median(many)), f"{ratio:.2f}x", verdict


def _kept(name: str, scale: Scale) -> str:
    """How much of either memory the store itself can have at hand."""
    if name == SQLITE:
        most, what = min(FILES.handles, FILES.records // SCOPE_RECORDS), f"{FILES.handles} files stay open"
    else:
        most, what = ROWS.records // SCOPE_RECORDS, f"{ROWS.records:,} records stay in the service's memory"
    few, many = (min(1.0, most / scopes) for scopes in (SEEDS, scale.scopes))
    return f"{what}, {few:.0%} of the few scopes and {many:.1%} of the many"
