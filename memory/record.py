"""What is remembered: one distilled statement with its origin."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["fact", "summary"]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One statement of one scope (specification, section 3)."""

    id: str
    """``mem:<scope key>:<sequence number>``."""
    scope_key: str
    kind: Kind
    text: str
    source_thread_key: str
    """The conversation it came from."""
    created_at: datetime
