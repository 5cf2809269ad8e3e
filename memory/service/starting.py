"""What a memory service is started with, and its life from the open store to the closed one."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import structlog

from memory.rankers import RANKERS
from memory.service.asgi import MemoryService
from memory.service.operations import WholeStore
from memory.service.serving import listen, run, serve
from memory.store import RankerName
from memory.stores.opening import scope_cap
from memory.stores.sqlite import SqliteStore

SERVICE_WARNED = "memory_service_warned"

ServedStore = Literal["sqlite", "postgres"]

_log = structlog.stdlib.get_logger(__name__)


class ServiceRefusedError(Exception):
    """The service cannot be started like this; the sentence says what to set instead."""


@dataclass(frozen=True, slots=True)
class ServiceWish:
    """What the settings and the command line say; values as they are, checked here."""

    host: str
    port: int
    data_dir: Path
    store: ServedStore
    token: str | None
    build: str
    token_env: str = "MEMORY_TOKEN"  # noqa: S105 - the name of a variable
    ranker: RankerName = "relevance"
    max_records_per_scope: object = 500
    postgres_url: str | None = None


def run_service(wish: ServiceWish) -> None:
    """Serve until the process is told to stop. Raises ``ServiceRefusedError`` before anything listens."""
    token = _token(wish)
    listener = _listener(wish)
    with listener:
        run(lambda: _serve(wish, token, listener))


async def _serve(wish: ServiceWish, token: str, listener: socket.socket) -> None:
    async with _opened(wish) as store:
        await serve(MemoryService(store, token, build=wish.build), listener)


@asynccontextmanager
async def _opened(wish: ServiceWish) -> AsyncGenerator[WholeStore]:
    """The store, closed when the context ends: what was used is written down then."""
    cap, warnings = scope_cap(wish.max_records_per_scope)
    for warning in warnings:
        _log.warning(SERVICE_WARNED, reason=warning)
    ranker = RANKERS[wish.ranker]
    if wish.store == "sqlite":
        store = SqliteStore(_folder(wish), ranker=ranker, now=_now, cap=cap)
        try:
            yield store
        finally:
            await store.aclose()
        return
    raise ServiceRefusedError("postgres is being built")


def _token(wish: ServiceWish) -> str:
    if not wish.token:
        raise ServiceRefusedError(
            f"{wish.token_env} is not set, and without a token nobody may ask; set it to a long random text"
        )
    return wish.token


def _listener(wish: ServiceWish) -> socket.socket:
    try:
        return listen(wish.host, wish.port)
    except OSError as fault:
        raise ServiceRefusedError(
            f"cannot listen on {wish.host}:{wish.port} ({fault.strerror}); choose another --host or --port"
        ) from fault


def _folder(wish: ServiceWish) -> Path:
    """The same one as a bot's, so that either can follow the other."""
    folder = wish.data_dir / "memory"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise ServiceRefusedError(f"{folder} cannot be used ({fault.strerror}); choose another --data-dir") from fault
    return folder


def _now() -> datetime:
    return datetime.now(UTC)
