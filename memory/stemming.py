"""One form for a word, its inflections and its short forms."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from snowballstemmer.arabic_stemmer import ArabicStemmer
from snowballstemmer.armenian_stemmer import ArmenianStemmer
from snowballstemmer.english_stemmer import EnglishStemmer
from snowballstemmer.greek_stemmer import GreekStemmer
from snowballstemmer.hindi_stemmer import HindiStemmer
from snowballstemmer.russian_stemmer import RussianStemmer
from snowballstemmer.tamil_stemmer import TamilStemmer

from memory.wordforms import BASE_FORMS

LONGEST_WORD = 40
"""What is longer is no word and stays as it is."""
CACHED_WORDS = 20_000


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - Snowball's name


_STEMMERS: tuple[tuple[str, str, Callable[[], _Stemmer]], ...] = (
    ("\u0000", "\u024f", EnglishStemmer),
    ("\u0370", "\u03ff", GreekStemmer),
    ("\u0400", "\u04ff", RussianStemmer),
    ("\u0530", "\u058f", ArmenianStemmer),
    ("\u0600", "\u06ff", ArabicStemmer),
    ("\u0900", "\u097f", HindiStemmer),
    ("\u0b80", "\u0bff", TamilStemmer),
)
"""By script, for a short text does not tell its language."""
_HEBREW = "\u05d0", "\u05ea"
_HEBREW_BEFORE = re.compile(r"^[והשכבלמ]+(?=.{3})")
"""Article, prepositions and conjunctions, which Hebrew writes as part of the word."""
_HEBREW_PLURAL = re.compile(r"(?<=.{3})(?:ים|ות)$")
_HEBREW_FINALS = str.maketrans("ךםןףץ", "כמנפצ")
_BRITISH_IZE = re.compile(r"(?<=[a-z]{3})is(?=(?:e|ed|es|er|ers|ing|ation|ations)$)")
_NOUN_OF_IFY = re.compile(r"(?<=[a-z])ifications?$")
_BRITISH_OR = re.compile(r"(?<=[a-z]{3})our(?=(?:s|ed|ing|ite|ites|able|ful)?$)")


@lru_cache(CACHED_WORDS)
def stem(word: str) -> str:
    """The stem of a folded lower-case word, by the rules of its script's commonest language."""
    if len(word) > LONGEST_WORD:
        return word
    if word.isascii():
        word = _american(_NOUN_OF_IFY.sub("ify", BASE_FORMS.get(word, word)))
    elif _HEBREW[0] <= word[0] <= _HEBREW[1]:
        return _HEBREW_BEFORE.sub("", _HEBREW_PLURAL.sub("", word)).translate(_HEBREW_FINALS)
    # A stemmer has state while it works: a new one for each word is cheap, and threads cannot meet in it.
    return next((make().stemWord(word) for first, last, make in _STEMMERS if first <= word[0] <= last), word)


def _american(word: str) -> str:
    return _BRITISH_OR.sub("or", _BRITISH_IZE.sub("iz", word))
