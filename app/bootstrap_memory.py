"""The part of the composition root that puts the bot's memory together: store, ranker, embeddings, recall."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog
from pydantic import SecretStr

from app.agents.providers.catalogue import ProviderSpec
from app.agents.providers.embeddings import open_embedder
from app.background import beside
from app.clock import Clock
from app.errors import ConfigurationError
from config.settings import Settings
from memory.backfill import Backfill
from memory.composition import Budget
from memory.embedder import Embedder
from memory.ranker import KeywordRanker, Ranker
from memory.recall import Recall
from memory.relevance import RelevanceRanker
from memory.semantic import QueryVectors, SemanticStore
from memory.store import MemoryStore, NoVectorsError, VectorKeeper
from memory.stores.late import LateStore
from memory.stores.opening import Choice, StoreKind, StoreRefusedError, StoreWish, choose, open_store

MEMORY_OPENED = "memory_opened"
MEMORY_WARNED = "memory_warned"

_WORDS_ONLY = "memory.embedding is set, but this store compares words only"

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Memory:
    """What the rest of the bot remembers with."""

    store: MemoryStore
    recall: Recall


@asynccontextmanager
async def open_memory(
    settings: Settings, specs: Mapping[str, ProviderSpec], clock: Clock, given: MemoryStore | None
) -> AsyncGenerator[Memory]:
    """The memory ``settings`` describe, over the ``given`` store if there is one, closed when the context ends.

    Raises ``ConfigurationError`` when a setting asks for what is not there.
    """
    ranker = ranker_of(settings)
    async with AsyncExitStack() as stack:
        store = given
        if store is None:
            store = await _opened(settings, clock, stack)
        budget = Budget(settings.memory.limit, settings.memory.max_tokens)
        if settings.memory.embedding is None or not isinstance(store, VectorKeeper):
            _tell_of_meanings(settings, store)
            yield Memory(store, Recall(store, ranker, budget))
            return
        embedder = await _embedder(settings.memory.embedding, specs, settings)
        stack.push_async_callback(embedder.aclose)
        queries, backfill = QueryVectors(embedder), Backfill(store, embedder)
        await stack.enter_async_context(beside(_filled(backfill, queries), name="embedding_backfill"))
        await stack.enter_async_context(beside(queries.warm(), name="embedding_warm"))
        semantic = SemanticStore(store, backfill, queries)
        yield Memory(semantic, Recall(semantic, ranker, budget, queries.vector))


def ranker_of(settings: Settings) -> Ranker:
    return RelevanceRanker() if settings.memory.ranker == "relevance" else KeywordRanker()


async def _opened(settings: Settings, clock: Clock, stack: AsyncExitStack) -> MemoryStore:
    try:
        choice = choose(wish_of(settings))
        folder = settings.data_dir / "memory"
        store = await open_store(choice, directory=folder, ranker=settings.memory.ranker, now=clock.now)
    except StoreRefusedError as fault:
        raise ConfigurationError(str(fault)) from fault
    stack.push_async_callback(store.aclose)
    if isinstance(store, LateStore):
        await stack.enter_async_context(beside(store.awaited(), name="memory_awaited"))
    _tell(choice, is_open=not isinstance(store, LateStore))
    return store


def wish_of(settings: Settings) -> StoreWish:
    memory = settings.memory
    return StoreWish(
        enabled=memory.enabled,
        store=memory.store,
        worker_base_url=memory.worker.base_url,
        worker_token_env=memory.worker.token_env,
        worker_token=_revealed(memory.worker.token),
        worker_ca_file=memory.worker.ca_file,
        postgres_url=_revealed(memory.postgres.url),
        max_records_per_scope=memory.max_records_per_scope,
    )


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def _tell(choice: Choice, *, is_open: bool) -> None:
    for warning in choice.warnings:
        _log.warning(MEMORY_WARNED, reason=warning)
    if is_open and choice.kind is not StoreKind.NULL:
        _log.info(MEMORY_OPENED, store=choice.kind.value, records_per_scope=choice.cap)


def _tell_of_meanings(settings: Settings, store: MemoryStore) -> None:
    if settings.memory.enabled and settings.memory.embedding is not None and not isinstance(store, VectorKeeper):
        _log.warning(MEMORY_WARNED, reason=_WORDS_ONLY)


async def _filled(backfill: Backfill, queries: QueryVectors) -> None:
    """Vectors in the background, unless a service turns out to be older than they are: then words alone decide."""
    try:
        await backfill.run()
    except NoVectorsError as fault:
        queries.retire()
        _log.warning(MEMORY_WARNED, reason=f"{_WORDS_ONLY} until the bot starts anew: {fault}")


async def _embedder(reference: str, specs: Mapping[str, ProviderSpec], settings: Settings) -> Embedder:
    limits = settings.limits
    return await open_embedder(reference, specs, connect_s=limits.model_connect_s, call_s=limits.model_idle_s)
