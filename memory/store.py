"""The memory store port. Its docstrings are the contract every adapter keeps."""

from collections.abc import Sequence
from typing import Protocol

from memory.record import MemoryRecord


class MemoryStore(Protocol):
    """Records by scope key. Adapters: null."""

    async def retrieve(self, scope_key: str, query: str, limit: int) -> Sequence[MemoryRecord]:
        """At most ``limit`` records of exactly this scope that match ``query``, best first.

        Any text is a legal query. Never raises: a store that cannot look answers with nothing and logs once.
        """
        ...
