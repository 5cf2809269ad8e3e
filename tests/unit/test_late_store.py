"""The store of a database that was not there when the bot began."""

import pytest
from structlog.testing import capture_logs

from memory.record import WriteCounts
from memory.relevance import RelevanceRanker
from memory.store import Query, Retrieved, StoreUnavailableError, VectorKeeper
from memory.stores.inprocess import InProcessStore
from memory.stores.late import MEMORY_ARRIVED, MEMORY_AWAITED, LateStore
from tests.memory_records import EPOCH, ORG, THREAD, fact, found

REASON = "the database is down"


class Database:
    """Cannot be opened so many times."""

    def __init__(self, failures: int) -> None:
        self._failures = failures
        self.store = InProcessStore(ranker=RelevanceRanker(), now=lambda: EPOCH)

    async def open(self) -> InProcessStore:
        if self._failures:
            self._failures -= 1
            raise StoreUnavailableError(f"{REASON} ({self._failures} more)")
        return self.store


class Pauses(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def test_until_it_is_open_a_search_finds_nothing_and_everything_else_says_why() -> None:
    store = LateStore(Database(0).open, REASON)
    assert await store.retrieve(ORG, Query("x", 1)) == Retrieved(is_degraded=True)
    assert store.retrieve_at_once(ORG, Query("x", 1)) == Retrieved(is_degraded=True)
    for act in (
        lambda: store.get(ORG, ["mem:org:acme:0"]),
        lambda: store.write(ORG, [fact("one")]),
        lambda: store.list(ORG, 1),
        lambda: store.forget(ORG, "mem:org:acme:0"),
        lambda: store.sweep(ORG),
        lambda: store.erase(ORG),
        lambda: store.erase_thread(THREAD),
        lambda: store.unembedded(ORG, "m", 1),
        lambda: store.keep_vectors(ORG, "m", {}),
    ):
        with pytest.raises(StoreUnavailableError, match=REASON):
            await act()


async def test_it_is_tried_ever_less_often_until_it_is_there() -> None:
    database, pauses = Database(7), Pauses()
    store = LateStore(database.open, REASON)
    with capture_logs() as logs:
        await store.awaited(pauses)
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]
    assert [each["event"] for each in logs] == [MEMORY_AWAITED, MEMORY_ARRIVED]
    assert logs[0]["reason"] == REASON


async def test_then_it_is_that_store() -> None:
    database = Database(1)
    store = LateStore(database.open, REASON)
    assert isinstance(store, VectorKeeper)
    await store.awaited(Pauses())
    assert await store.write(ORG, [fact("red dot"), fact("blue tests pass")], cap=9) == WriteCounts(inserted=2)
    assert [each.sequence for each in await found(store, ORG, "red")] == [0]
    told = store.retrieve_at_once(ORG, Query("red", 9))
    assert told is not None
    assert [hit.record.use_count for hit in told.hits] == [2]
    assert len(await store.get(ORG, ["mem:org:acme:0"])) == 1
    assert len(await store.list(ORG, 9, query="blue")) == 1
    assert len(await store.unembedded(ORG, "m", 9)) == 2
    assert await store.keep_vectors(ORG, "m", {"mem:org:acme:0": (1.0,)}) == 1
    assert list(await store.sweep(ORG, dry_run=True)) == list(await database.store.sweep(ORG, dry_run=True))
    assert await store.forget(ORG, "mem:org:acme:0") is True
    assert (await store.erase(ORG, "mem:org:acme:0")).records == 1
    assert (await store.erase_thread(THREAD)).records == 1
    await store.aclose()
    with pytest.raises(StoreUnavailableError, match="closed"):
        await database.store.list(ORG, 1)


async def test_a_closed_one_is_tried_no_more() -> None:
    store, pauses = LateStore(Database(99).open, REASON), Pauses()
    await store.aclose()
    await store.awaited(pauses)
    assert pauses == []
    with pytest.raises(StoreUnavailableError, match="closed"):
        store.retrieve_at_once(ORG, Query("x", 1))
    with pytest.raises(StoreUnavailableError, match="closed"):
        await store.retrieve(ORG, Query("x", 1))
