"""What people wrote, on its way into an answer: one visible line, in a code span where it stands beside our words."""

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""What could steer a terminal or break a line; line feeds and tabs are not among them."""


def visible(text: str) -> str:
    """``text`` without control characters; its lines stay."""
    return _CONTROL.sub(" ", text)


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def quotable(text: str) -> str:
    """``text`` as it can stand in a code span: one visible line without backticks."""
    return one_line(text.replace("`", "'"))


def cut(text: str, chars: int) -> str:
    """At most ``chars`` characters, with an ellipsis as the last one where something is left out."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"
