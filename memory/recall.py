"""The read path: every scope of a request at once, then one block."""

import asyncio
from collections.abc import Sequence

from memory.render import block
from memory.store import MemoryStore


async def recall(store: MemoryStore, scope_keys: Sequence[str], query: str, limit: int) -> str | None:
    """What ``store`` knows about ``query`` in these scopes, as a block for the system prompt."""
    found = await asyncio.gather(*(store.retrieve(key, query, limit) for key in scope_keys))
    return block(scope_keys, [record for records in found for record in records][:limit])
