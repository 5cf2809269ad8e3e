"""Values that a name gives away: ``password=…``, ``"api_key": "…"``, ``Token: …``, ``--secret …``, ``<password>…``."""

import re
from collections.abc import Iterator

from memory.secret_marks import Found
from memory.secret_naming import Naming, named_by
from memory.secret_values import is_said_about_one, looks_random, value_at

_NAMED = re.compile(
    r"(?P<name>[aAcCkKpPsStT](?=[aceopruwACEOPRUW])(?:(?<=[kK])(?i:ey|ennwort)|(?<=[tT])(?i:oken)|(?<=[sS])(?i:ecret|ession)"
    r"|(?<=[pP])(?i:ass(?:word|wort|wd|phrase|code)?|wd?|at)|(?<=[aA])(?i:uth|pi-?key|ccess-?key)"
    r"|(?<=[cC])(?i:redential|ookie))[A-Za-z0-9_.$-]{0,64}+)"
    r"(?:\\{0,7}[\"'`]\]?|[*~]{1,3}|[\])])?[ \t]{0,8}"
    r"(?P<joint>(?::[ \t]{0,4}(?:Optional\[)?(?:[sS]tr(?:ing)?|bytes|SecretStr)\]?"
    r"(?:[ \t]\|[ \t]None)?[ \t]{0,4})?={1,3}>?"
    r"|:=|:(?![:/])|%3[dD]|(?:>|&gt;)(?=[^\s<>&]{1,256}+(?:</|&lt;/))|(?<=[ \t])(?:is|was|ist|lautet):?(?=[ \t]))"
    r"[*_~]{0,3}(?:[ \t]{0,8}[|>][+-]?[ \t]{0,4}\r?\n)?(?:\s{0,16}(?=[\"'])|[ \t]{0,16})"
)
"""A word that names secrets, the rest of its name, and what joins name and value in some language.

The second letter is looked at before the words are tried: few of what begins with the first has it.
"""
_FLAG = re.compile(r"--(?P<name>[A-Za-z][A-Za-z0-9_-]{2,40}+)(?P<joint>[ \t]{1,4})(?=[^\s-])")
_BEFORE = re.compile(r"[A-Za-z0-9_.$-]*+")
_WORD_BEFORE = re.compile(r"[ \t]([A-Za-z]{1,16}+)")
_SIGNS = ":=%>&"
"""What joins without doubt; after a space, or a word such as "is", a value has to look like a secret by itself."""
_QUOTES = frozenset("\"'`")
_LONGEST_NAME = 64
_JUDGED_CHARS = 64


def named_values(text: str) -> Iterator[Found]:
    yield from _values(_NAMED, text)
    if "--" in text:
        yield from _values(_FLAG, text)


def _values(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    at = 0
    while found := pattern.search(text, at):
        at = found.end()
        start, word_before = _beginning(found)
        naming = named_by(text[start : found.end("name")], word_before)
        if naming and not _ends_quote(found, start) and _is_secret(text, at, naming, found["joint"]):
            value = value_at(text, at, len(text))
            at = value.end if value else at
            yield Found(value.start if value else at, at, naming.kind)


def _beginning(found: re.Match[str]) -> tuple[int, str]:
    """Where the whole name begins, of which the pattern found an end; and the word before it."""
    before = found.string[max(0, found.start() - _LONGEST_NAME) : found.start()][::-1]
    own = _BEFORE.match(before)
    length = own.end() if own else 0
    word = _WORD_BEFORE.match(before, length)
    return found.start() - length, word[1][::-1] if word else ""


def _ends_quote(found: re.Match[str], start: int) -> bool:
    """Whether what looks like an opening quote closes the one that the name stands in, as in ``"token="``."""
    text, end = found.string, found.end()
    quote = text[start - 1 : start]
    return quote in _QUOTES and text[end : end + 1] == quote and quote not in text[found.end("name") : end]


def _is_secret(text: str, at: int, naming: Naming, joint: str) -> bool:
    """Judged by the first characters, so that a text which is all names is not read again for each of them."""
    value = value_at(text, at, at + _JUDGED_CHARS)
    if value is None or is_said_about_one(text, value, naming.kind):
        return False
    is_plain = value.is_quoted or joint[0] in _SIGNS
    return (naming.is_sure and is_plain) or looks_random(text[value.start : value.end])
