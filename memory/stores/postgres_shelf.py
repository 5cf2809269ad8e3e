"""A scope's rows as a search goes along them: a record is made of a row when somebody wants to see it.

A search looks at all of a scope and shows a few of its records. To make every one of them takes several times as long
as to rank them, and they take several times the memory of the rows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import itemgetter

from memory.record import MemoryRecord, Status
from memory.shelf import Trace, trace_of, words_in
from memory.stores.postgres_rows import Row, record_of, unpacked, unpacked_keywords

_SEQUENCE, _TEXT, _KEYWORDS, _TERMS, _THREAD, _AUTHOR, _CREATED_AT = 0, 2, 3, 4, 5, 8, 9
_USED_AT, _USES, _STANDING, _STATUS = 10, 11, 14, 15
"""Where they are in ``postgres_rows.COLUMNS``."""
_sequence_of = itemgetter(_SEQUENCE)


class RowShelf:
    """Implements ``memory.shelf.Shelf``: the active records among ``rows``, oldest first."""

    __slots__ = ("_made", "_rows", "_scope_key")

    def __init__(self, scope_key: str, rows: Iterable[Row]) -> None:
        self._scope_key = scope_key
        self._rows = sorted((row for row in rows if row[_STATUS] == Status.ACTIVE), key=_sequence_of)
        self._made: dict[int, MemoryRecord] = {}
        """By place, what was made of rows, or is known in their stead."""

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> MemoryRecord:
        record = self._made.get(place)
        if record is not None:
            return record
        # In one step: what a thread makes of a row does not take the place of what was counted meanwhile.
        return self._made.setdefault(place, record_of(self._scope_key, self._rows[place]))

    def trace(self, place: int) -> Trace:
        record = self._made.get(place)
        if record is not None:
            return trace_of(record)
        row = self._rows[place]
        return row[_AUTHOR], row[_USED_AT] or row[_CREATED_AT], row[_USES]

    def count_use(self, record: MemoryRecord) -> None:
        place = self._place_of(record.sequence)
        if place is not None and self[place].use_count < record.use_count:
            self._made[place] = record

    def threads(self) -> Iterator[str]:
        return (row[_THREAD] for row in self._rows)

    def authors(self) -> Iterator[str | None]:
        return (row[_AUTHOR] for row in self._rows)

    def standing(self) -> Iterator[bool]:
        return (row[_STANDING] for row in self._rows)

    def terms(self) -> Iterator[Iterable[str]]:
        return (unpacked(row[_TERMS]) for row in self._rows)

    def words(self) -> Iterator[frozenset[str]]:
        return (words_in(row[_TEXT], unpacked_keywords(row[_KEYWORDS])) for row in self._rows)

    def having(self, terms: Iterable[str]) -> dict[str, list[int]]:
        """Found in the packed terms: to take all of them apart takes three times as long."""
        said = [f"\n{row[_TERMS]}\n" for row in self._rows]
        lines = {term: f"\n{term}\n" for term in terms}
        return {term: [place for place, words in enumerate(said) if line in words] for term, line in lines.items()}

    def changed_by(self, rows: Iterable[Row]) -> "RowShelf":
        """What it is after a change, of which ``rows`` tell all: what a record was used meanwhile is kept."""
        known = {_sequence_of(row): row for row in self._rows}
        known.update((_sequence_of(row), row) for row in rows)
        shelf = RowShelf(self._scope_key, known.values())
        for place, record in self._made.items():
            shelf._take_over(self._rows[place], record)
        return shelf

    def _take_over(self, row: Row, record: MemoryRecord) -> None:
        """What another shelf made of ``row``, or as much of it as stays true: a count only grows within an epoch."""
        place = self._place_of(_sequence_of(row))
        if place is None:
            return
        if self._rows[place] is row:
            self._made[place] = record
        elif self[place].use_count < record.use_count:
            self._made[place] = replace(self[place], use_count=record.use_count, last_used_at=record.last_used_at)

    def _place_of(self, sequence: int) -> int | None:
        place = bisect_left(self._rows, sequence, key=_sequence_of)
        return place if place < len(self._rows) and _sequence_of(self._rows[place]) == sequence else None
