"""What was found in a text, the marks that take its place, and values that only stand for a secret."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "private-key",
    "web-token",
    "card-number",
    "slack-token",
    "slack-webhook",
    "github-token",
    "gitlab-token",
    "anthropic-key",
    "openai-key",
    "aws-key",
    "google-key",
    "azure-key",
    "stripe-key",
    "npm-token",
    "pypi-token",
    "api-key",
    "authorization",
    "cookie",
    "password",
    "token",
    "key",
    "session",
    "secret",
]

MARK = rf"«(?:{'|'.join(get_args(Kind))})»"
"""A pattern: what an earlier redaction left."""

_STANDS_FOR_ONE = re.compile(
    rf"(?:{MARK}"
    r"|\$\{\{[^{}\n]{0,80}\}\}|\{\{[^{}\n]{0,80}\}\}|\$?\{[A-Za-z_][\w.]{0,60}(?:\(\))?\}|\$\([^()\n]{0,80}\)|%\([\w.]{1,40}\)s"
    r"|\$[A-Z_][A-Z0-9_]*+|\$(?:env|Env|ENV):\w{1,60}|%[A-Z_]{2,40}%"
    r"|<[A-Za-z][\w .-]{0,60}>|&lt;[A-Za-z][\w .-]{0,60}&gt;|\[[A-Za-z][\w .-]{0,60}\]"
    r"|[*•]{3,}+|\.{3,}+|…++|[xX]{4,}+"
    r")[.…]{0,3}+(?![^\s\"'`<>|,;:&()\[\]{}/@?\\])"
)
"""A mark, a variable, a slot to fill in, a value that is masked already. Nothing of a longer value counts as one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret at ``text[start:end]``."""

    start: int
    end: int
    kind: Kind


def stands_for_one(text: str, at: int) -> bool:
    """Whether the value at ``at`` is no secret but the place of one."""
    return _STANDS_FOR_ONE.match(text, at) is not None


def replaced(text: str, found: Iterable[Found]) -> tuple[str, list[Kind]]:
    """``text`` with a mark for each secret; those that overlap become one, named after the one that begins first."""
    pieces, kinds, end = list[str](), list[Kind](), 0
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        if each.start >= end:
            pieces += [text[end : each.start], f"«{each.kind}»"]
            kinds.append(each.kind)
        end = max(end, each.end)
    return ("".join([*pieces, text[end:]]) if kinds else text), kinds


def begins_here(text: str, at: int) -> bool:
    r"""Whether a word can begin at ``at``: not in the middle of one, but after an escape such as ``\n`` or ``%3D``."""
    if at == 0 or not (text[at - 1].isascii() and (text[at - 1].isalnum() or text[at - 1] == "_")):
        return True
    return _ESCAPE.search(text, max(0, at - 6), at) is not None


_ESCAPE = re.compile(r"(?:\\[nrtbf]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})\Z")
