"""What looks like an instruction to the assistant and is held back until a person decides about it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.record import MemoryCandidate
from memory.scope import parse_record_id, record_id

Verdict = Literal["approved", "rejected"]

_HELD, _RECORD = "held:", "mem:"


@dataclass(frozen=True, slots=True)
class HeldFact:
    """One statement that is written nowhere and recalled by nobody."""

    id: str
    """``held:<scope key>:<number>``: whose it is, and with it who may decide, comes out of the id itself."""
    scope_key: str
    candidate: MemoryCandidate
    """What would have been written, as it would have been."""
    held_at: datetime


def held_id(scope_key: str, number: int) -> str:
    return record_id(scope_key, number).replace(_RECORD, _HELD, 1)


def parse_held_id(text: str) -> tuple[str, int] | None:
    """Scope key and number; ``None`` for anything else."""
    return parse_record_id(text.replace(_HELD, _RECORD, 1)) if text.startswith(_HELD) else None
