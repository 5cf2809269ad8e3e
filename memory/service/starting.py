"""What a memory service is started with, and its life from the open store to the closed one."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import structlog

from memory.rankers import RANKERS
from memory.service.asgi import MemoryService
from memory.service.operations import WholeStore
from memory.service.process import listen, run
from memory.service.routes import application
from memory.service.serving import serve
from memory.store import RankerName, StoreUnavailableError
from memory.stores.opening import Choice, StoreKind, StoreRefusedError, StoreWish, choose
from memory.stores.sqlite import SqliteStore

SERVICE_WARNED = "memory_service_warned"

TOKEN_CHARS_LEAST = 16
"""Whoever has the token may read and change what everybody's bots remember."""

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
    token: str | None = field(repr=False)
    build: str
    token_env: str = "MEMORY_TOKEN"  # noqa: S105 - the name of a variable
    ranker: RankerName = "relevance"
    max_records_per_scope: object = 500
    postgres_url: str | None = field(default=None, repr=False)
    request_s: float = 10.0
    """How long a request may take to arrive."""


def run_service(wish: ServiceWish) -> None:
    """Serve until the process is told to stop. Raises ``ServiceRefusedError`` before anything listens."""
    token = _token(wish)
    listener = _listener(wish)
    with listener:
        run(_serve(wish, token, listener))


async def _serve(wish: ServiceWish, token: str, listener: socket.socket) -> None:
    async with _opened(wish) as store:
        service = MemoryService(store, token, build=wish.build)
        await serve(application(service), listener, request_s=wish.request_s)


@asynccontextmanager
async def _opened(wish: ServiceWish) -> AsyncGenerator[WholeStore]:
    """The store, closed when the context ends: what was used is written down then."""
    choice = _choice(wish)
    for warning in choice.warnings:
        _log.warning(SERVICE_WARNED, reason=warning)
    store = await (_postgres(wish, choice) if choice.kind is StoreKind.POSTGRES else _sqlite(wish, choice))
    try:
        yield store
    finally:
        await store.aclose()


def _choice(wish: ServiceWish) -> Choice:
    try:
        return choose(
            StoreWish(
                enabled=True,
                store=wish.store,
                postgres_url=wish.postgres_url,
                max_records_per_scope=wish.max_records_per_scope,
            )
        )
    except StoreRefusedError as fault:
        raise ServiceRefusedError(str(fault)) from fault


async def _sqlite(wish: ServiceWish, choice: Choice) -> WholeStore:
    """In the same folder as a bot's, so that either can follow the other."""
    folder = wish.data_dir / "memory"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise ServiceRefusedError(f"{folder} cannot be used ({fault.strerror}); choose another --data-dir") from fault
    return SqliteStore(folder, ranker=RANKERS[wish.ranker], now=_now, cap=choice.cap)


async def _postgres(wish: ServiceWish, choice: Choice) -> WholeStore:
    """Its driver is imported only where it is used."""
    from memory.stores.postgres import open_postgres

    try:
        return await open_postgres(choice.address, ranker=RANKERS[wish.ranker], now=_now, cap=choice.cap)
    except StoreUnavailableError as fault:
        raise ServiceRefusedError(str(fault)) from fault


def _token(wish: ServiceWish) -> str:
    if not wish.token:
        raise ServiceRefusedError(
            f"{wish.token_env} is not set, and without a token nobody may ask; set it to a long random text"
        )
    if len(wish.token) < TOKEN_CHARS_LEAST:
        # Served all the same, for whoever tries it on one machine.
        _log.warning(
            SERVICE_WARNED,
            reason=f"{wish.token_env} has fewer than {TOKEN_CHARS_LEAST} characters and could "
            "be guessed; set it, here and for the bots, to a long random text",
        )
    return wish.token


def _listener(wish: ServiceWish) -> socket.socket:
    try:
        return listen(wish.host, wish.port)
    except OSError as fault:
        raise ServiceRefusedError(
            f"cannot listen on {wish.host}:{wish.port} ({fault.strerror}); choose another --host or --port"
        ) from fault


def _now() -> datetime:
    return datetime.now(UTC)
