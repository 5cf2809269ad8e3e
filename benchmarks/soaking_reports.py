"""What a soak tells at its end: the figures, and where they are not what they have to be, the threads concerned."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from benchmarks.soaking_accounts import Account
from benchmarks.soaking_mishaps import Mishaps

_TELLING = frozenset({"recovery_started", "recovery_postponed", "message_abandoned", "delivery_failed", "task_failed"})
_EVENT = re.compile(r"[a-z_]+")
_LEVELS = frozenset({"warning", "error", "critical"})


@dataclass(frozen=True, slots=True)
class Soaked:
    account: Account
    threads: Mapping[int, str]
    """Number of each question → its thread."""
    shown: Mapping[str, str]
    bursts: int
    ended: Mapping[str, int]
    """How often the bot was ended, by signal."""
    cuts: int
    mishaps: Mishaps
    redelivered: int
    unfinished: int
    """Messages and answers that the bot's records have no end of."""
    talked_s: float
    settled_s: float
    has_settled: bool
    log: str

    @property
    def is_clean(self) -> bool:
        return self.account.is_clean and self.has_settled and not self.unfinished


def summary(soaked: Soaked) -> str:
    counted, ended = soaked.account, soaked.ended
    lost, limited, failed = soaked.mishaps.lost, soaked.mishaps.limited, soaked.mishaps.failed
    settled = "" if soaked.has_settled else " (NOT SETTLED)"
    threads = len(set(soaked.threads.values()))
    return "\n".join(
        [
            f"Soak: {soaked.talked_s:.0f} s of talk, {soaked.settled_s:.0f} s until everything had settled{settled}",
            f"  asked          {len(soaked.threads)} in {threads} threads and DMs, {soaked.bursts} bursts",
            f"  accepted       {len(counted.accepted)}",
            f"  answered once  {len(counted.once)}",
            f"  lost           {len(counted.lost)}",
            f"  doubled        {len(counted.doubled)}",
            f"  reordered      {len(counted.reordered)}",
            f"  kills          {ended.get('SIGKILL', 0)} (SIGKILL), {ended.get('SIGTERM', 0)} orderly (SIGTERM)",
            f"  restarts       {sum(ended.values()) - 1}",
            f"  socket cuts    {soaked.cuts}",
            f"  calls to Slack {lost} handled without an answer, {limited} put off (429), {failed} failed (5xx)",
            f"  redeliveries   {soaked.redelivered}; came behind a later question: {len(counted.late)}",
            f"  without an end in the bot's records: {soaked.unfinished}",
            f"  the bot's warnings: {_told(soaked.log)}",
        ]
    )


def details(soaked: Soaked) -> str:
    """The numbers concerned, their threads with everything the bot says in them, and the log lines about those."""
    counted = soaked.account
    lines = [summary(soaked), ""]
    concerned: dict[str, None] = {}
    for name, numbers in (("lost", counted.lost), ("doubled", counted.doubled), ("reordered", counted.reordered)):
        for number in numbers:
            lines.append(f"{name}: #{number} in {soaked.threads[number]}")
            concerned[soaked.threads[number]] = None
    for thread in concerned:
        asked = [number for number, where in soaked.threads.items() if where == thread]
        lines += ["", f"thread {thread}: asked {asked}", soaked.shown.get(thread, ""), ""]
        lines += [json.dumps(line) for line in _lines(soaked.log) if thread in str(line.get("thread"))]
    return "\n".join(lines)


def _told(log: str) -> str:
    """Our own events have one word for a name; sentences are those of the libraries."""
    events = [(str(line.get("event")), line.get("level") in _LEVELS) for line in _lines(log)]
    counts = Counter(
        event if _EVENT.fullmatch(event) else "of libraries"
        for event, is_warning in events
        if is_warning or event in _TELLING
    )
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def _lines(log: str) -> Iterator[Mapping[str, Any]]:
    """What is no JSON object is a traceback of something worse, and no line of the log."""
    for line in log.splitlines():
        with suppress(ValueError):
            kept = json.loads(line)
            if isinstance(kept, dict):
                yield kept
