"""The read path: one pool over the request's own scopes, one block that stays stable in a session."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
import structlog

from memory.composition import Budget
from memory.ranker import KeywordRanker, Ranker
from memory.recall import RECALL_INTERRUPTED, RECALL_S, RECALL_TIMED_OUT, Recall, Recalled
from memory.record import MemoryCandidate, MemoryRecord
from memory.relevance import RelevanceRanker
from memory.render import block
from memory.scope import Scopes, parse_record_id, request_scopes
from memory.store import MemoryStore, Query, Retrieved, StoreUnavailableError, Vector
from memory.stores.inprocess import InProcessStore
from memory.stores.null import NullStore
from tests.fakes import ManualClock

ORG, REPO, CHANNEL, USER = "org:acme", "repo:acme/api", "channel:slack:C1", "user:slack:U1"
SCOPES = request_scopes("acme", user_id="slack:U1", channel_id="slack:C1")


@pytest.fixture(params=[KeywordRanker, RelevanceRanker])
def ranker(request: pytest.FixtureRequest) -> Ranker:
    made: Ranker = request.param()
    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(ranker: Ranker, clock: ManualClock) -> InProcessStore:
    return InProcessStore(ranker=ranker, now=clock.now)


async def teach(store: MemoryStore, key: str, *texts: str, standing: bool = False) -> None:
    await store.write(key, [MemoryCandidate("fact", text, "slack:C9:1.0", is_standing=standing) for text in texts])


def texts(records: Sequence[MemoryRecord]) -> list[str]:
    return [record.text for record in records]


def ids(recalled: Recalled) -> list[str]:
    return [record.id for record in recalled.records]


async def answer(value: str | None) -> str | None:
    await asyncio.sleep(0)
    return value


async def fail() -> str | None:
    raise RuntimeError("no such repository")


async def test_every_scope_of_the_request_is_read_and_no_other(ranker: Ranker, store: InProcessStore) -> None:
    """Specification, sections 21 and 22. Trap 9.

    Criterion: Read path merges org + repo + channel + user, names all four in the prefix, never another's scope.
    """
    for key in (ORG, REPO, CHANNEL, USER, "user:slack:U2", "channel:slack:C2", "repo:acme/web"):
        await teach(store, key, f"deploys in {key}")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys", answer("acme/api"))
    assert recalled.scope_keys == (ORG, REPO, CHANNEL, USER)
    assert {record.scope_key for record in recalled.records} == {ORG, REPO, CHANNEL, USER}
    assert recalled.block is not None
    assert recalled.block.startswith(f"Background memory for {ORG} + {REPO} + {CHANNEL} + {USER} (may be outdated")


async def test_equals_stand_in_the_order_org_channel_user_and_repo_last(ranker: Ranker, store: InProcessStore) -> None:
    """Section 4.4: the concatenation's order decides ties."""
    for key in (USER, REPO, CHANNEL, ORG):
        await teach(store, key, "deploys on Friday")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys on Friday", answer("acme/api"))
    assert [record.scope_key for record in recalled.records] == [ORG, CHANNEL, USER, REPO]


@pytest.mark.parametrize("resolution", [answer, fail])
async def test_a_repository_that_is_not_found_is_no_scope_and_no_error(
    ranker: Ranker, store: InProcessStore, resolution: object
) -> None:
    """Trap 44. Criterion: resolved-to-nothing or rejected → no repo scope, read still succeeds."""
    await teach(store, ORG, "deploys on Friday")
    repo = fail() if resolution is fail else answer(None)
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys", repo)
    assert recalled.scope_keys == (ORG, CHANNEL, USER)
    assert texts(recalled.records) == ["deploys on Friday"]


async def test_a_repository_that_is_known_at_once_is_read_too(ranker: Ranker, store: InProcessStore) -> None:
    await teach(store, REPO, "tests run with make")
    scopes = replace(SCOPES, repo=REPO)
    assert texts((await Recall(store, ranker, Budget()).recall("s", scopes, "tests")).records) == [
        "tests run with make"
    ]


async def test_without_an_identity_only_the_organisation_is_read(ranker: Ranker, store: InProcessStore) -> None:
    """Criterion: org-only prefix without identity (section 22)."""
    await teach(store, ORG, "deploys on Friday")
    recalled = await Recall(store, ranker, Budget()).recall("s", Scopes(ORG), "deploys")
    assert recalled.scope_keys == (ORG,)


async def test_the_budget_is_one_for_all_scopes(ranker: Ranker, store: InProcessStore) -> None:
    """Criterion: limit/budget apply to the merged pool (sections 6 and 22)."""
    for key in (ORG, CHANNEL, USER):
        await teach(store, key, *(f"deploys number {n} of {key}" for n in range(5)))
    recalled = await Recall(store, ranker, Budget(limit=4)).recall("s", SCOPES, "deploys")
    assert len(recalled.records) == 4


