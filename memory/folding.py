"""One spelling for what readers take as the same letters: width, accents, digits, apostrophes."""

import re
import unicodedata

_ACCENTED = re.compile(r"([A-Za-z\u00c0-\u024f\u0370-\u03ff])[\u0300-\u036f]+")
_STRESSED = re.compile(r"([\u0400-\u04ff])[\u0300\u0301]+")
"""In Cyrillic other marks make letters of their own, which the stemmer needs (й)."""
_POINTED = re.compile("[\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u00ad\u200b-\u200f\ufeff]+")
"""Hebrew and Arabic vowel points, the stretching tatweel, and characters nobody sees."""
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_OTHER_LETTERS = str.maketrans("øØłŁđĐðÐ\u0131\u0451\u0401", "oOlLdDdDi\u0435\u0415")
"""Letters that have no decomposition, or whose mark is left out in writing: among them the dotless i and yo."""
_LIGATURES = str.maketrans({"æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"})
_PUNCTUATION = str.maketrans("\u2019\u2018\u02bc\u2010\u2011\u2212", "'''---")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "Å": "Aa"})
_WRITTEN_OUT = re.compile(r"([aou])e|(?<=a)a")


def folded(text: str) -> str:
    """``text`` with compatibility forms and accents folded away; case stays, for names in camelCase tell by it."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_OTHER_LETTERS).translate(_LIGATURES)
        text = _POINTED.sub("", unicodedata.normalize("NFKD", text.translate(_PUNCTUATION)))
        text = unicodedata.normalize("NFC", _STRESSED.sub(r"\1", _ACCENTED.sub(r"\1", text)))
        text = _FOREIGN_DIGIT.sub(_ascii_digit, text)
    return _THOUSANDS.sub("", text.replace("`", "'"))


def _ascii_digit(found: re.Match[str]) -> str:
    return str(unicodedata.digit(found[0]))


def umlauts_written_out(text: str) -> str:
    """The words of ``text`` that have umlauts, the way people type them without: Müller, Mueller."""
    if text.isascii():
        return ""
    words = unicodedata.normalize("NFC", text).split()
    return " ".join(spelt for word in words if (spelt := word.translate(_UMLAUTS)) != word)


def umlauts_drawn_in(word: str) -> str:
    """A folded word whose ae, oe and ue may stand for umlauts, as if they did: mueller, muller."""
    return _WRITTEN_OUT.sub(r"\1", word)
