"""The records a search ranks, and what ranking them again and again can keep: neighbours, and what a word comes to."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import overload

from memory.layout import Layout
from memory.reach import Reach, reach_of
from memory.record import MemoryRecord, Status
from memory.shelf import RecordShelf, Shelf, indexed, places_having
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

    def __init__(self, records: Iterable[MemoryRecord] = (), shelf: Shelf | None = None) -> None:
        """``shelf``: where the records are, in the stead of ``records``; what is counted is shown there."""
        active = (record for record in records if record.status is _ACTIVE)
        self.shelf: Shelf = RecordShelf(active) if shelf is None else shelf
        self._terms: Mapping[str, Sequence[int]] | None = None
        self._words: Mapping[str, Sequence[int]] | None = None
        self._asked: set[str] = set()
        self.kept: dict[str, Reach] = {}
        """The reach of terms that were asked, ``MOST_REACHES`` at most."""

    def __len__(self) -> int:
        return len(self.shelf)

    @overload
    def __getitem__(self, place: int) -> MemoryRecord: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[MemoryRecord]: ...
    def __getitem__(self, place: int | slice) -> MemoryRecord | Sequence[MemoryRecord]:
        if isinstance(place, slice):
            return [self.shelf[each] for each in range(*place.indices(len(self)))]
        return self.shelf[place]

    def count_use(self, record: MemoryRecord) -> None:
        """Show a record as it is with a later use, which changes none of its words; if it is there."""
        self.shelf.count_use(record)

    def standing(self, limit: int) -> list[MemoryRecord]:
        """At most ``limit`` standing records, the last first."""
        return [self.shelf[place] for place in self._standing[: max(0, limit)]]

    @cached_property
    def layout(self) -> Layout:
        return Layout(list(self.shelf.threads()))

    @cached_property
    def authors(self) -> frozenset[str | None]:
        return frozenset(self.shelf.authors())

    @cached_property
    def _standing(self) -> list[int]:
        return [place for place, is_standing in enumerate(self.shelf.standing()) if is_standing][::-1]

    def having_terms(self, terms: Iterable[str]) -> Mapping[str, Sequence[int]]:
        """The layout's slots of the records that have it, by term, in the order of ``terms``."""
        slots = self.layout.slots
        if self._terms is None and self._is_asked_again("terms"):
            self._terms = indexed(slots, self.shelf.terms())
        if self._terms is not None:
            return {term: self._terms.get(term, ()) for term in terms}
        having = self.shelf.having(terms)
        return {term: [slots[place] for place in places] for term, places in having.items()}

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

    def having_words(self, words: Iterable[str]) -> Mapping[str, Sequence[int]]:
        """The places of the records that have it, by token of the reference ranker, in the order of ``words``."""
        if self._words is None and self._is_asked_again("words"):
            self._words = indexed(range(len(self)), self.shelf.words())
        if self._words is not None:
            return {word: self._words.get(word, ()) for word in words}
        return places_having(words, self.shelf.words())

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
        return frozenset(self.shelf[place].id for place in places.union(map(self.layout.places.__getitem__, slots)))

    def _is_asked_again(self, about: str) -> bool:
        is_again = about in self._asked
        self._asked.add(about)
        return is_again


def pool_of(records: Sequence[MemoryRecord]) -> Pool:
    """``records`` as they can be ranked: themselves, when they are a pool already."""
    return records if isinstance(records, Pool) else Pool(records)


def longest(tokens: Iterable[str]) -> list[str]:
    """The tokens that choose candidates: the longest distinct ones, of equally long ones the earlier (section 17)."""
    return sorted(dict.fromkeys(tokens), key=lambda token: -len(token))[:MATCH_TOKENS]
