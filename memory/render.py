"""Records as a model is shown them: evidence inside a fence, one escaped line each."""

import re
from collections.abc import Sequence

from memory.record import MemoryRecord

FENCE_OPEN = "<background_memory>"
FENCE_CLOSE = "</background_memory>"

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def sanitize(field: str) -> str:
    """One line that cannot leave the fence.

    Control characters and line separators become spaces, white space is collapsed, and ``& < >`` are escaped in this
    order, so that an escape in the record stays distinguishable.
    """
    line = " ".join(_BREAKS.sub(" ", field).split())
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def bullet(record: MemoryRecord) -> str:
    return f"- {sanitize(record.text)} (source: {sanitize(record.source_thread_key)})"


def block(scope_keys: Sequence[str], records: Sequence[MemoryRecord]) -> str | None:
    """The memory block (specification, section 7); ``None`` when there is nothing to show.

    The first line names every scope that was read, whether it had something or not.
    """
    if not records:
        return None
    resource = " + ".join(sanitize(key) for key in scope_keys)
    head = f"Background memory for {resource} (may be outdated — verify before acting):"
    return "\n".join([head, FENCE_OPEN, *(bullet(record) for record in records), FENCE_CLOSE])
