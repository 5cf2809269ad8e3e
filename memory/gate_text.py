"""How the gate reads a text: one spelling, then sentences and clauses."""

import re
from dataclasses import dataclass
from functools import cache

from memory.folding import folded

_MIXED_WORD = re.compile(r"\b(?=\w*[a-z])(?=\w*[\u0430-\u045f])\w+\b")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u043a\u043c\u0442\u0432\u043d", "aeopcyxisjkmtbh"
)
"""Cyrillic letters that look like Latin ones; only a word of both alphabets is taken for a disguise."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - full-width on purpose
_CLAUSE_END = re.compile(r"[.;!?,](?=\s|$)|\s-{1,2}\s|\s[\u2013\u2014]\s|[()\n]")


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text may say in many ways; compiled when it is first looked for, since most processes judge no text."""

    pattern: str

    def search(self, text: str) -> re.Match[str] | None:
        """In a text that ``plain`` made."""
        return _compiled(self.pattern).search(text)


_compiled = cache(re.compile)


def any_of(*patterns: str) -> Wording:
    """One wording for several patterns."""
    return Wording("|".join(f"(?:{each})" for each in patterns))


def plain(text: str) -> str:
    """``text`` without accents, invisible characters and capitals; of white space only line breaks stay."""
    lines = (" ".join(line.split()) for line in folded(text).casefold().splitlines())
    return _MIXED_WORD.sub(lambda word: word[0].translate(_LOOKALIKES), "\n".join(filter(None, lines)))


def sentences(text: str) -> list[str]:
    return [part for each in _SENTENCE_END.split(text) if (part := each.strip())]


def clauses(text: str) -> list[str]:
    """Parts between punctuation marks; a point or comma inside a number, name or address ends none."""
    return _CLAUSE_END.split(text)
