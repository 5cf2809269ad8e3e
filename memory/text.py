"""Words of a text: the reference ranker's tokens, and the relevance ranker's terms."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from memory.datewords import dates_named, day_terms
from memory.folding import folded, umlauts_drawn_in, umlauts_written_out
from memory.pieces import pieces
from memory.stemming import CACHED_WORDS, LONGEST_WORD, stem
from memory.stopwords import STOP_WORDS

TERMS_VERSION = 2
"""Grows whenever ``record_terms`` answers differently: terms kept from an earlier version are computed again."""

_TOKEN = re.compile(r"[a-z0-9]+")
_INITIALS = re.compile(r"\b[A-Z]{2,}\b")
"""IT, US, WHO: no stop words unless everything is in capitals."""
_LONG_WORD = 10
_SHORTEST_PART = 5


def tokenize(text: str) -> list[str]:
    """Runs of ASCII letters and digits of the lower-cased text, in order, with repeats (specification, section 5)."""
    return _TOKEN.findall(text.lower())


def storable(text: str) -> str:
    """``text`` as every store can hold it: lone surrogates become U+FFFD and NUL a space."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", " ")


def record_terms(text: str, keywords: Sequence[str], author: str | None, said_at: datetime) -> frozenset[str]:
    """What a record can be found by: its words, who said it, and when."""
    said = "\n".join([text, *keywords, author or ""])
    plain = folded(said)
    words = {*pieces(plain, with_single=True), *day_terms(said_at.date())}
    words.update(pieces(folded(umlauts_written_out(said)), with_single=False))
    return frozenset(dates_named(plain).union(*map(_forms, words)))


def query_terms(text: str) -> list[str]:
    """What is looked for, each term once, in order. Stop words are among them only when nothing else is."""
    plain = folded(text)
    words = list(pieces(plain, with_single=False))
    initials = set[str]() if plain.isupper() else {word.casefold() for word in _INITIALS.findall(plain)}
    telling = [word for word in words if word not in STOP_WORDS or word in initials]
    return list(dict.fromkeys([*map(stem, telling or words), *sorted(dates_named(plain))]))


@lru_cache(CACHED_WORDS)
def name_terms(name: str) -> frozenset[str]:
    """The terms of an author's name."""
    return frozenset(map(stem, pieces(folded(name), with_single=False)))


@lru_cache(CACHED_WORDS)
def _forms(word: str) -> tuple[str, ...]:
    """The stems under which a record that has ``word`` is found."""
    spellings = {word, umlauts_drawn_in(word)}
    if _LONG_WORD <= len(word) <= LONGEST_WORD and word.isalpha() and word.isascii():
        spellings.update(_ends(word))
    return tuple(map(stem, spellings))


def _ends(word: str) -> Iterator[str]:
    """Beginnings and ends of a long word: the parts of a compound, and a stem that its language inflects."""
    for size in range(_SHORTEST_PART, len(word) - 1):
        yield word[:size]
    for size in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        yield word[-size:]


def forget_words() -> None:
    """Empty the caches of single words; what is erased must not live on in them."""
    for known in (stem, name_terms, _forms):
        known.cache_clear()
