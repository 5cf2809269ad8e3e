"""What a store has at hand costs a request no task; only the rest is waited for, side by side."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest
import structlog

from memory.composition import Budget
from memory.recall import RECALL_INTERRUPTED, RECALL_TIMED_OUT, Recall
from memory.record import MemoryCandidate, MemoryRecord
from memory.relevance import RelevanceRanker
from memory.scope import request_scopes
from memory.store import Query, Retrieved, StoreUnavailableError
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from tests.counting_tasks import tasks_made
from tests.fakes import ManualClock, until

SCOPES = request_scopes("acme", user_id="slack:U1", channel_id="slack:C1", repo="acme/api")
ORG, REPO, CHANNEL, USER = SCOPES.keys()
POOLED = [ORG, CHANNEL, USER, REPO]
RANKER = RelevanceRanker()


class Distant(NullStore):
    """One record in each scope: told at once, or once the gate is open, or not at all."""

    def __init__(self, at_hand: Collection[str] = (), broken: Collection[str] = ()) -> None:
        self.inner = InProcessStore(ranker=RANKER, now=ManualClock().now)
        self.at_hand = at_hand
        self.broken = broken
        self.waiting: list[str] = []
        self.gate = asyncio.Event()

    async def taught(self) -> "Distant":
        for key in POOLED:
            await self.inner.write(key, [MemoryCandidate("fact", "deploys on Friday", "slack:C9:1.0")])
        return self

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        if scope_key in self.broken:
            raise StoreUnavailableError("the disk is gone")
        return self.inner.retrieve_at_once(scope_key, query) if scope_key in self.at_hand else None

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        self.waiting.append(scope_key)
        await self.gate.wait()
        return await self.inner.retrieve(scope_key, query)

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await self.inner.get(scope_key, ids)


@pytest.mark.parametrize("repo", [None, "acme/api"])
async def test_with_memory_off_nothing_becomes_a_task(repo: str | None) -> None:
    scopes = request_scopes("acme", user_id="slack:U1", channel_id="slack:C1", repo=repo)
    with tasks_made() as tasks:
        recalled = await Recall(NullStore(), RANKER, Budget()).recall("s", scopes, "deploys")
    assert (recalled.scope_keys, recalled.records, recalled.is_degraded) == (scopes.keys(), (), False)
    assert tasks == []


async def test_what_is_all_at_hand_becomes_no_task() -> None:
    store = await Distant(at_hand=POOLED).taught()
    with tasks_made() as tasks:
        recalled = await Recall(store, RANKER, Budget()).recall("s", SCOPES, "deploys")
    assert [(each.scope_key, each.use_count) for each in recalled.records] == [(key, 1) for key in POOLED]
    assert (store.waiting, tasks) == ([], [])


@pytest.mark.parametrize("at_hand", [[], [CHANNEL], [ORG, USER], [CHANNEL, USER, REPO]])
async def test_the_rest_is_waited_for_side_by_side_and_stands_in_its_place(at_hand: list[str]) -> None:
    store = await Distant(at_hand).taught()
    asking = asyncio.ensure_future(Recall(store, RANKER, Budget()).recall("s", SCOPES, "deploys"))
    late = [key for key in POOLED if key not in at_hand]
    await until(lambda: store.waiting == late)
    store.gate.set()
    recalled = await asking
    assert [(each.scope_key, each.use_count) for each in recalled.records] == [(key, 1) for key in POOLED]
    assert not recalled.is_degraded


async def test_what_is_not_told_in_time_costs_nothing_of_what_was_at_hand() -> None:
    store = await Distant(at_hand=[ORG, USER, REPO]).taught()
    with structlog.testing.capture_logs() as lines:
        recalled = await Recall(store, RANKER, Budget(), recall_s=0.02).recall("s", SCOPES, "deploys")
    assert ([each.scope_key for each in recalled.records], recalled.is_degraded) == ([ORG, USER, REPO], True)
    assert [(line["event"], line["scope"]) for line in lines] == [(RECALL_TIMED_OUT, CHANNEL)]


async def test_a_scope_that_fails_at_once_costs_nothing_of_the_others() -> None:
    """Whether they are at hand, too, or have to be waited for."""
    store = await Distant(at_hand=[ORG, USER], broken=[CHANNEL]).taught()
    store.gate.set()
    with structlog.testing.capture_logs() as lines:
        recalled = await Recall(store, RANKER, Budget()).recall("s", SCOPES, "deploys")
    assert ([each.scope_key for each in recalled.records], recalled.is_degraded) == ([ORG, USER, REPO], True)
    assert [(line["event"], line["scope"]) for line in lines] == [(RECALL_INTERRUPTED, CHANNEL)]
    assert store.waiting == [REPO]


async def test_what_is_at_hand_is_had_while_the_repository_is_still_looked_for() -> None:
    store = await Distant(at_hand=POOLED).taught()
    promise = asyncio.Future[str | None]()
    asking = asyncio.ensure_future(Recall(store, RANKER, Budget()).recall("s", SCOPES, "deploys", promise))
    await asyncio.sleep(0)
    promise.set_result("acme/web")
    await until(lambda: store.waiting == ["repo:acme/web"])
    store.gate.set()
    recalled = await asking
    assert ([each.scope_key for each in recalled.records], recalled.is_degraded) == ([ORG, CHANNEL, USER], False)
    assert recalled.scope_keys == replace(SCOPES, repo="repo:acme/web").keys()
