"""What the SQLite store says of a disk without room, which is a small one of its own (section 28)."""

import asyncio
import errno
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from memory.stores.sqlite_connections import is_full
from tests.small_disks import on_a_small_disk

PROGRAM = """
import asyncio, json, sys
from datetime import UTC, datetime
from pathlib import Path
from memory.ranker import KeywordRanker
from memory.record import MemoryCandidate
from memory.store import Query, StoreFullError
from memory.stores.sqlite import SqliteStore

async def fails(call):
    try:
        await call
    except StoreFullError as exc:
        return str(exc)
    return None

def facts(batch):
    return [MemoryCandidate("fact", f"deploy {batch} {each} " + "x" * 3_000, "slack:C1:1.0") for each in range(10)]

async def main(disk):
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(150_000))
    store = SqliteStore(disk / "memory", ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=None)
    batch = 0
    while not (refusal := await fails(store.write("org:acme", facts(batch), idempotency_key=f"batch {batch}"))):
        batch += 1
    elsewhere = await fails(store.write("user:slack:U1", facts(batch)))
    found = await store.retrieve("org:acme", Query("deploy", 1_000))
    full = len(found.hits), found.is_degraded, len(await store.list("org:acme", 1_000))
    ballast.unlink()
    counts = await store.write("org:acme", facts(batch)[:3], idempotency_key=f"batch {batch}")
    await store.aclose()
    print(json.dumps({"batches": batch, "refusals": [refusal, elsewhere], "full": full, "after": counts.inserted}))

asyncio.run(main(Path(sys.argv[1])))
"""

BEGUN_WITHOUT_ROOM = """
import asyncio, json, sys
from datetime import UTC, datetime
from pathlib import Path
from memory.ranker import KeywordRanker
from memory.record import MemoryCandidate
from memory.store import Query, StoreFullError
from memory.stores.sqlite import SqliteStore

async def fails(call):
    try:
        await call
    except StoreFullError:
        return True
    return False

def opened(disk):
    return SqliteStore(disk / "memory", ranker=KeywordRanker(), now=lambda: datetime.now(UTC), cap=None)

FACT = [MemoryCandidate("fact", "deploys need approval", "slack:C1:1.0")]

async def main(disk):
    store = opened(disk)
    await store.write("org:acme", FACT)
    await store.aclose()
    ballast = (disk / "ballast").open("wb", buffering=0)
    try:
        while True:
            ballast.write(bytes(1_000))
    except OSError:
        ballast.close()
    store = opened(disk)
    found = [await store.retrieve("org:acme", Query("deploys", 8)) for _ in range(2)]
    read = {
        "found": [len(each.hits) for each in found],
        "listed": len(await store.list("org:acme", 9)),
        "scopes": await store.scope_keys(9),
        "counted": (await store.stats()).scopes,
        "refused": [
            await fails(store.write("org:acme", FACT)),
            await fails(store.forget("org:acme", "mem:org:acme:0")),
            await fails(store.erase_thread("slack:C1:1.0")),
        ],
    }
    (disk / "ballast").unlink()
    read["after"] = (await store.write("org:acme", FACT)).deduped
    await store.aclose()
    print(json.dumps(read))

asyncio.run(main(Path(sys.argv[1])))
"""


async def test_what_begins_on_a_full_disk_reads_all_the_same(tmp_path: Path) -> None:
    """SQLite wants room to read, too, for the index of a log; without a log there is nothing that it could miss."""
    lines = await asyncio.to_thread(on_a_small_disk, tmp_path, sys.executable, "-c", BEGUN_WITHOUT_ROOM, str(tmp_path))
    told = json.loads(lines.splitlines()[-1])
    assert (told["found"], told["listed"], told["scopes"], told["counted"]) == ([1, 1], 1, ["org:acme"], 1)
    assert told["refused"] == [True, True, True]
    assert told["after"] == 1


async def test_a_full_disk_is_told_as_such_and_keeps_whole_batches_only(tmp_path: Path) -> None:
    """Reading goes on, and so does writing as soon as there is room; a batch that was refused left no key."""
    lines = await asyncio.to_thread(on_a_small_disk, tmp_path, sys.executable, "-c", PROGRAM, str(tmp_path))
    told = json.loads(lines.splitlines()[-1])
    batches = told["batches"]
    assert batches > 0
    assert all("cannot be used" in each and "deploy" not in each for each in told["refusals"]), told["refusals"]
    assert told["full"] == [batches * 10, False, batches * 10]
    assert told["after"] == 3


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (OSError(errno.ENOSPC, "no room for a new folder"), True),
        (OSError(errno.EDQUOT, "no room for this user"), True),
        (PermissionError(errno.EACCES, "not allowed"), False),
        (sqlite3.DatabaseError("a row does not read as a record"), False),
    ],
)
def test_only_what_lacks_room_is_full(fault: sqlite3.Error | OSError, expected: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert is_full(fault) is expected
