"""Batches that come twice: how one is recognised, and for how long (the Idempotency-Key header, an IETF draft)."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from hashlib import blake2b

from memory.record import MemoryCandidate, WriteCounts
from memory.store import KeyReusedError

KEPT = timedelta(days=1)
"""How long a store remembers that a batch was applied."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a batch that had a key."""

    digest: bytes
    counts: WriteCounts
    at: datetime


def digest_of(candidates: Sequence[MemoryCandidate]) -> bytes:
    """Sixteen bytes that are equal for equal batches."""
    told = repr([astuple(candidate) for candidate in candidates])
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def key_of(run_id: str, scope_key: str, candidates: Sequence[MemoryCandidate]) -> str:
    """The same for the same batch of the same run, today and after a restart; tells nothing of it."""
    run = f"{run_id}\n{scope_key}\n".encode("utf-8", "surrogatepass")
    return f"run-{blake2b(run + digest_of(candidates), digest_size=16).hexdigest()}"


def earlier_counts(applied: Applied | None, digest: bytes, now: datetime) -> WriteCounts | None:
    """What the batch was answered when it came first; ``None`` when it is new. Raises ``KeyReusedError``."""
    if applied is None or now - applied.at > KEPT:
        return None
    if applied.digest != digest:
        raise KeyReusedError("the idempotency key was used for another batch")
    return applied.counts