async def test_a_standing_record_governs_a_question_it_shares_no_word_with(
    ranker: Ranker, store: InProcessStore
) -> None:
    await teach(store, USER, "answer in German", standing=True)
    await teach(store, ORG, "deploys on Friday")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "when are deploys?")
    assert texts(recalled.records) == ["answer in German", "deploys on Friday"]


async def test_a_block_is_made_again_from_the_ids_of_its_records(ranker: Ranker, store: InProcessStore) -> None:
    """Issue: every injected block is reproducible from the records' ids."""
    await teach(store, USER, "answer in German", standing=True)
    await teach(store, ORG, "deploys on <Friday>", "deploys & releases")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys")
    again = [(await store.get(parsed[0], [each]))[0] for each in ids(recalled) if (parsed := parse_record_id(each))]
    assert len(again) == 3
    assert block(recalled.scope_keys, again) == recalled.block


async def test_nothing_that_matches_means_no_block(ranker: Ranker, store: InProcessStore) -> None:
    """Section 7, trap 10."""
    await teach(store, ORG, "deploys on Friday")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "zebra")
    assert (recalled.records, recalled.block, recalled.is_degraded) == ((), None, False)


async def test_a_sessions_block_stays_the_same_until_something_new_is_needed(
    ranker: Ranker, store: InProcessStore, clock: ManualClock
) -> None:
    await teach(store, ORG, "deploys on Friday", "the staging port is 5433", "lunch is at noon")
    recall = Recall(store, ranker, Budget())
    first = await recall.recall("s", SCOPES, "deploys and the staging port")
    clock.elapsed_s += 3600
    again = await recall.recall("s", SCOPES, "port?")
    nothing = await recall.recall("s", SCOPES, "zebra")
    assert first.block == again.block == nothing.block
    more = await recall.recall("s", SCOPES, "lunch?")
    assert texts(more.records) == [*texts(first.records), "lunch is at noon"]
    assert more.block is not None
    assert first.block is not None
    assert more.block.startswith(first.block.removesuffix("\n</background_memory>"))
    other = await recall.recall("another session", SCOPES, "lunch?")
    assert texts(other.records) == ["lunch is at noon"]


async def test_people_who_take_turns_in_a_thread_each_keep_their_block(ranker: Ranker, store: InProcessStore) -> None:
    await teach(store, ORG, "deploys on Friday", "the staging port is 5433", "lunch is at noon")
    recall, others = Recall(store, ranker, Budget()), replace(SCOPES, user="user:slack:U2")
    first = await recall.recall("s", SCOPES, "deploys and the staging port")
    between = await recall.recall("s", others, "lunch?")
    again = await recall.recall("s", SCOPES, "port?")
    assert texts(between.records) == ["lunch is at noon"]
    assert first.block == again.block


async def test_a_retired_record_leaves_the_sessions_block_at_once(ranker: Ranker, store: InProcessStore) -> None:
    await teach(store, ORG, "deploys on Friday", "the staging port is 5433")
    recall = Recall(store, ranker, Budget())
    shown = await recall.recall("s", SCOPES, "deploys and the staging port")
    gone = next(record for record in shown.records if "Friday" in record.text)
    await store.forget(ORG, gone.id)
    after = await recall.recall("s", SCOPES, "port?")
    assert texts(after.records) == ["the staging port is 5433"]


class Broken(InProcessStore):
    """Degraded in the channel's scope."""

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved:
        found = super().retrieve_at_once(scope_key, query)
        return replace(found, hits=(), is_degraded=True) if scope_key == CHANNEL else found


class Silent(InProcessStore):
    """Searched, but no record can be fetched by its id."""

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        raise StoreUnavailableError(f"{scope_key} has {len(ids)} records out of reach")


class Stuck(InProcessStore):
    """Searched, but fetching a record by its id never comes to an end."""

    async def get(self, scope_key: str, ids: Sequence[str]) -> Sequence[MemoryRecord]:
        return await asyncio.Future[Sequence[MemoryRecord]]()


@pytest.mark.parametrize("kind", [Silent, Stuck])
async def test_what_was_shown_and_cannot_be_looked_at_is_not_taken_for_gone(
    ranker: Ranker, clock: ManualClock, kind: type[InProcessStore]
) -> None:
    """The block starts afresh with what is found, and is told to be less than it could be."""
    store = kind(ranker=ranker, now=clock.now)
    await teach(store, ORG, "deploys on Friday", "lunch at noon")
    recall = Recall(store, ranker, Budget(), recall_s=0.1)
    assert not (await recall.recall("s", SCOPES, "deploys")).is_degraded
    with structlog.testing.capture_logs() as lines:
        recalled = await recall.recall("s", SCOPES, "lunch")
    assert (texts(recalled.records), recalled.is_degraded) == (["lunch at noon"], True)
    assert [line["event"] for line in lines] == [RECALL_INTERRUPTED]


