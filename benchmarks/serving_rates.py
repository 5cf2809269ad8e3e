"""Requests a second of the memory service, next to those of a bare route behind the same server."""

import asyncio
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from itertools import repeat
from pathlib import Path
from random import Random

from benchmarks.children import BenchmarkError
from benchmarks.figures import Floor, median, ms, percentile
from benchmarks.made_up_words import made_up_words
from benchmarks.serving_load import Loaded, loaded
from benchmarks.serving_questions import LIMIT, NEW_RECORDS, batches, candidates, questions
from benchmarks.serving_services import Database, Files, Place, Server, bare_server, memory_server
from benchmarks.tables import Table

OF_BARE = Floor(0.5)
"""README, "Tests, checks, figures": what ``/retrieve`` over SQLite reaches of the bare route's requests a second."""
WITH_AIM = "SQLite"
SCOPE_KEY = "org:acme"
SCOPE_RECORDS = 500
BATCH = 50
WRITE_SCOPES = 32
"""Fewer than a store keeps files open, and so many that none of them gets full."""
CONNECTIONS = (1, 32)
BARE = "a bare route"
_SAMPLED = 500
"""Answers whose length is looked at."""


class Route(StrEnum):
    RETRIEVE = "/retrieve"
    WRITE = "/write"


@dataclass(frozen=True, slots=True)
class Scale:
    """How many rounds, and how many requests each of them has."""

    rounds: int
    bare: int
    retrievals: int
    writes: int


FULL, QUICK = Scale(5, 6_000, 600, 128), Scale(2, 2_000, 200, 64)


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: what is asked of whom."""

    name: str
    route: Route
    connections: int


@dataclass(frozen=True, slots=True)
class Round:
    loaded: Loaded
    server_cpu_s: float


@dataclass(frozen=True, slots=True)
class _Side:
    """A server, what it is asked, and how often in a round."""

    kind_name: str
    route: Route
    server: Server
    requests: Iterator[bytes]
    count: int


def run(folder: Path, postgres: str | None, scale: Scale) -> Generator[Table]:
    """``folder`` and the database at ``postgres`` are empty."""
    words = made_up_words(Random(1))
    places: dict[str, Place] = {WITH_AIM: Files(folder)}
    if postgres is not None:
        places["PostgreSQL"] = Database(postgres)
    for place in places.values():
        asyncio.run(fill(place, words))
    with ExitStack() as stack:
        services = {name: stack.enter_context(memory_server(place)) for name, place in places.items()}
        body_bytes = _body_bytes(services, words)
        bare = stack.enter_context(bare_server(body_bytes))
        sides = _sides(services, bare, words, scale)
        rounds = _measured(sides, scale)
    yield table(rounds, body_bytes)


async def fill(place: Place, words: Sequence[str]) -> None:
    random = Random(2)
    async with place.opened() as store:
        for number in range(SCOPE_RECORDS // BATCH):
            await store.write(SCOPE_KEY, candidates(words, random, number, BATCH))
        for number, key in enumerate(_write_scopes()):
            await store.write(key, candidates(words, random, number, 1))


def _write_scopes() -> list[str]:
    return [f"channel:c{number}" for number in range(WRITE_SCOPES)]


def _body_bytes(services: Mapping[str, Server], words: Sequence[str]) -> int:
    """The average length of an answer, which a fixed number of questions gives; it warms the services up as well."""
    sizes: list[int] = []
    for server in services.values():
        asked = questions(repeat(SCOPE_KEY), words, Random(3))
        sizes.append(loaded(server.port, asked, _SAMPLED, 1).body_bytes // _SAMPLED)
    if min(sizes) < LIMIT * len(SCOPE_KEY):
        raise BenchmarkError(f"answers of {min(sizes)} bytes hold no records")
    return sum(sizes) // len(sizes)


def _sides(services: Mapping[str, Server], bare: Server, words: Sequence[str], scale: Scale) -> list[_Side]:
    def asked() -> Iterator[bytes]:
        return questions(repeat(SCOPE_KEY), words, Random(4))

    sides = [_Side(BARE, Route.RETRIEVE, bare, asked(), scale.bare)]
    sides += [_Side(name, Route.RETRIEVE, server, asked(), scale.retrievals) for name, server in services.items()]
    sides += [
        _Side(name, Route.WRITE, server, batches(_write_scopes(), words, Random(5)), scale.writes)
        for name, server in services.items()
    ]
    return sides


def _measured(sides: Sequence[_Side], scale: Scale) -> Mapping[Kind, Sequence[Round]]:
    """In turn, so that what else the machine does hits all of them."""
    rounds: dict[Kind, list[Round]] = {}
    for _ in range(scale.rounds):
        for connections in CONNECTIONS:
            for side in sides:
                kind = Kind(side.kind_name, side.route, connections)
                rounds.setdefault(kind, []).append(_asked(side, kind))
    return rounds


def _asked(side: _Side, kind: Kind) -> Round:
    before_s = side.server.cpu_s()
    try:
        done = loaded(side.server.port, side.requests, side.count, kind.connections)
    except BenchmarkError as fault:
        raise BenchmarkError(f"{named(kind)}: {fault}") from fault
    return Round(done, side.server.cpu_s() - before_s)


def table(rounds: Mapping[Kind, Sequence[Round]], body_bytes: int) -> Table:
    ordered = sorted(rounds, key=lambda kind: (kind.route, kind.connections))
    bare = {kind.connections: _per_s(rounds[kind]) for kind in ordered if kind.name == BARE}
    fullest = rounds[Kind(BARE, Route.RETRIEVE, max(CONNECTIONS))]
    own = median([each.loaded.cpu_s / each.loaded.took_s for each in fullest])
    return Table(
        "The memory service over HTTP, next to a bare route behind the same server",
        ("", "requests/s", "p50", "p99", "server's CPU", "of bare", ""),
        [_row(kind, rounds[kind], bare[kind.connections]) for kind in ordered],
        (
            f"{len(fullest)} rounds in turn, requests/s and CPU of the median round; keep-alive, on this machine;",
            f"{Route.RETRIEVE}: {LIMIT} of {SCOPE_RECORDS} records for a question of 8 words, no standing ones;",
            f"{Route.WRITE}: {NEW_RECORDS} new records a request, to {WRITE_SCOPES} scopes in turn that have room;",
            f"the bare route awaits the body and answers {body_bytes} bytes, as many as {Route.RETRIEVE} on average;",
            f"whoever asks needs {own:.0%} of a core against the bare route; CPU is the process's, not a database's",
        ),
    )


def _row(kind: Kind, rounds: Sequence[Round], bare_per_s: float) -> tuple[str, ...]:
    times_s = [each for done in rounds for each in done.loaded.times_s]
    cpu_s = median([done.server_cpu_s / len(done.loaded.times_s) for done in rounds])
    of_bare = _per_s(rounds) / bare_per_s
    has_aim = kind.name == WITH_AIM and kind.route is Route.RETRIEVE
    return (
        named(kind),
        f"{_per_s(rounds):,.0f}",
        ms(percentile(times_s, 50)),
        ms(percentile(times_s, 99)),
        f"{cpu_s * 1e6:.0f} µs",
        "" if kind.name == BARE else f"{of_bare:.2f}x",
        OF_BARE.verdict(of_bare) if has_aim else "",
    )


def named(kind: Kind) -> str:
    return f"{kind.route}, {kind.connections} connection{'s' if kind.connections > 1 else ''}: {kind.name}"


def _per_s(rounds: Sequence[Round]) -> float:
    return median([each.loaded.per_s for each in rounds])
