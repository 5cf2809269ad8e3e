"""Uses of a scope's records that are not in its SQLite file yet: no search waits for a write, every read shows them."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime

from memory.engine import used
from memory.record import MemoryRecord
from memory.stores.sqlite_rows import microseconds
from memory.stores.sqlite_schema import transaction

_COUNT = """UPDATE records SET use_count = use_count + found.uses, last_used_at = found.used_at FROM (
    SELECT value ->> 0 AS number, value ->> 1 AS uses, value ->> 2 AS used_at FROM json_each(?)) AS found
    WHERE seq = found.number"""


class Uses:
    """How often, and when last. Numbers only, so an erased record leaves nothing here that anybody could read."""

    def __init__(self) -> None:
        self._by_sequence: dict[int, tuple[int, datetime]] = {}

    def __len__(self) -> int:
        """Records that were used."""
        return len(self._by_sequence)

    def add(self, sequences: Iterable[int], now: datetime) -> None:
        for sequence in sequences:
            times, _ = self._by_sequence.get(sequence, (0, now))
            self._by_sequence[sequence] = (times + 1, now)

    def shown_on(self, records: list[MemoryRecord]) -> list[MemoryRecord]:
        """``records`` as they will be once this is written."""
        return [self._shown(record) for record in records] if self._by_sequence else records

    def write(self, connection: sqlite3.Connection) -> None:
        """Raises ``sqlite3.Error`` when that is not possible."""
        found = [(sequence, times, microseconds(at)) for sequence, (times, at) in self._by_sequence.items()]
        with transaction(connection):
            connection.execute(_COUNT, (json.dumps(found),))

    def clear(self) -> None:
        self._by_sequence.clear()

    def _shown(self, record: MemoryRecord) -> MemoryRecord:
        times, at = self._by_sequence.get(record.sequence, (0, record.created_at))
        return used(record, at, times) if times else record