async def test_a_scope_that_cannot_be_read_costs_only_itself(ranker: Ranker, clock: ManualClock) -> None:
    store = Broken(ranker=ranker, now=clock.now)
    await teach(store, ORG, "deploys on Friday")
    await teach(store, CHANNEL, "deploys never")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys")
    assert (texts(recalled.records), recalled.is_degraded) == (["deploys on Friday"], True)


async def test_an_answer_does_not_wait_for_a_repository_for_ever(ranker: Ranker, store: InProcessStore) -> None:
    """Trap 43. The bound is the product's; here somebody else's deadline stands in for it."""
    assert RECALL_S <= 5
    recall = Recall(store, ranker, Budget(), recall_s=0.02)
    recalled = await recall.recall("s", SCOPES, "deploys", asyncio.Future[str | None]())
    assert (recalled.block, recalled.is_degraded) == (None, True)


async def test_a_repository_that_is_known_too_late_costs_only_its_own_scope(
    ranker: Ranker, store: InProcessStore
) -> None:
    """Section 22: the read itself never fails for it. Criterion: the repo may arrive as a promise."""
    await teach(store, ORG, "deploys on Friday")
    recall = Recall(store, ranker, Budget(), recall_s=0.02)
    recalled = await recall.recall("s", SCOPES, "deploys", asyncio.Future[str | None]())
    assert (texts(recalled.records), recalled.is_degraded) == (["deploys on Friday"], True)
    assert recalled.scope_keys == (ORG, CHANNEL, USER)


async def test_whoever_else_waits_for_the_repository_still_learns_it(ranker: Ranker, store: InProcessStore) -> None:
    promise = asyncio.Future[str | None]()
    await Recall(store, ranker, Budget(), recall_s=0.02).recall("s", SCOPES, "deploys", promise)
    promise.set_result("acme/api")
    assert await promise == "acme/api"


@pytest.mark.parametrize("name", ["", "two words", "acme/api\x00", "x" * 300])
async def test_a_repository_whose_name_makes_no_scope_is_none(ranker: Ranker, store: InProcessStore, name: str) -> None:
    await teach(store, ORG, "deploys on Friday")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys", answer(name))
    assert (recalled.scope_keys, recalled.is_degraded) == ((ORG, CHANNEL, USER), False)
    assert texts(recalled.records) == ["deploys on Friday"]


class Slow(NullStore):
    """Answers for the channel once somebody allows it, which nobody does."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved | None:
        return None

    async def retrieve(self, scope_key: str, query: Query) -> Retrieved:
        return await (asyncio.Future[Retrieved]() if scope_key == CHANNEL else self._store.retrieve(scope_key, query))


async def test_a_scope_that_is_not_read_in_time_costs_only_itself(ranker: Ranker, store: InProcessStore) -> None:
    """Trap 43."""
    await teach(store, ORG, "deploys on Friday")
    with structlog.testing.capture_logs() as lines:
        recalled = await Recall(Slow(store), ranker, Budget(), recall_s=0.02).recall("s", SCOPES, "deploys")
    assert (texts(recalled.records), recalled.is_degraded) == (["deploys on Friday"], True)
    assert [(line["event"], line["scope"]) for line in lines] == [(RECALL_TIMED_OUT, CHANNEL)]


async def test_a_store_that_refuses_costs_the_answer_nothing_but_its_memory(
    ranker: Ranker, store: InProcessStore
) -> None:
    """Trap 43: whoever still answers while everything is being closed."""
    await store.aclose()
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys")
    assert (recalled.block, recalled.is_degraded) == (None, True)


async def test_the_querys_embedding_reaches_the_store(ranker: Ranker, clock: ManualClock) -> None:
    seen: list[Query] = []

    class Watching(InProcessStore):
        def retrieve_at_once(self, scope_key: str, query: Query) -> Retrieved:
            seen.append(query)
            return super().retrieve_at_once(scope_key, query)

    async def embed(text: str) -> Vector | None:
        return Vector("m", (float(len(text)),))

    store = Watching(ranker=ranker, now=clock.now)
    await Recall(store, ranker, Budget(), embed).recall("s", SCOPES, "deploys")
    assert {query.vector for query in seen} == {Vector("m", (7.0,))}


async def test_the_keyword_pool_is_scored_again_as_just_used(clock: ManualClock) -> None:
    """Section 22: being returned has made every record recent, so that the match alone orders the pool."""
    ranker = KeywordRanker()
    store = InProcessStore(ranker=ranker, now=clock.now)
    await teach(store, USER, "deploys happen on Friday evening")
    clock.elapsed_s += 30 * 86_400
    await teach(store, ORG, "deploys")
    recalled = await Recall(store, ranker, Budget()).recall("s", SCOPES, "deploys Friday")
    assert [record.scope_key for record in recalled.records] == [USER, ORG]
