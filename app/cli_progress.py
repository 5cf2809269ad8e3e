"""How far a copy is: a bar on a terminal, and a line now and then anywhere else."""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from memory.walking import Step, Watch

_DOING: Mapping[Step, str] = {
    "copy": "copying records",
    "verify": "comparing records",
    "back up": "backing up scopes",
    "check": "checking scopes",
}
_AT_ONCE = 100
"""Records or scopes between two looks at the bar or the clock."""
_EVERY_S = 10.0


@contextmanager
def shown_on(stream: TextIO, monotonic: Callable[[], float] = time.monotonic) -> Generator[Watch]:
    """Whoever is told here how far it is shows that on ``stream``."""
    console = Console(file=stream)
    if not console.is_terminal:
        yield Lines(stream, monotonic)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as progress:
        yield Bar(progress)


class Bar:
    """Over a bar of ``rich``."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = None
        self._kept = 0

    def begin(self, step: Step, total: int) -> None:
        self._show()
        self._task = self._progress.add_task(_DOING[step], total=total)

    def advance(self, done: int) -> None:
        self._kept += done
        if self._kept >= _AT_ONCE:
            self._show()

    def _show(self) -> None:
        if self._task is not None:
            self._progress.advance(self._task, self._kept)
        self._kept = 0


class Lines:
    """Over any stream: one line at the beginning of a step, and others while it takes long."""

    def __init__(self, stream: TextIO, monotonic: Callable[[], float]) -> None:
        self._stream = stream
        self._monotonic = monotonic
        self._doing = ""
        self._total = 0
        self._done = 0
        self._said_s = 0.0

    def begin(self, step: Step, total: int) -> None:
        self._doing, self._total, self._done = _DOING[step], total, 0
        self._say(f"{self._doing}: about {total:,}")

    def advance(self, done: int) -> None:
        before, self._done = self._done, self._done + done
        if before // _AT_ONCE < self._done // _AT_ONCE and self._monotonic() - self._said_s >= _EVERY_S:
            self._say(f"{self._doing}: {self._done:,} of about {self._total:,}")

    def _say(self, line: str) -> None:
        self._said_s = self._monotonic()
        self._stream.write(f"{line}\n")
        self._stream.flush()
