"""What became of one look at a finished turn: what was learned, what was not and why, and what is left to write."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from memory.record import MemoryCandidate, WriteCounts
from memory.scope import ScopeKind


class Ending(StrEnum):
    """How a pass ended."""

    WRITTEN = "written"
    """Whatever there was is in the store, except for what ``Outcome.unwritten`` holds."""
    NOTHING = "nothing"
    """Nothing durable was said, or nothing new."""
    SKIPPED = "skipped"
    """No model was asked; ``reason`` tells why."""
    REJECTED = "rejected"
    """The model's answer was of no use; ``reason`` tells why."""
    FAILED = "failed"
    """The model or the store could not be used; ``reason`` tells which."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What goes to one scope. A plain value, so that what could not be written can be kept and tried again."""

    scope_key: str
    candidates: tuple[MemoryCandidate, ...]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What one scope took, for the sentence that tells people about it."""

    scope_key: str
    kind: ScopeKind
    counts: WriteCounts
    record_ids: tuple[str, ...] = ()
    """The records that are new, oldest first; taking them back is forgetting these."""
    standing_ids: tuple[str, ...] = ()
    """Those among them that govern every answer."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts and reasons; nothing in it but ``unwritten`` and ``unreviewed`` holds words."""

    ending: Ending
    reason: str | None = None
    offered: int = 0
    """Facts the model named."""
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many of them were not learned, by reason."""
    restated: int = 0
    """How many were known already."""
    review: int = 0
    """How many look like instructions and wait for a person."""
    narrowed: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many went to a narrower audience than the model named, by reason."""
    remembered: tuple[Remembered, ...] = ()
    unwritten: tuple[Batch, ...] = ()
    """For ``Reflector.write_again``: the batches of scopes that could not be written."""
    untaken: int = 0
    """How many batches the store refused for what they are; nothing of them is left to write."""
    unreviewed: tuple[Batch, ...] = ()
    """What waits for a person and could not be handed in."""

    @property
    def learned(self) -> int:
        """How many records are new."""
        return sum(each.counts.inserted for each in self.remembered)
