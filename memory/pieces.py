"""A text cut into what can be looked for: words, names of code whole and in parts, numbers, pairs of letters."""

import re
from collections.abc import Iterator

_WORD = r"\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff"
_CHUNK = re.compile(rf"#?[{_WORD}]+(?:(?:://|::|->|[-./:@'\\+&=#~])[{_WORD}]+)*(?:\+\+|#)?")
"""Words with what may join them inside an identifier, an address, a path or a version."""
_UNSPACED = re.compile(
    "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[\u3041-\u309f]+"
    "|[\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff]+|[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+|[\u0e01-\u0e4e]+"
    "|[\u0e81-\u0ecd\u0edc-\u0edf]+|[\u1000-\u103f\u1050-\u109f]+|[\u1780-\u17d3]+"
)
"""Runs of one script without spaces between words: Han, kana, Hangul, Thai, Lao, Myanmar, Khmer."""
_SIGNED = re.compile(r"[^\W\d_]{1,2}(?:\+\+|#)")
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")
_NOT = re.compile(r"n't$")
_CLITIC = re.compile(r"'(?:s|ll|re|ve|d|m)$")
_JOINT = re.compile(r"(?<!\d)[-_./:@'\\+&=#~>]+|[-_./:@'\\+&=#~>]+(?!\d)")
_SEGMENT = re.compile(r"::|->|[/:@\\&=]+|(?=#)")
_ATOM = re.compile(r"[-_'+~#>]+")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)")
_NUMBERS = 4
"""The longest beginning of a version that is looked for by itself; longer ones are found as a whole."""
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_IS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]{3}\d|\d[A-Za-z]{3}")


def pieces(text: str, *, with_single: bool) -> Iterator[str]:
    """Lower-case pieces of a folded text, repeats included.

    ``with_single``: also each letter of a script without spaces, which a record needs for questions of one letter.
    """
    if not text.isascii():
        for run in _UNSPACED.findall(text):
            yield from _pairs(run, with_single=with_single)
        text = _UNSPACED.sub(" ", text)
    for chunk in _CHUNK.findall(text):
        if chunk.isalpha() and not _IS_CAMEL.search(chunk):
            yield chunk.casefold()
        else:
            yield from _identifier(chunk)


def _pairs(run: str, *, with_single: bool) -> Iterator[str]:
    if with_single or len(run) == 1:
        yield from run
    for place in range(len(run) - 1):
        yield run[place : place + 2]


def _identifier(chunk: str) -> Iterator[str]:
    chunk = chunk.strip("_")
    if _NOT.search(chunk.casefold()):
        yield "not"
        chunk = {"ca": "can", "wo": "will"}.get(chunk[:-3].casefold(), chunk[:-3])
    chunk = _PLURAL.sub("", _CLITIC.sub("", chunk))
    if _SIGNED.fullmatch(chunk):
        yield chunk.casefold()
        return
    yield from _whole(chunk)
    for segment in _SEGMENT.split(chunk):
        yield from _whole(segment)
        if segment.startswith("#") and segment[1:].isdigit():
            yield segment
        for atom in _ATOM.split(segment):
            yield from _atom(atom)


def _whole(name: str) -> Iterator[str]:
    """A name however its words are joined: max_tokens, maxTokens and max-tokens are one. Digits stay apart."""
    joined = _JOINT.sub("", name)
    if joined:
        yield joined.casefold()


def _atom(atom: str) -> Iterator[str]:
    version = _VERSION.fullmatch(atom.casefold())
    if version:
        numbers = version[1].split(".")
        yield from (".".join(numbers[:length]) for length in range(1, min(len(numbers), _NUMBERS) + 1))
        return
    for word in atom.split("."):
        yield from filter(None, [word.casefold()])
        if word.isascii() and _IS_CAMEL.search(word):
            yield from (part.casefold() for part in _CAMEL.findall(word) if len(part) > 1 or part.isdigit())
