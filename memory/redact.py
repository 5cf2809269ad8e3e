"""Secrets out of any text: credentials, private keys and card numbers give way to a word that says what stood there.

Personal data stays: names, addresses, phone numbers. So do pictures in base64, digests, identifiers and versions:
a long run of characters is a secret only by its beginning, by its place or by its name.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from memory.secret_asides import asides
from memory.secret_cards import card_numbers
from memory.secret_headers import secret_headers
from memory.secret_keys import private_keys
from memory.secret_marks import MARK, Found, replaced
from memory.secret_names import named_values
from memory.secret_places import secret_places
from memory.secret_sentences import told_values
from memory.secret_shapes import web_tokens, well_known_shapes

LONGEST_GROWTH = 8
"""No text becomes longer than this many times its length: a mark can be longer than a short password."""

_TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b\x9c]*+(?:\x07|\x9c|\x1b\\)?|[ -/]*+[0-~])?"
    r"|\x9b[0-?]*+[ -/]*+[@-~]?"
)
"""Colours and other orders to a terminal, which could stand in the middle of a secret. No escape is left over."""
_MARK = re.compile(MARK)
_NEAR_CHARS = 240
_MOST_ROUNDS = 8
"""A second round rarely finds anything; only a text that is made for it could need more of them than this."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """``counts`` names each kind of secret that was found, and how often, for a log line without words."""

    text: str
    counts: Mapping[str, int]


def redact(text: str) -> str:
    """``text`` without its secrets, and without terminal sequences.

    Redacting twice changes nothing more. The work grows with the length of the text, whatever stands in it. Redact
    before cutting: half a secret is often not recognised.
    """
    return redacted(text).text


def redacted(text: str) -> Redacted:
    """``redact``, with what was found. A mark can uncover a secret beside it, so it is looked at again."""
    counts, text = Counter[str](), _TERMINAL.sub("", text)
    for _ in range(_MOST_ROUNDS):
        kinds = list[str]()
        for find in _PASSES:
            text, found = replaced(text, find(text))
            kinds += found
        counts.update(kinds)
        if not kinds or _is_settled(text):
            break
    return Redacted(text, dict(counts))


def _is_settled(text: str) -> bool:
    """Whether nothing more is found near the marks; elsewhere the text is as it was."""
    near = "\n".join(_near_marks(text))
    return not any(True for find in _PASSES for _ in find(near))


def _near_marks(text: str) -> Iterator[str]:
    begin = end = 0
    for mark in _MARK.finditer(text):
        if mark.start() - _NEAR_CHARS > end:
            yield text[begin:end]
            begin = mark.start() - _NEAR_CHARS
        end = mark.end() + _NEAR_CHARS
    yield text[begin:end]


def _by_themselves(text: str) -> Iterator[Found]:
    """What is a secret wherever it stands."""
    yield from web_tokens(text)
    yield from well_known_shapes(text)
    yield from card_numbers(text)


def _by_place(text: str) -> Iterator[Found]:
    yield from secret_places(text)
    yield from secret_headers(text)


def _by_name(text: str) -> Iterator[Found]:
    yield from named_values(text)
    yield from told_values(text)
    yield from asides(text)


_PASSES: tuple[Callable[[str], Iterator[Found]], ...] = (private_keys, _by_themselves, _by_place, _by_name)
"""From what is certain to what only its surroundings tell: a later pass sees the marks of the earlier ones."""
