"""Vectors for records that have none yet: embedded in the background, a batch at a time, in nobody's way."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog

from memory.embedder import Embedder, EmbedderUnavailableError, TextsRefusedError, embedded_text
from memory.record import MemoryRecord
from memory.store import NoVectorsError, StoreDamagedError, StoreUnavailableError, VectorKeeper

EMBEDDING_FAILED = "embedding_failed"
EMBEDDING_RECOVERED = "embedding_recovered"
RECORDS_REFUSED = "records_refused"
VECTORS_UNKEPT = "vectors_unkept"

BATCH_RECORDS = 16
"""Small, because every endpoint takes it and a local model is done with it in a fraction of a second."""
BATCH_S = 60.0
FIRST_REST_S = 1.0
LONGEST_REST_S = 300.0
UNKEPT_REST_S = 60.0
"""Of a scope whose store was away."""
WAITING_SCOPES = 1_000
"""Beyond these a scope is passed over; its next use asks again."""
KNOWN_SCOPES = 10_000
REFUSED_RECORDS = 1_000

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]

_log = structlog.stdlib.get_logger(__name__)


class Backfill:
    """The one worker of a process. ``used`` and ``wrote`` return at once; ``run`` does the work until cancelled."""

    def __init__(
        self,
        keeper: VectorKeeper,
        embedder: Embedder,
        sleep: Sleep = asyncio.sleep,
        batch_s: float = BATCH_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keeper = keeper
        self._embedder = embedder
        self._sleep = sleep
        self._batch_s = batch_s
        self._waiting: OrderedDict[str, None] = OrderedDict()
        self._work = asyncio.Event()
        self._monotonic = monotonic
        self._rests_until: OrderedDict[str, float] = OrderedDict()
        """Of scopes whose store was away the last time."""
        self._complete: OrderedDict[str, None] = OrderedDict()
        self._refused: OrderedDict[str, str] = OrderedDict()
        self._failures = 0

    def __len__(self) -> int:
        """Scopes that wait for the worker."""
        return len(self._waiting)

    def used(self, scope_key: str) -> None:
        """Somebody reads the scope: the first time, its records are looked at, and later if the store was away."""
        if scope_key not in self._complete and self._monotonic() >= self._rests_until.get(scope_key, 0.0):
            self._enqueue(scope_key)

    def wrote(self, scope_key: str) -> None:
        """The scope has new records."""
        self._enqueue(scope_key)

    async def run(self) -> None:
        """Embed a batch of each waiting scope in turn, for ever. Rests, ever longer, while the embedder fails.

        Raises ``NoVectorsError`` as soon as the store does.
        """
        while True:
            await self._work.wait()
            scope_key, _ = self._waiting.popitem(last=False)
            if not self._waiting:
                self._work.clear()
            await self._attempt(scope_key)

    async def _attempt(self, scope_key: str) -> None:
        started = time.monotonic()
        try:
            is_complete = await self._fill(scope_key)
        except EmbedderUnavailableError as exc:
            self._enqueue(scope_key)
            await self._rest(exc)
        except NoVectorsError:
            raise
        except (StoreUnavailableError, ValueError) as exc:
            self._leave(scope_key, exc)
        else:
            self._rests_until.pop(scope_key, None)
            if is_complete:
                _remember(self._complete, scope_key, None, KNOWN_SCOPES)
            else:
                self._enqueue(scope_key)
            # Half of the time at most: a local model shares the processor with the answers.
            await self._sleep(time.monotonic() - started)

    def _leave(self, scope_key: str, fault: StoreUnavailableError | ValueError) -> None:
        """One warning until it works: a store that is away is asked again at a later use, any other at a write."""
        is_lasting = isinstance(fault, ValueError | StoreDamagedError)
        if is_lasting or scope_key not in self._rests_until:
            _log.warning(VECTORS_UNKEPT, scope_key=scope_key, model=self._embedder.model, error=str(fault))
        if is_lasting:
            _remember(self._complete, scope_key, None, KNOWN_SCOPES)
        else:
            _remember(self._rests_until, scope_key, self._monotonic() + UNKEPT_REST_S, KNOWN_SCOPES)

    async def _fill(self, scope_key: str) -> bool:
        """Embed one batch; whether the scope needs no more."""
        model = self._embedder.model
        refused = {record_id for record_id, key in self._refused.items() if key == scope_key}
        limit = BATCH_RECORDS + len(refused)
        lacking = await self._keeper.unembedded(scope_key, model, limit)
        batch = [record for record in lacking if record.id not in refused][:BATCH_RECORDS]
        if not batch:
            return True
        vectors = await self._embedded(batch)
        self._recover()
        kept = await self._keeper.keep_vectors(scope_key, model, vectors) if vectors else 0
        return len(lacking) < limit or (bool(vectors) and not kept)

    async def _embedded(self, records: Sequence[MemoryRecord]) -> dict[str, tuple[float, ...]]:
        """Vectors by record id. When a batch is refused, each record is asked for by itself."""
        try:
            vectors = await self._embed([embedded_text(record) for record in records])
        except TextsRefusedError as exc:
            if len(records) == 1:
                self._refuse(records)
                return {}
            return await self._one_by_one(records, exc)
        return {record.id: vector for record, vector in zip(records, vectors, strict=True)}

    async def _one_by_one(
        self, records: Sequence[MemoryRecord], refusal: TextsRefusedError
    ) -> dict[str, tuple[float, ...]]:
        found: dict[str, tuple[float, ...]] = {}
        for record in records:
            try:
                (found[record.id],) = await self._embed([embedded_text(record)])
            except TextsRefusedError:
                continue
        if not found:
            raise EmbedderUnavailableError(f"every text is refused: {refusal}", refusal.retry_after_s) from refusal
        self._refuse([record for record in records if record.id not in found])
        return found

    async def _embed(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        try:
            async with asyncio.timeout(self._batch_s):
                return await self._embedder.embed(texts)
        except TimeoutError as exc:
            raise EmbedderUnavailableError(f"no vectors within {self._batch_s:g} s") from exc

    def _refuse(self, records: Sequence[MemoryRecord]) -> None:
        """Leave these out from now on; they are found by their words."""
        if records:
            _log.warning(RECORDS_REFUSED, records=[record.id for record in records], model=self._embedder.model)
        for record in records:
            _remember(self._refused, record.id, record.scope_key, REFUSED_RECORDS)

    async def _rest(self, exc: EmbedderUnavailableError) -> None:
        """Wait before the next try. Only the first failure in a row is logged."""
        if self._failures == 0:
            _log.warning(EMBEDDING_FAILED, model=self._embedder.model, error=str(exc))
        rest_s = max(FIRST_REST_S * 2.0 ** min(self._failures, 16), exc.retry_after_s or 0)
        self._failures += 1
        await self._sleep(min(rest_s, LONGEST_REST_S))

    def _recover(self) -> None:
        if self._failures:
            _log.info(EMBEDDING_RECOVERED, model=self._embedder.model, failures=self._failures)
        self._failures = 0

    def _enqueue(self, scope_key: str) -> None:
        self._complete.pop(scope_key, None)
        if len(self._waiting) < WAITING_SCOPES:
            self._waiting.setdefault(scope_key)
            self._work.set()


def _remember(known: OrderedDict[str, T], key: str, value: T, most: int) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > most:
        known.popitem(last=False)
