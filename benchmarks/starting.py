"""How long a process of the bot takes until Slack can reach it, and how much memory it then holds."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.bots import bot_environment
from benchmarks.children import BenchmarkError, Child, child
from benchmarks.figures import Aim, median
from benchmarks.tables import Table
from benchmarks.workspaces import Connected, Desk, workspace

START = Aim(2, "s", is_exclusive=True)
"""README, "Tests, checks, figures": from the start of the process to the Socket Mode connection."""
MEMORY = Aim(150, "MB", is_exclusive=True)
"""README, "Tests, checks, figures": resident, idle."""
IDLE_S = 3.0
_LEAVE_S = 10.0
_BYTES_PER_MB = 1_000_000
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Scale:
    runs: int
    is_warmed: bool
    """Whether a start that does not count goes before, to warm the disk's cache."""


FULL, QUICK = Scale(5, is_warmed=True), Scale(1, is_warmed=False)


@dataclass(frozen=True, slots=True)
class Kind:
    """A program that is started, and whether the README's aims are about it."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    has_aims: bool = True


@dataclass(frozen=True, slots=True)
class Started:
    took_s: float
    resident_mb: float


def run(scale: Scale) -> Table:
    with child(workspace) as playground:
        kinds = _kinds(playground.greeting())
        if scale.is_warmed:
            _start_all(kinds, playground, idle_s=0.0)
        rounds = [_start_all(kinds, playground, idle_s=IDLE_S) for _ in range(scale.runs)]
    return table(kinds, rounds, is_warmed=scale.is_warmed)


def _kinds(api_url: str) -> list[Kind]:
    bot = ("-m", "app", "run")
    nowhere = {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    return [
        Kind("bare Bolt", ("-m", "benchmarks.bare_bolt", api_url), {}, has_aims=False),
        Kind("Switchboard, offline model", bot, bot_environment(api_url, "socket", "offline/demo")),
        Kind(
            "Switchboard, Anthropic's SDK warmed",
            bot,
            {**bot_environment(api_url, "socket", "anthropic/claude"), **nowhere},
        ),
    ]


def _start_all(kinds: Sequence[Kind], playground: Child[Desk], *, idle_s: float) -> list[Started]:
    """One after the other, each alone while it starts; then they are idle together, and end together."""
    processes: list[subprocess.Popen[bytes]] = []
    took_s: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for kind in kinds:
                began_s = time.monotonic()
                processes.append(_process(kind, folder))
                took_s.append(playground.ask(Connected(len(processes))) - began_s)
            time.sleep(idle_s)
            resident = [_resident_bytes(process) for process in processes]
        finally:
            _end(processes)
        playground.ask(Connected(0))
    return [Started(start, held / _BYTES_PER_MB) for start, held in zip(took_s, resident, strict=True)]


def _process(kind: Kind, folder: str) -> subprocess.Popen[bytes]:
    """In an empty folder and a clean environment, so that nobody's own settings have a say."""
    return subprocess.Popen(  # noqa: S603 - the command is one of ours above
        [sys.executable, *kind.command],
        cwd=tempfile.mkdtemp(dir=folder),
        env={**kind.environment, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.DEVNULL,
    )


def _resident_bytes(process: subprocess.Popen[bytes]) -> int:
    """Raises ``BenchmarkError`` when the process has ended by itself."""
    if process.poll() is not None:
        raise BenchmarkError(f"a started process ended by itself with status {process.returncode}")
    return psutil.Process(process.pid).memory_info().rss


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(_LEAVE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def table(kinds: Sequence[Kind], rounds: Sequence[Sequence[Started]], *, is_warmed: bool) -> Table:
    after = ", after one that warms the disk's cache" if is_warmed else ""
    return Table(
        "Start and memory",
        ("", "start, median", "", "resident, median", ""),
        [_row(kind, starts) for kind, *starts in zip(kinds, *rounds, strict=True)],
        (
            f"{len(rounds)} starts each, in turn{after}",
            f"start: until connected; resident: {IDLE_S:g} s after the last start, idle; 1 MB = 1,000,000 bytes",
        ),
    )


def _row(kind: Kind, starts: list[Started]) -> tuple[str, ...]:
    took_s = median([each.took_s for each in starts])
    resident_mb = median([each.resident_mb for each in starts])
    verdicts = (START.verdict(took_s), MEMORY.verdict(resident_mb)) if kind.has_aims else ("", "")
    return kind.name, f"{took_s:.2f} s", verdicts[0], f"{resident_mb:.0f} MB", verdicts[1]
