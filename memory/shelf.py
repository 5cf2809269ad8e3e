"""The records of a pool as a search goes along them: by what every one of them shows, and a few of them whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Protocol

from memory.record import MemoryRecord
from memory.text import tokenize

Trace = tuple[str | None, datetime, int]
"""Who said a record, when it was used last (or made), and how often it was used."""


class Shelf(Protocol):
    """Active records of one scope, in the order of their sequence numbers either way. Adapters: records, rows."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int, /) -> MemoryRecord: ...

    def trace(self, place: int) -> Trace: ...
    def count_use(self, record: MemoryRecord) -> None:
        """Show a record as it is with a later use, if it is there."""
        ...

    def threads(self) -> Iterator[str]: ...
    def authors(self) -> Iterator[str | None]: ...
    def standing(self) -> Iterator[bool]: ...

    def terms(self) -> Iterator[Iterable[str]]:
        """Of each record every term once."""
        ...

    def words(self) -> Iterator[frozenset[str]]:
        """Of each record the reference ranker's tokens."""
        ...

    def having(self, terms: Iterable[str]) -> dict[str, list[int]]:
        """The places of the records that have it, by term, in the order of ``terms``; without an index."""
        ...


class RecordShelf(list[MemoryRecord]):
    """Records that are whole anyway."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {record.id: place for place, record in enumerate(self)}

    def trace(self, place: int) -> Trace:
        return trace_of(self[place])

    def count_use(self, record: MemoryRecord) -> None:
        place = self._places.get(record.id)
        if place is not None and self[place].use_count < record.use_count:
            self[place] = record

    def threads(self) -> Iterator[str]:
        return (record.source_thread_key for record in self)

    def authors(self) -> Iterator[str | None]:
        return (record.author for record in self)

    def standing(self) -> Iterator[bool]:
        return (record.is_standing for record in self)

    def terms(self) -> Iterator[frozenset[str]]:
        return (record.terms for record in self)

    def words(self) -> Iterator[frozenset[str]]:
        return map(words_of, self)

    def having(self, terms: Iterable[str]) -> dict[str, list[int]]:
        return places_having(terms, self.terms())


def trace_of(record: MemoryRecord) -> Trace:
    return record.author, record.last_used_at or record.created_at, record.use_count


def places_having(asked: Iterable[str], said: Iterable[frozenset[str]]) -> dict[str, list[int]]:
    """The places in ``said`` of those that have it, by word, in the order asked."""
    found: dict[str, list[int]] = {word: [] for word in asked}
    wanted = frozenset(found)
    for place, words in enumerate(said):
        for word in wanted & words:
            found[word].append(place)
    return found


def words_of(record: MemoryRecord) -> frozenset[str]:
    """The reference ranker's tokens of a record (specification, section 5)."""
    return words_in(record.text, record.keywords)


def words_in(text: str, keywords: Iterable[str]) -> frozenset[str]:
    return frozenset([*tokenize(" ".join(keywords)), *tokenize(text)])


def indexed(numbers: Iterable[int], said: Iterable[Iterable[str]]) -> Mapping[str, Sequence[int]]:
    """The numbers of those that have it, by word; ``said`` goes along with ``numbers``."""
    index: dict[str, list[int]] = {}
    for number, words in zip(numbers, said, strict=True):
        for word in words:
            index.setdefault(word, []).append(number)
    return index
