"""Which store a bot remembers in, decided once at startup (specification, sections 20 and 29)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from memory.engine import DEFAULT_SCOPE_CAP, LARGEST_SCOPE_CAP
from memory.ranker import Ranker
from memory.store import MemoryStore
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from memory.stores.sqlite import SqliteStore


class StoreKind(StrEnum):
    NULL = "null"
    INPROCESS = "inprocess"
    SQLITE = "sqlite"
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
    has_worker_token: bool = False
    max_records_per_scope: object = DEFAULT_SCOPE_CAP


@dataclass(frozen=True, slots=True)
class Choice:
    """The store that was chosen, how many active records a scope may hold, and what an operator should know."""

    kind: StoreKind
    cap: int = DEFAULT_SCOPE_CAP
    warnings: tuple[str, ...] = ()


def choose(wish: StoreWish) -> Choice:
    """Raises ``StoreRefusedError`` for a store that does not exist (yet)."""
    if not wish.enabled:
        return Choice(StoreKind.NULL)
    kind, warnings = _kind(wish)
    cap, cap_warnings = scope_cap(wish.max_records_per_scope)
    return Choice(kind, cap, (*warnings, *cap_warnings))


def scope_cap(value: object) -> tuple[int, tuple[str, ...]]:
    """``memory.max_records_per_scope`` if it can be used, else the default and a warning."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST_SCOPE_CAP:
        return value, ()
    rule = f"memory.max_records_per_scope must be a whole number from 1 to {LARGEST_SCOPE_CAP}"
    return DEFAULT_SCOPE_CAP, (f"{rule}; the default {DEFAULT_SCOPE_CAP} is used",)


def open_store(choice: Choice, *, directory: Path, ranker: Ranker, now: Callable[[], datetime]) -> MemoryStore:
    """The chosen store, to be closed by the caller; a durable one keeps its files in ``directory``."""
    match choice.kind:
        case StoreKind.NULL:
            return NullStore()
        case StoreKind.INPROCESS:
            return InProcessStore(ranker=ranker, now=now, cap=choice.cap)
        case StoreKind.SQLITE | StoreKind.REMOTE:  # What a choice of the remote store warns of.
            return SqliteStore(directory, ranker=ranker, now=now, cap=choice.cap)


def _kind(wish: StoreWish) -> tuple[StoreKind, tuple[str, ...]]:
    match wish.store:
        case "inprocess":
            return StoreKind.INPROCESS, ("memory.store is inprocess: a restart forgets everything",)
        case "sqlite":
            return StoreKind.SQLITE, ()
        case "auto" | "remote":
            return _remote_or_sqlite(wish)
        case "postgres":
            raise StoreRefusedError(
                "memory.store: postgres is not there yet; use auto or sqlite, which keep memory in files"
            )
        case _:
            raise StoreRefusedError("memory.store must be auto, inprocess, sqlite, remote or postgres")


def _remote_or_sqlite(wish: StoreWish) -> tuple[StoreKind, tuple[str, ...]]:
    if not wish.worker_base_url:
        missing = ("memory.store is remote but memory.worker.base_url is not set; memory is kept in files here",)
        return StoreKind.SQLITE, missing if wish.store == "remote" else ()
    if not wish.has_worker_token:
        return StoreKind.SQLITE, (
            f"memory.worker.base_url is set but {wish.worker_token_env} is not; memory is kept in files here",
        )
    return StoreKind.REMOTE, (
        "memory.worker is set, but this version has no client for the remote service yet; memory is kept in files here",
    )
