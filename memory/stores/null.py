"""The store of a bot that remembers nothing."""

from collections.abc import Sequence

from memory.record import Kind, MemoryCandidate, MemoryRecord, WriteCounts
from memory.store import EraseReceipt, Query, Retrieved

_NOTHING = Retrieved()


class NullStore:
    """Empty for every scope, so that a turn runs the same steps with memory off as with it on.

    It holds nothing to release either, so it answers after ``aclose`` as before.
    """

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:  # noqa: ARG002 - the port's
        return _NOTHING

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:  # noqa: ARG002 - the port's
        return _NOTHING

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:  # noqa: ARG002 - the port's
        return ()

    async def write(
        self,
        scope_key: str,  # noqa: ARG002 - the port's
        candidates: Sequence[MemoryCandidate],  # noqa: ARG002 - the port's
        *,
        idempotency_key: str | None = None,  # noqa: ARG002 - the port's
        cap: int | None = None,  # noqa: ARG002 - the port's
    ) -> WriteCounts:
        return WriteCounts()

    async def list(
        self,
        scope_key: str,  # noqa: ARG002 - the port's
        limit: int,  # noqa: ARG002 - the port's
        *,
        query: str = "",  # noqa: ARG002 - the port's
        kind: Kind | None = None,  # noqa: ARG002 - the port's
        before: int | None = None,  # noqa: ARG002 - the port's
    ) -> Sequence[MemoryRecord]:
        return ()

    async def forget(self, scope_key: str, record_id: str) -> bool:  # noqa: ARG002 - the port's
        return False

    async def sweep(self, scope_key: str, *, dry_run: bool = False) -> Sequence[str]:  # noqa: ARG002 - the port's
        return ()

    async def erase(self, scope_key: str, record_id: str | None = None) -> EraseReceipt:  # noqa: ARG002 - the port's
        return EraseReceipt()

    async def erase_thread(self, thread_key: str) -> EraseReceipt:  # noqa: ARG002 - the port's
        return EraseReceipt()

    async def aclose(self) -> None:
        """Nothing is open."""
