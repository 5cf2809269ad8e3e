"""A million records in ten thousand scopes next to ten thousand in a hundred: how long a search takes in either."""

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.figures import Aim, median, ms, percentile
from benchmarks.made_up_words import made_up_words
from benchmarks.serving_filling import SCOPE_RECORDS, SEEDS, keys, multiplied_database, multiplied_files, seed
from benchmarks.serving_load import loaded
from benchmarks.serving_questions import any_of, questions
from benchmarks.serving_services import Database, Files, Place, Server, memory_server
from benchmarks.tables import Table
from memory.stores.postgres_server import DEFAULT_BOUNDS as ROWS
from memory.stores.sqlite_handles import DEFAULT_BOUNDS as FILES
from memory.stores.sqlite_handles import SPARE_SHARE

P99 = Aim(1.3)
"""README, "Tests, checks, figures": the many scopes' p99 is so many times that of the few at most."""
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
Times = Sequence[float]
_WAKING = 10
"""Searches after which a new service is as fast as it gets."""
_BYTES_PER_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    scopes: int
    """The many; the few are those that are filled first."""
    services: int
    """So many times both are asked by a new service what it was never asked before."""
    warm_up: int
    rounds: int
    requests: int


FULL, QUICK = Scale(10_000, 5, 800, 5, 500), Scale(300, 1, 200, 2, 300)


@dataclass(frozen=True, slots=True)
class Memory:
    """The same memory twice, with few scopes and with many."""

    few: Place
    many: Place


@dataclass(frozen=True, slots=True)
class Timed:
    """What single searches took, in seconds, round by round."""

    few: Sequence[Sequence[float]]
    many: Sequence[Sequence[float]]

    def of_median_round(self, percent: float) -> tuple[float, float, float]:
        """Of the few, of the many, and the ratio, each of the round that is the median one for it."""
        few, many = ([percentile(each, percent) for each in rounds] for rounds in (self.few, self.many))
        return median(few), median(many), median([b / a for a, b in zip(few, many, strict=True)])


@dataclass(frozen=True, slots=True)
class Visits:
    first: Timed
    """Of scopes that a service was never asked about before."""
    any_scope: Timed
    """Of scopes of chance, all as likely as each other."""


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
    firsts = [_first_visits(memory, words, scale, number) for number in range(scale.services)]
    with _both(memory, scale) as servers:
        few, many = (_asking(server, any_of(scopes, Random(4)), words) for server, scopes in servers)
        for ask in (few, many):
            ask(scale.warm_up)
        rounds = [(few(scale.requests), many(scale.requests)) for _ in range(scale.rounds)]
    return Visits(*(Timed([each for each, _ in timed], [each for _, each in timed]) for timed in (firsts, rounds)))


def _first_visits(memory: Memory, words: Sequence[str], scale: Scale, number: int) -> tuple[Times, Times]:
    """As many as there are few scopes, without those that wake a service up."""
    with _both(memory, scale) as servers:
        few, many = (_asking(server, Random(number).sample(scopes, SEEDS), words) for server, scopes in servers)
        for ask in (few, many):
            ask(_WAKING)
        # One request of each load goes before and does not count.
        rest = SEEDS - _WAKING - 2
        return few(rest), many(rest)


@contextmanager
def _both(memory: Memory, scale: Scale) -> Generator[Sequence[tuple[Server, Sequence[str]]]]:
    """A new service over either, and its scopes."""
    with memory_server(memory.few) as few, memory_server(memory.many) as many:
        yield [(few, keys(SEEDS)), (many, keys(scale.scopes))]


def _asking(server: Server, scope_keys: Iterable[str], words: Sequence[str]) -> Callable[[int], Times]:
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
            f"never asked before: {SEEDS - _WAKING - 2} scopes after each of {scale.services} starts of a service",
            *(f"{name}: {_kept(name, scale)}; {size / _BYTES_PER_MB:,.0f} MB" for name, size in sizes.items()),
            "what is not in a store's own memory comes out of the system's: all of it has just been written",
        ),
    )


def _rows(name: str, visits: Visits) -> Generator[tuple[str, ...]]:
    for what, timed, percent, aim in (
        (name, visits.any_scope, 50, None),
        (name, visits.any_scope, 99, P99),
        (f"{name}, never asked before", visits.first, 50, None),
    ):
        few, many, ratio = timed.of_median_round(percent)
        yield f"{what}: p{percent}", ms(few), ms(many), f"{ratio:.2f}x", "" if aim is None else aim.verdict(ratio)


def _kept(name: str, scale: Scale) -> str:
    """How much of either memory the store itself can have at hand."""
    if name == SQLITE:
        files = FILES.handles - FILES.handles // SPARE_SHARE
        most, what = min(files, FILES.records // SCOPE_RECORDS), f"{files} files stay open"
    else:
        most, what = ROWS.records // SCOPE_RECORDS, f"{ROWS.records:,} records stay in the service's memory"
    few, many = (min(1.0, most / scopes) for scopes in (SEEDS, scale.scopes))
    return f"{what}, {few:.0%} of the few scopes and {many:.1%} of the many"
