"""A remote store whose memory service runs in the same process, over SQLite files and without a socket."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import httpx2

from memory.rankers import RANKERS
from memory.record import MemoryRecord
from memory.service.asgi import MemoryService
from memory.store import RankerName
from memory.stores.remote import RemoteStore
from memory.stores.remote_calls import Service
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_handles import Bounds

_TOKEN = "a-token-nobody-guesses"


class ServedStore(RemoteStore):
    """Closes the service's store with itself. Vectors do not travel: those that tests have made are put behind it."""

    def __init__(self, directory: Path, *, ranker: RankerName, now: Callable[[], datetime], cap: int | None) -> None:
        limits = Bounds(timeout_s=2.0)
        self._behind = SqliteStore(directory, ranker=RANKERS[ranker], now=now, cap=cap, bounds=limits)
        served = httpx2.ASGITransport(MemoryService(self._behind, _TOKEN, build="0"))
        super().__init__(
            Service("http://memory.test/", _TOKEN, transport=served),
            ranker=ranker,
            now=now,
            cap=cap,
        )

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        return await self._behind.unembedded(scope_key, model, limit)

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        return await self._behind.keep_vectors(scope_key, model, vectors)

    async def aclose(self) -> None:
        await super().aclose()
        await self._behind.aclose()
