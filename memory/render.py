"""Records as a model is shown them: evidence inside a fence, one escaped line each."""

import re
from collections.abc import Sequence

from memory.record import MemoryRecord

FENCE_OPEN = "<background_memory>"
FENCE_CLOSE = "</background_memory>"

_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]+")


def sanitize(field: str) -> str:
    """One line that cannot leave the fence: control characters and breaks become spaces, ``& < >`` are escaped."""
    line = _BREAKS.sub(" ", field).strip()
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def bullet(record: MemoryRecord) -> str:
    return f"- {sanitize(record.text)} (source: {sanitize(record.source_thread_key)})"


def block(scope_keys: Sequence[str], records: Sequence[MemoryRecord]) -> str | None:
    """The memory block (specification, section 7); ``None`` when there is nothing to show."""
    if not records:
        return None
    resource = ", ".join(sanitize(key) for key in scope_keys)
    head = f"Background memory for {resource} (may be outdated — verify before acting):"
    return "\n".join([head, FENCE_OPEN, *(bullet(record) for record in records), FENCE_CLOSE])
