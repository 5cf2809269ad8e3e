"""What is remembered: one distilled statement with its origin, and what a caller hands in to have it remembered."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

Kind = Literal["fact", "summary"]

TEXT_CHARS = 4_000
KEYWORDS = 20
KEYWORD_CHARS = 64
ID_CHARS = 200
"""The caps of one record (specification, section 16); ``ID_CHARS`` holds for every name in it."""


class Status(StrEnum):
    """Only active records are found, listed, deduplicated against, counted and evicted; the others keep their row."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EVICTED = "evicted"
    SWEPT = "swept"
    """It told how far some work had come, which nobody needs later."""


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One statement of one scope (specification, section 3)."""

    id: str
    """``mem:<scope key>:<sequence number>``."""
    scope_key: str
    kind: Kind
    text: str
    keywords: tuple[str, ...]
    source_thread_key: str
    """The conversation it came from."""
    created_at: datetime
    terms: frozenset[str] = frozenset()
    """What the relevance ranker looks at: computed from text, keywords, author and date when it was written.

    Empty on what a remote store found; what it lists has them.
    """
    source_run_id: str | None = None
    source_user: str | None = None
    """Who said it, as the platform names them."""
    author: str | None = None
    """Who said it, as people name them."""
    last_used_at: datetime | None = None
    use_count: int = 0
    confidence: float | None = None
    """0 to 1; plays no part in ranking."""
    supersedes: str | None = None
    status: Status = Status.ACTIVE
    is_standing: bool = False
    """Governs every answer in its scope, whatever the question shares with it."""

    @property
    def sequence(self) -> int:
        return int(self.id.rpartition(":")[2])

    @property
    def used_at(self) -> datetime:
        """When it last mattered: used, or else created."""
        return self.last_used_at or self.created_at


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A statement that wants to be remembered; the store gives it an id, times and a status."""

    kind: Kind
    text: str
    source_thread_key: str
    keywords: tuple[str, ...] | None = None
    """``None``: the tokens of the text."""
    source_run_id: str | None = None
    source_user: str | None = None
    author: str | None = None
    confidence: float | None = None
    supersedes: str | None = None
    """The record this one corrects. Empty means none."""
    restates: str | None = None
    """The record that says the same already. Empty means none."""
    is_standing: bool = False


@dataclass(frozen=True, slots=True)
class WriteCounts:
    """What became of a batch."""

    inserted: int = 0
    deduped: int = 0
    restated: int = 0
    superseded: int = 0
    evicted: int = 0

    def __add__(self, other: "WriteCounts") -> "WriteCounts":
        return WriteCounts(
            self.inserted + other.inserted,
            self.deduped + other.deduped,
            self.restated + other.restated,
            self.superseded + other.superseded,
            self.evicted + other.evicted,
        )
