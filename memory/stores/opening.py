"""Which store a bot remembers in, decided once at startup (specification, sections 20 and 29)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Protocol

from memory.addresses import AddressError, Database, Service, parsed
from memory.engine import DEFAULT_SCOPE_CAP, LARGEST_SCOPE_CAP
from memory.ranker import Ranker
from memory.rankers import RANKERS
from memory.store import MemoryStore, RankerName, StoreUnavailableError
from memory.stores.inprocess import InProcessStore
from memory.stores.late import KeepingStore, LateStore
from memory.stores.null import NullStore
from memory.stores.remote_trust import Credentials, TrustRefusedError
from memory.stores.sqlite import SqliteStore


class OpenPostgres(Protocol):
    """``memory.stores.postgres.open_postgres``, whose driver is imported only where it is used."""

    async def __call__(
        self, url: str, *, ranker: Ranker, now: Callable[[], datetime], cap: int | None
    ) -> KeepingStore: ...


class StoreKind(StrEnum):
    NULL = "null"
    INPROCESS = "inprocess"
    SQLITE = "sqlite"
    POSTGRES = "postgres"
    REMOTE = "remote"


class StoreRefusedError(ValueError):
    """The settings ask for a store that there is not; the sentence says what to set instead."""


@dataclass(frozen=True, slots=True)
class StoreWish:
    """What the settings say about the store; values as they are, checked here."""

    enabled: bool
    store: str = "auto"
    """``auto``, ``inprocess``, ``sqlite``, ``remote`` or ``postgres``."""
    worker_base_url: str | None = None
    worker_token_env: str = "MEMORY_TOKEN"  # noqa: S105 - the name of a variable
    worker_token: str | None = field(default=None, repr=False)
    worker_ca_file: Path | None = None
    postgres_url: str | None = field(default=None, repr=False)
    max_records_per_scope: object = DEFAULT_SCOPE_CAP


@dataclass(frozen=True, slots=True)
class Choice:
    """The store that was chosen, how many active records a scope may hold, and what an operator should know."""

    kind: StoreKind
    cap: int = DEFAULT_SCOPE_CAP
    warnings: tuple[str, ...] = ()
    address: str = field(default="", repr=False)
    """Of the database or the service."""
    credentials: Credentials | None = None
    """Of the service."""


def choose(wish: StoreWish) -> Choice:
    """Raises ``StoreRefusedError`` for a store that there is not, and for an address that is none."""
    if not wish.enabled:
        return Choice(StoreKind.NULL)
    cap, cap_warnings = scope_cap(wish.max_records_per_scope)
    match wish.store:
        case "inprocess":
            forgets = "memory.store is inprocess: a restart forgets everything"
            return Choice(StoreKind.INPROCESS, cap, (forgets, *cap_warnings))
        case "sqlite":
            return Choice(StoreKind.SQLITE, cap, cap_warnings)
        case "postgres":
            return Choice(StoreKind.POSTGRES, cap, cap_warnings, _database(wish))
        case "auto" | "remote":
            warnings = (*_missing(wish), *cap_warnings)
            if not wish.worker_base_url or not wish.worker_token:
                return Choice(StoreKind.SQLITE, cap, warnings)
            credentials = Credentials(wish.worker_token, wish.worker_ca_file)
            return Choice(StoreKind.REMOTE, cap, warnings, _service(wish.worker_base_url), credentials)
        case _:
            raise StoreRefusedError("memory.store must be auto, inprocess, sqlite, remote or postgres")


def scope_cap(value: object) -> tuple[int, tuple[str, ...]]:
    """``memory.max_records_per_scope`` if it can be used, else the default and a warning."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_SCOPE_CAP:
        return value, ()
    rule = f"memory.max_records_per_scope must be a whole number from 1 to {LARGEST_SCOPE_CAP}"
    return DEFAULT_SCOPE_CAP, (f"{rule}; the default {DEFAULT_SCOPE_CAP} is used",)


async def open_store(
    choice: Choice, *, directory: Path, ranker: RankerName, now: Callable[[], datetime]
) -> MemoryStore:
    """The chosen store, to be closed by the caller; one that keeps files keeps them in ``directory``.

    A database that does not answer becomes a ``LateStore``, which goes on trying; a remote service is first asked
    when there is something to ask. Raises ``StoreRefusedError``.
    """
    match choice.kind:
        case StoreKind.NULL:
            return NullStore()
        case StoreKind.INPROCESS:
            return InProcessStore(ranker=RANKERS[ranker], now=now, cap=choice.cap)
        case StoreKind.SQLITE:
            return SqliteStore(directory, ranker=RANKERS[ranker], now=now, cap=choice.cap)
        case StoreKind.POSTGRES:
            return await _open_postgres(choice, ranker, now)
        case StoreKind.REMOTE:
            return await _open_remote(choice, ranker, now)


async def _open_postgres(choice: Choice, ranker: RankerName, now: Callable[[], datetime]) -> MemoryStore:
    open_postgres = await asyncio.to_thread(_imported)

    async def opened() -> KeepingStore:
        return await open_postgres(choice.address, ranker=RANKERS[ranker], now=now, cap=choice.cap)

    try:
        return await opened()
    except StoreUnavailableError as fault:
        return LateStore(opened, str(fault))


def _imported() -> OpenPostgres:
    """In a thread: the driver is large and reads files."""
    from memory.stores.postgres import open_postgres

    return open_postgres


async def _open_remote(choice: Choice, ranker: RankerName, now: Callable[[], datetime]) -> MemoryStore:
    """Imported in a thread: the client is large and reads the machine's certificates."""
    await asyncio.to_thread(import_module, "memory.stores.remote")
    from memory.stores.remote import open_remote

    try:
        return await open_remote(
            choice.address, choice.credentials or Credentials(""), ranker=ranker, now=now, cap=choice.cap
        )
    except TrustRefusedError as fault:
        raise StoreRefusedError(str(fault)) from fault


def _missing(wish: StoreWish) -> tuple[str, ...]:
    """Why memory is kept in files although the settings name another place."""
    if wish.worker_base_url:
        unset = f"memory.worker.base_url is set but {wish.worker_token_env} is not; memory is kept in files here"
        return () if wish.worker_token else (unset,)
    if wish.store == "remote":
        return ("memory.store is remote but memory.worker.base_url is not set; memory is kept in files here",)
    if wish.postgres_url:
        return ("memory.postgres.url is set but memory.store is not postgres; memory is kept in files here",)
    return ()


def _database(wish: StoreWish) -> str:
    if not wish.postgres_url:
        raise StoreRefusedError("memory.store is postgres, which needs the database's address as memory.postgres.url")
    try:
        address = parsed(wish.postgres_url)
    except AddressError as fault:
        raise StoreRefusedError(f"memory.postgres.url: {fault}") from fault
    if not isinstance(address, Database):
        raise StoreRefusedError("memory.postgres.url must be postgresql://user:password@host:port/database")
    return address.url


def _service(base_url: str) -> str:
    try:
        address = parsed(base_url)
    except AddressError as fault:
        raise StoreRefusedError(f"memory.worker.base_url: {fault}") from fault
    if not isinstance(address, Service):
        raise StoreRefusedError("memory.worker.base_url must be http://… or https://… of a memory service")
    return address.url
