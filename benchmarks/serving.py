"""The memory service: requests a second, ten thousand scopes, and what it adds to the first visible text."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import serving_first_text, serving_rates, serving_scopes
from benchmarks.conversing_records import postgres_url
from benchmarks.tables import Table
from memory.service.process import settle


@dataclass(frozen=True, slots=True)
class Scale:
    rates: serving_rates.Scale
    scopes: serving_scopes.Scale
    first_text: serving_first_text.Scale


FULL = Scale(serving_rates.FULL, serving_scopes.FULL, serving_first_text.FULL)
QUICK = Scale(serving_rates.QUICK, serving_scopes.QUICK, serving_first_text.QUICK)


def run(scale: Scale) -> Generator[Table]:
    settle()
    with _room() as (folder, postgres):
        yield from serving_rates.run(folder, postgres, scale.rates)
    with tempfile.TemporaryDirectory(prefix="switchboard-bench-") as folder:
        yield serving_first_text.run(Path(folder), scale.first_text)
    with _room() as (folder, postgres):
        yield from serving_scopes.run(folder, postgres, scale.scopes)


@contextmanager
def _room() -> Generator[tuple[Path, str | None]]:
    """An empty folder, and an empty database's URL where there is a server."""
    with tempfile.TemporaryDirectory(prefix="switchboard-bench-") as folder, postgres_url() as url:
        yield Path(folder), url
