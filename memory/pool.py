"""The records a search ranks, and what ranking them again and again can keep: neighbours, and what a word comes to."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import overload

from memory.layout import Layout
from memory.reach import Reach, reach_of
from memory.record import MemoryRecord, Status
from memory.text import query_terms, tokenize

MATCH_TOKENS = 24
"""How many tokens of a query choose candidates (specification, section 17)."""
MOST_REACHES = 512
"""Terms of one pool whose reach is kept."""
_ACTIVE = Status.ACTIVE


class Pool(Sequence[MemoryRecord]):
    """Active records of one scope, in the order of their sequence numbers either way.

    What is asked of it a second time is indexed: a pool that is ranked once costs no index.
    """

    def __init__(self, records: Iterable[MemoryRecord]) -> None:
        self._records = [record for record in records if record.status is _ACTIVE]
        self._terms: dict[str, list[int]] | None = None
        self._words: dict[str, list[int]] | None = None
        self._asked: set[str] = set()
        self.kept: dict[str, Reach] = {}
        """The reach of terms that were asked, ``MOST_REACHES`` at most."""

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> MemoryRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[MemoryRecord]: ...
    def __getitem__(self, place: int | slice) -> MemoryRecord | Sequence[MemoryRecord]:
        return self._records[place]

    def count_use(self, record: MemoryRecord) -> None:
        """Put ``record`` in the place of what it was before a use, which changes none of its words."""
        self._records[self._places[record.id]] = record

    def find(self, record_id: str) -> MemoryRecord | None:
        place = self._places.get(record_id)
        return None if place is None else self._records[place]

    def standing(self, limit: int) -> list[MemoryRecord]:
        """At most ``limit`` standing records, the last first."""
        return [self._records[place] for place in self._standing[: max(0, limit)]]

    @cached_property
    def layout(self) -> Layout:
        return Layout(self._records)

    @cached_property
    def authors(self) -> frozenset[str | None]:
        return frozenset(record.author for record in self._records)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {record.id: place for place, record in enumerate(self._records)}

    @cached_property
    def _standing(self) -> list[int]:
        return [place for place, record in enumerate(self._records) if record.is_standing][::-1]

    def having_terms(self, terms: Iterable[str]) -> dict[str, Sequence[int]]:
        """The layout's slots of the records that have it, by term, in the order of ``terms``."""
        numbered = zip(self.layout.slots, (record.terms for record in self._records), strict=True)
        if self._terms is None and self._is_asked_again("terms"):
            self._terms = _indexed(numbered)
        return _having(terms, self._terms, numbered)

    def reaches(self, terms: Iterable[str]) -> list[Reach]:
        """Where each of ``terms`` counts, in their order; known again when it is asked again."""
        wanted = dict.fromkeys(terms)
        known = self.kept
        found = {term: known[term] for term in wanted if term in known}
        new = self.having_terms(term for term in wanted if term not in found)
        found.update((term, reach_of(slots, self.layout)) for term, slots in new.items())
        if len(known) + len(new) > MOST_REACHES:
            known.clear()
        # What nobody has is no part of the pool, and there is no end of it.
        kept = islice((term for term, slots in new.items() if slots), MOST_REACHES)
        known.update((term, found[term]) for term in kept)
        return [found[term] for term in wanted]

    def having_words(self, words: Iterable[str]) -> dict[str, Sequence[int]]:
        """The places of the records that have it, by token of the reference ranker, in the order of ``words``."""
        numbered = enumerate(map(words_of, self._records))
        if self._words is None and self._is_asked_again("words"):
            self._words = _indexed(numbered)
        return _having(words, self._words, numbered)

    def chosen_by(self, text: str) -> frozenset[str] | None:
        """The ids of the candidates for a query of many words; ``None`` when everything that matches is one."""
        words = dict.fromkeys(tokenize(text))
        if len(words) <= MATCH_TOKENS and text.isascii():
            return None
        terms = query_terms(text)
        if len(words) <= MATCH_TOKENS and len(terms) <= MATCH_TOKENS:
            return None
        places = {place for having in self.having_words(longest(words)).values() for place in having}
        slots = {slot for having in self.having_terms(longest(terms)).values() for slot in having}
        return frozenset(self._records[place].id for place in places.union(map(self.layout.places.__getitem__, slots)))

    def _is_asked_again(self, about: str) -> bool:
        is_again = about in self._asked
        self._asked.add(about)
        return is_again


def pool_of(records: Sequence[MemoryRecord]) -> Pool:
    """``records`` as they can be ranked: themselves, when they are a pool already."""
    return records if isinstance(records, Pool) else Pool(records)


def words_of(record: MemoryRecord) -> frozenset[str]:
    """The reference ranker's tokens of a record (specification, section 5)."""
    return frozenset([*tokenize(" ".join(record.keywords)), *tokenize(record.text)])


def longest(tokens: Iterable[str]) -> list[str]:
    """The tokens that choose candidates: the longest distinct ones, of equally long ones the earlier (section 17)."""
    return sorted(dict.fromkeys(tokens), key=lambda token: -len(token))[:MATCH_TOKENS]


def _indexed(numbered: Iterable[tuple[int, frozenset[str]]]) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, words in numbered:
        for word in words:
            index.setdefault(word, []).append(number)
    return index


def _having(
    asked: Iterable[str], index: Mapping[str, Sequence[int]] | None, numbered: Iterable[tuple[int, frozenset[str]]]
) -> dict[str, Sequence[int]]:
    if index is not None:
        return {word: index.get(word, ()) for word in asked}
    found: dict[str, list[int]] = {word: [] for word in asked}
    wanted = frozenset(found)
    for number, words in numbered:
        for word in wanted & words:
            found[word].append(number)
    return dict(found)
