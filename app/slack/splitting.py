"""Where a long text may be cut into messages without tearing words or code."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)$")


@dataclass(frozen=True, slots=True)
class Fence:
    """A code fence that is open at the end of a text (CommonMark 4.5)."""

    opening: str
    """The line that opened it, with its info string."""
    closing: str


def open_fence(text: str) -> Fence | None:
    """The code fence ``text`` ends inside of."""
    fence: Fence | None = None
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        mark, info = found["mark"], found["info"]
        if fence is None:
            # An info string of a backtick fence holds no backtick; otherwise it is inline code.
            if mark[0] == "~" or "`" not in info:
                fence = Fence(line.strip(), mark)
        elif mark.startswith(fence.closing) and not info.strip():
            fence = None
    return fence


def cut(text: str, room: int) -> str:
    """The longest start of ``text`` that fits into ``room`` characters, ending where a reader would pause.

    A paragraph's end is best, then a line's, then a word's, as long as that leaves at least half of the room
    used; the separator goes with the first part.
    """
    if len(text) <= room:
        return text
    if room <= 0:
        return ""
    for separator in ("\n\n", "\n", " "):
        at = text.rfind(separator, room // 2, room)
        if at >= 0:
            return text[: at + len(separator)] if at + len(separator) <= room else text[:at]
    return text[:room]
