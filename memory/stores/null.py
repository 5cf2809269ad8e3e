"""The store of a bot that remembers nothing."""

from collections.abc import Sequence

from memory.record import MemoryRecord


class NullStore:
    """Empty for every scope, so that a turn runs the same steps with memory off as with it on."""

    async def retrieve(self, scope_key: str, query: str, limit: int) -> Sequence[MemoryRecord]:  # noqa: ARG002 - the port's
        return ()
