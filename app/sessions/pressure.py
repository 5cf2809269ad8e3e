"""Memory pressure: how much this process may use, how much it does, and which conversations to let go (section 11).

The parsing and choosing functions are pure. ``MemoryGauge`` reads what Linux tells; elsewhere nothing is known, and
nothing is shed.
"""

import asyncio
import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import structlog

from app.sessions.entry import SessionKey

MEMORY_OVER_BUDGET = "memory_over_budget"

MB = 1024 * 1024
SHARE = 0.65
FLOOR_BYTES = 512 * MB
FLOOR_SHARE = 0.8
"""The floor is no more than this of what is allowed: above the limit of a small container nothing is ever let go."""
NO_LIMIT_BYTES = 1 << 60
"""Version 1 of control groups writes "no limit" as the largest number of whole pages, beyond any machine."""

MemoryHigh = Literal["auto", "off"] | int
"""``auto``, ``off``, or megabytes; 0 is off, too."""

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Evictable:
    """A conversation that may be let go, as far as this says."""

    key: SessionKey
    is_pinned: bool = False
    """A turn is under way."""
    is_flushed: bool = True
    """The store has every line of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the machine told; ``None`` where it did not."""

    limit_bytes: int | None
    """What the process's control group allows."""
    total_bytes: int | None
    """The machine's memory."""
    anonymous_bytes: int | None
    """Of the control group where it has a limit, else of the process: memory that no file could give back."""


@dataclass(frozen=True, slots=True)
class PressureRules:
    memory_high_mb: MemoryHigh = "auto"
    max_evictions_per_pass: int = 16
    protect_recent: int = 8


def budget_bytes(memory_high: MemoryHigh, reading: Reading) -> int | None:
    """How much anonymous memory is fine; ``None``: the pass is off, or nothing is known to derive it from."""
    if isinstance(memory_high, int):
        return memory_high * MB or None
    if memory_high == "off":
        return None
    known = [bound for bound in (reading.limit_bytes, reading.total_bytes) if bound is not None]
    if not known:
        return None
    allowed = min(known)
    return max(min(FLOOR_BYTES, int(allowed * FLOOR_SHARE)), int(allowed * SHARE))


def shed(
    evictables: Sequence[Evictable], *, max_evictions_per_pass: int, protect_recent: int
) -> tuple[SessionKey, ...]:
    """Whom to let go, of conversations that come least recently used first.

    Never one that is pinned or not flushed, and never the ``protect_recent`` last ones, which are half of all at most.
    """
    protected = min(protect_recent, len(evictables) // 2)
    loose = [each.key for each in evictables[: len(evictables) - protected] if each.is_flushed and not each.is_pinned]
    return tuple(loose[:max_evictions_per_pass])


def parse_limit(text: str) -> int | None:
    """``memory.high``, ``memory.max`` and ``memory.limit_in_bytes``; ``None``: no limit."""
    word = text.strip()
    if not word.isdecimal():
        return None
    limit = int(word)
    return limit if limit < NO_LIMIT_BYTES else None


def parse_stat(text: str) -> int | None:
    """The anonymous memory in a ``memory.stat``: ``anon`` in version 2; ``total_rss``, children included, in 1."""
    figures = dict(line.split(maxsplit=1) for line in text.splitlines() if " " in line)
    found = figures.get("anon", figures.get("total_rss", "")).strip()
    return int(found) if found.isdecimal() else None


def parse_kb(text: str, name: str) -> int | None:
    """``name: 123 kB`` in a file of ``/proc``, as bytes."""
    for line in text.splitlines():
        label, _, figure = line.partition(":")
        number, _, unit = figure.strip().partition(" ")
        if label == name and number.isdecimal() and unit == "kB":
            return int(number) * 1024
    return None


def parse_groups(text: str) -> Mapping[str, str]:
    """``/proc/self/cgroup``: the process's path by controller. Version 2 has one path, under ``""``."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


class MemoryGauge:
    """Reads the machine below ``root``. Blocks for as long as a few small files take: call it in a thread."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def read(self) -> Reading:
        limit, anonymous = self._group()
        if limit is None or anonymous is None:
            anonymous = self._own_anonymous()
        return Reading(limit, parse_kb(self._text("proc/meminfo"), "MemTotal"), anonymous)

    def _group(self) -> tuple[int | None, int | None]:
        """The limit that is nearest to the process, and what is used under it."""
        paths = parse_groups(self._text("proc/self/cgroup"))
        for mount, path, names in (
            ("sys/fs/cgroup", paths.get(""), ("memory.high", "memory.max")),
            ("sys/fs/cgroup/memory", paths.get("memory"), ("memory.limit_in_bytes",)),
        ):
            for folder in self._upwards(mount, path):
                for name in names:
                    limit = parse_limit(self._text(f"{folder}/{name}"))
                    if limit is not None:
                        return limit, parse_stat(self._text(f"{folder}/memory.stat"))
        return None, None

    def _upwards(self, mount: str, path: str | None) -> Sequence[str]:
        """The group's folder and those around it. In a container the path may name folders that only its host has."""
        if path is None:
            return ()
        parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
        return ["/".join((mount, *parts[:depth])) for depth in range(len(parts), -1, -1)]

    def _own_anonymous(self) -> int | None:
        found = parse_kb(self._text("proc/self/smaps_rollup"), "Anonymous")
        return found if found is not None else parse_kb(self._text("proc/self/status"), "RssAnon")

    def _text(self, path: str) -> str:
        try:
            return (self._root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


class Sheds(Protocol):
    """What the pass needs of the cache."""

    def evictables(self) -> Sequence[Evictable]: ...

    def let_go(self, keys: Sequence[SessionKey]) -> int: ...


class PressurePass:
    """Compares use with budget; over it, lets conversations go and gives the freed memory back to the system."""

    def __init__(self, cache: Sheds, gauge: MemoryGauge, rules: PressureRules) -> None:
        self._cache = cache
        self._gauge = gauge
        self._rules = rules
        self._was_over = False

    async def run(self) -> int:
        """How many conversations were let go."""
        reading = await asyncio.to_thread(self._gauge.read)
        budget, used = budget_bytes(self._rules.memory_high_mb, reading), reading.anonymous_bytes
        if budget is None or used is None or used <= budget:
            self._was_over = False
            return 0
        gone = await self._relieve()
        if gone or not self._was_over:
            # Said once also when there is nothing to let go: then something else takes the memory.
            _log.warning(MEMORY_OVER_BUDGET, used_mb=used // MB, budget_mb=budget // MB, let_go=gone)
        self._was_over = True
        return gone

    async def _relieve(self) -> int:
        rules = self._rules
        going = shed(
            self._cache.evictables(),
            max_evictions_per_pass=rules.max_evictions_per_pass,
            protect_recent=rules.protect_recent,
        )
        gone = self._cache.let_go(going)
        if gone:
            await asyncio.to_thread(trim)
        return gone


def trim() -> bool:
    """Have the C library return freed memory to the system; ``False`` where it cannot (``malloc_trim`` is glibc's)."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return False
    malloc_trim(ctypes.c_size_t(0))
    return True
