"""The memory service: requests a second, ten thousand scopes, and what it adds to the first visible text."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.runtime import settle
from benchmarks import serving_rates
from benchmarks.conversing_records import postgres_url
from benchmarks.serving_services import Database, Files, Place
from benchmarks.tables import Table


@dataclass(frozen=True, slots=True)
class Scale:
    rates: serving_rates.Scale


FULL = Scale(serving_rates.FULL)
QUICK = Scale(serving_rates.QUICK)


def run(scale: Scale) -> Generator[Table]:
    settle()
    with _places() as places:
        yield from serving_rates.run(places, scale.rates)


@contextmanager
def _places() -> Generator[dict[str, Place]]:
    """Empty ones, by the name of what keeps them."""
    with tempfile.TemporaryDirectory(prefix="switchboard-bench-") as folder, postgres_url() as url:
        yield {"SQLite": Files(Path(folder))} | ({"PostgreSQL": Database(url)} if url is not None else {})
