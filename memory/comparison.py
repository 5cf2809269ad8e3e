"""Whether two stores hold the same records: what counts as the same, and what a comparison adds up to."""

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from memory.record import MemoryRecord, Status
from memory.service.wire import MOST_BODY_BYTES, MOST_RECORDS, told_record

MOST_CHARS = MOST_BODY_BYTES - 8_192
"""Of the records of one batch; the rest of a request to a memory service is for what stands around them."""
DIGEST_BYTES = 16
"""Of all that was read of one scope."""


class Outcome(StrEnum):
    """Of one record of the source beside the one of its number in the target."""

    SAME = "same"
    DIFFERENT = "different"
    MISSING = "missing"
    """In the target."""
    EXTRA = "only in the target"


@dataclass(frozen=True, slots=True)
class Compared:
    """Records of one or more scopes, side by side."""

    outcomes: Counter[Outcome] = field(default_factory=Counter[Outcome])
    source: Counter[Status] = field(default_factory=Counter[Status])
    target: Counter[Status] = field(default_factory=Counter[Status])
    """How many of each status."""

    def __add__(self, other: "Compared") -> "Compared":
        return Compared(self.outcomes + other.outcomes, self.source + other.source, self.target + other.target)

    @property
    def is_whole(self) -> bool:
        """Whether the target has all of the source."""
        return not self.outcomes[Outcome.DIFFERENT] and not self.outcomes[Outcome.MISSING]


class Batch:
    """Records for one ``restore``: few enough, and small enough, for a request to a memory service."""

    def __init__(self) -> None:
        self._records: list[MemoryRecord] = []
        self._chars = 0

    def has_room_for(self, line: str) -> bool:
        """``line``: a record as ``told``."""
        return not self._records or (len(self._records) < MOST_RECORDS and self._chars + len(line) < MOST_CHARS)

    def add(self, record: MemoryRecord, line: str) -> None:
        self._records.append(record)
        self._chars += len(line) + 1

    def taken(self) -> list[MemoryRecord]:
        """Its records, once: it is empty afterwards."""
        records, self._records, self._chars = self._records, [], 0
        return records


def told(record: MemoryRecord) -> str:
    """All of ``record`` that has to be the same elsewhere: times to the millisecond, terms left out.

    ASCII, so at least as long as on the wire.
    """
    return json.dumps(told_record(record), separators=(",", ":"))


def outcome(ours: str | None, theirs: str | None) -> Outcome:
    """Of two records as ``told``; ``None`` where there is none."""
    if theirs is None:
        return Outcome.MISSING
    if ours is None:
        return Outcome.EXTRA
    return Outcome.SAME if ours == theirs else Outcome.DIFFERENT
