"""Whatever becomes of the bytes of a scope's file: it is read, or cannot be used; nothing else comes of it."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory.store import KeyReusedError, Query, RecordConflictError, StoreUnavailableError
from memory.stores.sqlite import SqliteStore
from memory.stores.sqlite_backup import back_up
from memory.stores.sqlite_connections import COMPANIONS, companion, path_of
from tests.memory_records import ORG, RANKERS, THREAD, Shelf, fact, record
from tests.moving_house import Watched

TRIES = 25
SCHEMA_BYTES = 8_192
"""Where the file says what its tables are: noise there has SQLite say things that it never says else."""


@pytest.fixture
async def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf("sqlite-relevance", tmp_path / "memory")
    async with shelf.open() as store:
        for batch in range(3):
            facts = [fact(f"deploy {batch} {each} needs approval") for each in range(8)]
            await store.write(ORG, facts, idempotency_key=f"batch {batch}")
        await store.forget(ORG, "mem:org:acme:3")
    return shelf


def noisy(content: bytes, dice: random.Random) -> bytes:
    """A few other bytes, a piece of noise, a piece of nothing, or an end too soon."""
    changed = bytearray(content)
    at = dice.randrange(dice.choice([SCHEMA_BYTES, len(content)]))
    match dice.randrange(4):
        case 0:
            for _ in range(dice.randint(1, 6)):
                changed[dice.randrange(dice.choice([SCHEMA_BYTES, len(content)]))] = dice.randrange(256)
        case 1:
            changed[at : at + 200] = dice.randbytes(len(changed[at : at + 200]))
        case 2:
            changed[at : at + 4_096] = bytes(len(changed[at : at + 4_096]))
        case _:
            del changed[at + 1 :]
    return bytes(changed)


def replaced(path: Path, content: bytes) -> None:
    for ending in COMPANIONS:
        companion(path, ending).unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)


def asked(store: SqliteStore) -> list[Callable[[], Awaitable[object]]]:
    reasons: list[str] = []
    return [
        lambda: store.scope_keys(9, leave_aside=reasons.append),
        lambda: store.stats(leave_aside=reasons.append),
        lambda: store.records(ORG, 99),
        lambda: store.retrieve(ORG, Query("deploy approval", 8, standing=2)),
        lambda: store.list(ORG, 9, query="deploy"),
        lambda: store.get(ORG, ["mem:org:acme:1"]),
        lambda: store.write(
            ORG, [fact(f"deploy 1 {each} needs approval") for each in range(8)], idempotency_key="batch 1"
        ),
        lambda: store.write(ORG, [fact("a new one")]),
        lambda: store.restore(ORG, [record(5, "put back")]),
        lambda: store.forget(ORG, "mem:org:acme:7"),
        lambda: store.sweep(ORG),
        lambda: store.erase(ORG, "mem:org:acme:9"),
        lambda: store.erase_thread(THREAD),
        lambda: store.erase(ORG),
    ]


@pytest.mark.parametrize("seed", range(4))
async def test_noise_in_a_file_makes_it_unusable_at_most(shelf: Shelf, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same noise every time
    path = path_of(shelf.directory, ORG)
    content = await asyncio.to_thread(path.read_bytes)
    copy = shelf.directory.with_name("copy")
    copy.mkdir()
    done = refused = 0
    for _ in range(TRIES):
        await asyncio.to_thread(replaced, path, noisy(content, dice))
        await asyncio.to_thread(back_up, shelf.directory, copy, Watched())
        store = SqliteStore(shelf.directory, ranker=RANKERS["relevance"], now=shelf.clock.now, cap=None)
        for ask in asked(store):
            try:
                await ask()
            except (StoreUnavailableError, KeyReusedError, RecordConflictError):
                refused += 1
            else:
                done += 1
        await store.aclose()
    assert done
    assert refused
