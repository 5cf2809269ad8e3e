"""A memory store as the specification tells it: rows of a list, with a tokenizer, score and key of its own."""

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import EraseReceipt

CAP = 6


def clean(text: str) -> str:
    joined = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")
    return joined.replace("\x00", " ")


def key_of(text: str) -> str:
    return re.sub(r"[\s\ufeff]+", " ", clean(text).lower()).strip()


def words_of(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower())


@dataclass
class Row:
    """One record of the model; mutable, as a list's rows are."""

    number: int
    text: str
    known: set[str]
    thread: str
    kind: Kind
    is_standing: bool
    created_at: datetime
    confidence: float | None
    used_at: datetime | None = None
    uses: int = 0
    status: str = "active"


class Model:
    """The store as the specification tells it, for one scope."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        self.rows: list[Row] = []
        self.next_number = 0
        self.applied: dict[str, tuple[list[MemoryCandidate], datetime, WriteCounts]] = {}
        """Batches by their idempotency key: what, when, and what it was answered."""

    def active(self) -> list[Row]:
        return [row for row in self.rows if row.status == "active"]

    def named(self, name: str | None) -> Row | None:
        return next((row for row in self.active() if name == f"mem:{self.scope}:{row.number}"), None)

    def write(self, batch: list[MemoryCandidate], now: datetime) -> WriteCounts:
        counts: dict[str, int] = dict.fromkeys(("inserted", "deduped", "restated", "superseded", "evicted"), 0)
        for candidate in batch:
            for outcome in self._write_one(candidate, now):
                counts[outcome] += 1
        by_age = sorted(self.active(), key=lambda row: (row.used_at or row.created_at, row.created_at, row.number))
        by_age.sort(key=lambda row: row.is_standing)
        for row in by_age[: max(0, len(by_age) - CAP)]:
            row.status = "evicted"
            counts["evicted"] += 1
        return WriteCounts(**counts)

    def earlier(self, key: str, now: datetime) -> tuple[list[MemoryCandidate], datetime, WriteCounts] | None:
        """What came with the key within a day."""
        applied = self.applied.get(key)
        return applied if applied and now - applied[1] <= timedelta(days=1) else None

    def _write_one(self, candidate: MemoryCandidate, now: datetime) -> list[str]:
        confirmed = self.named(candidate.restates)
        if candidate.restates and confirmed:
            confirmed.uses, confirmed.used_at = confirmed.uses + 1, now
            confirmed.is_standing |= candidate.is_standing
            if candidate.confidence is not None:
                confirmed.confidence = max(candidate.confidence, confirmed.confidence or 0.0)
            return ["restated"]
        target = self.named(candidate.supersedes) if candidate.supersedes else None
        rivals = ([target] if target else []) if candidate.supersedes else self.active()
        for row in rivals:
            if key_of(row.text) == key_of(candidate.text):
                row.uses += 1
                row.is_standing |= candidate.is_standing
                return ["deduped"]
        self._insert(candidate, now)
        if target:
            target.status = "superseded"
            return ["inserted", "superseded"]
        return ["inserted"]

    def _insert(self, candidate: MemoryCandidate, now: datetime) -> None:
        text = clean(candidate.text)
        known = {*words_of(text), *words_of(clean(" ".join(candidate.keywords or ())))}
        self.rows.append(
            Row(
                self.next_number,
                text,
                known,
                clean(candidate.source_thread_key),
                candidate.kind,
                candidate.is_standing,
                now,
                candidate.confidence,
            )
        )
        self.next_number += 1

    def search(self, query: str, limit: int, now: datetime) -> list[Row]:
        asked = words_of(query)
        scored: list[tuple[float, Row]] = []
        for row in self.active():
            share = sum(word in row.known for word in asked) / len(asked) if asked else 0.0
            age = max(0.0, (now - (row.used_at or row.created_at)) / timedelta(days=7))
            if share > 0:
                scored.append((0.7 * share + 0.3 * math.exp(-age), row))
        return [row for _, row in sorted(scored, key=lambda pair: -pair[0])][:limit]

    def count_use(self, rows: list[Row], now: datetime) -> None:
        for row in rows:
            row.uses, row.used_at = row.uses + 1, now

    def erase(self, gone: list[Row]) -> EraseReceipt:
        self.rows = [row for row in self.rows if row not in gone]
        if gone:
            self.applied.clear()
        return EraseReceipt(len(gone), 1 if gone else 0)


def seen(record: MemoryRecord) -> tuple[object, ...]:
    """What of a record the model knows."""
    return (
        record.sequence,
        record.text,
        record.source_thread_key,
        record.kind,
        record.is_standing,
        record.created_at,
        record.confidence,
        record.last_used_at,
        record.use_count,
    )


def told(row: Row) -> tuple[object, ...]:
    return (
        row.number,
        row.text,
        row.thread,
        row.kind,
        row.is_standing,
        row.created_at,
        row.confidence,
        row.used_at,
        row.uses,
    )
