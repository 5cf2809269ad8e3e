"""What the SQLite store erases is in no byte of any file of its directory, nor in its memory."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memory.store import EraseReceipt, StoreUnavailableError, Vector
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_files import path_of
from memory.stores.sqlite_handles import Bounds
from memory.stores.sqlite_rows import entry_of
from memory.stores.vectors import packed
from tests.memory_records import ORG, RANKERS, Shelf, StoppedClock, fact, files_under, found, kept, sql, texts

SECRET = "the launch code is zebra-quartz-4711"
SECRET_WORDS = ("zebra", "quartz", "4711", "launch code")
SECRET_THREAD = "slack:C9SECRET:9.9"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
async def store(directory: Path) -> AsyncGenerator[SqliteStore]:
    clock = StoppedClock()
    opened = SqliteStore(
        directory, ranker=RANKERS["relevance"], now=clock.now, cap=None, bounds=Bounds(timeout_s=0.3)
    )
    yield opened
    await opened.aclose()


async def fill(store: SqliteStore) -> tuple[str, list[bytes]]:
    """Records around a secret one, used, embedded and embattled; the secret's id and all that must vanish."""
    await store.write(ORG, [fact(f"plain fact number {number} {'filler ' * 30}") for number in range(40)])
    secret = replace(fact(SECRET, thread=SECRET_THREAD), author="Zelda Quux", keywords=("hushword",))
    await store.write(ORG, [secret])
    await store.write(ORG, [fact(f"later fact number {number} {'filler ' * 30}") for number in range(40)])
    [hit] = (await kept_secret(store),)
    vector = (0.123456, -0.654321, 0.777777)
    await store.keep_vectors(ORG, "test/model", {hit.id: vector})
    await found(store, ORG, "zebra quartz", 3)
    _, words, terms = entry_of(hit)
    telling = {*words.split(), *terms.split()} - await harmless_tokens(store, hit.id)
    text_bytes = [word.encode() for word in (*SECRET_WORDS, "Quux", "quux", "hushword", SECRET_THREAD)]
    return hit.id, [*text_bytes, *(token.encode() for token in telling), packed(vector)]


async def kept_secret(store: SqliteStore):  # type: ignore[no-untyped-def]
    return next(each for each in await kept(store) if "zebra" in each.text)


async def harmless_tokens(store: SqliteStore, secret_id: str) -> set[str]:
    """Index tokens that records beside the secret have as well."""
    tokens: set[str] = set()
    for each in await kept(store):
        if each.id != secret_id:
            _, words, terms = entry_of(each)
            tokens |= {*words.split(), *terms.split()}
    return tokens
