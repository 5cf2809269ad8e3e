"""The benchmarks' command line: which of them run, how much of each, and the exit status."""

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from app.logs import configure
from benchmarks import (
    burst,
    commanding,
    conversing,
    first_text,
    gating,
    locomo,
    prompt_cache,
    redacting,
    reflecting,
    remembering,
    serving,
    starting,
    throughput,
)
from benchmarks.children import BenchmarkError
from benchmarks.tables import Table, render

Run = Callable[[bool], Iterable[Table]]
"""Takes whether it shall be quick."""

BENCHMARKS: dict[str, Run] = {
    "first-text": lambda quick: [first_text.run(first_text.QUICK if quick else first_text.FULL)],
    "throughput": lambda quick: [throughput.run(throughput.QUICK if quick else throughput.FULL)],
    "burst": lambda quick: burst.run(burst.QUICK if quick else burst.FULL),
    "start": lambda quick: [starting.run(starting.QUICK if quick else starting.FULL)],
    "memory": lambda quick: remembering.run(remembering.QUICK if quick else remembering.FULL),
    "prompt-cache": lambda _quick: prompt_cache.run(),
    "commands": lambda quick: commanding.run(20 if quick else 100),
    "redaction": lambda quick: [redacting.run(redacting.QUICK if quick else redacting.FULL)],
    "gate": lambda _quick: gating.tables([]),
    "reflection": lambda quick: reflecting.run(reflecting.QUICK if quick else reflecting.FULL),
    "memory-service": lambda quick: serving.run(serving.QUICK if quick else serving.FULL),
    "sessions": lambda quick: conversing.run(conversing.QUICK if quick else conversing.FULL),
}


def main(arguments: Sequence[str]) -> int:
    """The exit status: 1 when a benchmark could not run; a missed aim is only printed."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _leave)
    print(machine())
    status = 0
    configure("json", "error", stream=sys.stderr)
    chosen = {name: BENCHMARKS[name] for name in options.only}
    if options.locomo:
        chosen["locomo"] = _locomo(options.locomo)
    for name, run in chosen.items():
        began_s = time.monotonic()
        try:
            for table in run(options.quick):
                print(f"\n{render(table)}", flush=True)
        except BenchmarkError as error:
            print(f"\n{name} could not run: {error}", flush=True)
            status = 1
        print(f"  took {time.monotonic() - began_s:.0f} s; load now: {load()}", flush=True)
    return status


def _locomo(paths: Sequence[Path]) -> Run:
    return lambda quick: locomo.run(paths, embedder=None if quick else locomo.embedder_of("minilm"))


def machine() -> str:
    """What the figures depend on most."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}, {python}; load before: {load()}"


def load() -> str:
    """The last minute's load average: what else the machine did, and the benchmark itself."""
    return f"{os.getloadavg()[0]:.2f}"


def _leave(number: int, _frame: object) -> None:
    """As Ctrl-C does it: what was started is ended on the way out."""
    sys.exit(128 + number)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Measure what the README claims.")
    parser.add_argument("--quick", action="store_true", help="fewer of everything: some two minutes")
    parser.add_argument("--only", type=names, default=list(BENCHMARKS), help=f"of {','.join(BENCHMARKS)}")
    parser.add_argument(
        "--locomo", type=Path, nargs="+", default=[], metavar="PATH", help="also measure recall on these conversations"
    )
    return parser


def names(text: str) -> list[str]:
    """Raises ``argparse.ArgumentTypeError`` for a benchmark that does not exist."""
    names = text.split(",")
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    return names
