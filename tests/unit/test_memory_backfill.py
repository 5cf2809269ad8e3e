"""Vectors that are made in the background: what asks for them, in what order, and what failures cost."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from memory import backfill as module
from memory.backfill import BATCH_RECORDS, KNOWN_SCOPES, LONGEST_REST_S, UNKEPT_REST_S, WAITING_SCOPES, Backfill
from memory.embedder import EmbedderUnavailableError
from memory.store import NoVectorsError, StoreDamagedError, StoreUnavailableError
from tests.fakes import until
from tests.memory_servers import HandClock
from tests.semantic_fakes import MODEL, FakeEmbedder, FakeKeeper

ORG, USER = "org:acme", "user:slack:U1"


@dataclass(slots=True)
class Rests:
    """Sleeps that take no time, except that the worker may be held in one that is long."""

    slept: list[float] = field(default_factory=list[float])
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go_on.set()

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
        if seconds >= 1:
            await self.go_on.wait()

    @property
    def long(self) -> list[float]:
        return [seconds for seconds in self.slept if seconds >= 1]


@dataclass(slots=True)
class Bench:
    keeper: FakeKeeper = field(default_factory=FakeKeeper)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    rests: Rests = field(default_factory=Rests)
    clock: HandClock = field(default_factory=HandClock)

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[Backfill]:
        backfill = Backfill(self.keeper, self.embedder, self.rests, monotonic=self.clock)
        async with asyncio.timeout(5):
            worker = asyncio.create_task(backfill.run())
            try:
                yield backfill
                if worker.done():
                    worker.result()
            finally:
                worker.cancel()
                await asyncio.gather(worker, return_exceptions=True)


async def test_a_written_record_gets_its_vector_beside_the_write() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "Deploys are frozen on Fridays")
    async with bench.working() as backfill:
        backfill.wrote(ORG)
        assert bench.embedder.calls == [], "nothing is embedded on the writer's path"
        await until(lambda: not bench.keeper.bare(ORG))
    assert {model for model, _ in bench.keeper.vectors.values()} == {MODEL}


async def test_a_scope_is_looked_at_when_it_is_first_used_and_then_no_more() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "one", "two")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: not bench.keeper.bare(ORG) and not len(backfill))
        await until(lambda: bool(bench.rests.slept))
        looks = len(bench.keeper.looks)
        for _ in range(10):
            backfill.used(ORG)
            await asyncio.sleep(0)
        assert len(bench.keeper.looks) == looks
        bench.keeper.add(ORG, "three")
        backfill.wrote(ORG)
        await until(lambda: not bench.keeper.bare(ORG))


async def test_a_write_during_the_work_is_not_missed() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "one")
    bench.embedder.is_open.clear()
    async with bench.working() as backfill:
        backfill.wrote(ORG)
        await until(lambda: len(bench.embedder.calls) == 1)
        bench.keeper.add(ORG, "two")
        backfill.wrote(ORG)
        bench.embedder.is_open.set()
        await until(lambda: not bench.keeper.bare(ORG))
    assert {text for call in bench.embedder.calls for text in call} == {"one", "two"}


async def test_records_go_in_batches_newest_first() -> None:
    bench = Bench()
    texts = [f"fact {number}" for number in range(2 * BATCH_RECORDS + 3)]
    bench.keeper.add(ORG, *texts)
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: not bench.keeper.bare(ORG))
    assert [len(call) for call in bench.embedder.calls] == [BATCH_RECORDS, BATCH_RECORDS, 3]
    assert [text for call in bench.embedder.calls for text in call] == texts[::-1]


async def test_scopes_take_turns() -> None:
    bench = Bench()
    bench.keeper.add(ORG, *(f"fact {number}" for number in range(5 * BATCH_RECORDS)))
    bench.keeper.add(USER, "mine")
    async with bench.working() as backfill:
        backfill.used(ORG)
        backfill.used(USER)
        await until(lambda: not bench.keeper.bare(USER))
        assert len(bench.embedder.calls) <= 2


async def test_the_worker_rests_as_long_as_it_worked() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "one")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: len(bench.rests.slept) == 1)
    assert 0 < bench.rests.slept[0] < 1


async def test_another_model_embeds_everything_again() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "one", "two")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: not bench.keeper.bare(ORG))
    other = Bench(bench.keeper, FakeEmbedder(model="fake/other"))
    async with other.working() as backfill:
        backfill.used(ORG)
        await until(lambda: {model for model, _ in bench.keeper.vectors.values()} == {"fake/other"})
    assert len(bench.keeper.vectors) == 2


async def test_failures_are_logged_once_and_rested_after_ever_longer() -> None:
    bench = Bench(embedder=FakeEmbedder(failure=EmbedderUnavailableError("nobody there")))
    bench.keeper.add(ORG, "The vault's code word is heliotrope")
    with capture_logs() as logs:
        async with bench.working() as backfill:
            backfill.wrote(ORG)
            await until(lambda: len(bench.rests.long) >= 12)
            bench.embedder.failure = None
            await until(lambda: not bench.keeper.bare(ORG))
    assert bench.rests.long[:4] == [1, 2, 4, 8]
    assert max(bench.rests.long) == LONGEST_REST_S
    events = [entry["event"] for entry in logs]
    assert events == [module.EMBEDDING_FAILED, module.EMBEDDING_RECOVERED]
    assert "heliotrope" not in repr(logs)


async def test_the_embedders_wish_to_be_left_alone_is_respected() -> None:
    bench = Bench(embedder=FakeEmbedder(failure=EmbedderUnavailableError("busy", retry_after_s=42)))
    bench.keeper.add(ORG, "one")
    bench.rests.go_on.clear()
    async with bench.working() as backfill:
        backfill.wrote(ORG)
        await until(lambda: bool(bench.rests.long))
        assert bench.rests.long == [42]


async def test_one_refused_record_holds_up_no_other() -> None:
    bench = Bench(embedder=FakeEmbedder(refused={"fact 3"}))
    bench.keeper.add(ORG, *(f"fact {number}" for number in range(BATCH_RECORDS + 4)))
    with capture_logs() as logs:
        async with bench.working() as backfill:
            backfill.used(ORG)
            await until(lambda: bench.keeper.bare(ORG) == ["fact 3"])
            bench.keeper.add(ORG, "new")
            backfill.wrote(ORG)
            await until(lambda: bench.keeper.bare(ORG) == ["fact 3"] and not len(backfill))
    refusals = [entry for entry in logs if entry["event"] == module.RECORDS_REFUSED]
    assert [entry["records"] for entry in refusals] == [[f"mem:{ORG}:4"]]
    assert bench.rests.long == []


async def test_a_refused_record_that_is_alone_is_left_out_too() -> None:
    bench = Bench(embedder=FakeEmbedder(refused={"bad"}))
    bench.keeper.add(ORG, "bad")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: bool(bench.rests.slept))
        calls = len(bench.embedder.calls)
        backfill.wrote(ORG)
        await until(lambda: len(bench.keeper.looks) == 2 and not len(backfill))
    assert len(bench.embedder.calls) == calls


async def test_a_batch_that_is_too_large_goes_one_by_one_and_nothing_is_left_out() -> None:
    bench = Bench(embedder=FakeEmbedder(most_texts=1))
    bench.keeper.add(ORG, "one", "two", "three")
    with capture_logs() as logs:
        async with bench.working() as backfill:
            backfill.used(ORG)
            await until(lambda: not bench.keeper.bare(ORG))
    assert logs == []


async def test_an_embedder_that_refuses_everything_is_an_outage_and_forgets_no_record() -> None:
    bench = Bench(embedder=FakeEmbedder(refused={"one", "two"}))
    bench.keeper.add(ORG, "one", "two")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: bool(bench.rests.long))
        bench.embedder.refused.clear()
        await until(lambda: not bench.keeper.bare(ORG))
    assert len(bench.embedder.calls) >= 2


async def test_a_call_that_never_ends_is_given_up() -> None:
    bench = Bench()
    bench.keeper.add(ORG, "one")
    bench.embedder.is_open.clear()
    backfill = Backfill(bench.keeper, bench.embedder, bench.rests, batch_s=0.02)
    async with asyncio.timeout(5):
        worker = asyncio.create_task(backfill.run())
        backfill.used(ORG)
        await until(lambda: bool(bench.rests.long))
        bench.embedder.is_open.set()
        await until(lambda: not bench.keeper.bare(ORG))
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    assert len(bench.embedder.calls) >= 2


async def test_a_store_that_fails_costs_its_scope_one_warning_until_the_next_write() -> None:
    bench = Bench(keeper=FakeKeeper(failure=StoreUnavailableError("the file is corrupt")))
    bench.keeper.add(ORG, "one")
    with capture_logs() as logs:
        async with bench.working() as backfill:
            for _ in range(5):
                backfill.used(ORG)
                await until(lambda: bool(bench.rests.slept) or bool(bench.keeper.looks))
                await asyncio.sleep(0)
            assert len(bench.keeper.looks) == 1
            bench.keeper.failure = None
            backfill.wrote(ORG)
            await until(lambda: not bench.keeper.bare(ORG))
    assert [entry["event"] for entry in logs] == [module.VECTORS_UNKEPT]


async def test_a_store_that_was_away_is_asked_again_at_a_later_use() -> None:
    """A service that starts anew, a database that comes late: nobody has to teach a scope something first."""
    bench = Bench(keeper=FakeKeeper(failure=StoreUnavailableError("it is starting")))
    bench.keeper.add(ORG, "one")
    with capture_logs() as logs:
        async with bench.working() as backfill:
            for looks in (1, 2, 3):
                backfill.used(ORG)
                await until(lambda looks=looks: len(bench.keeper.looks) == looks)
                bench.clock.at_s += UNKEPT_REST_S - 1
                backfill.used(ORG)
                assert not len(backfill)
                bench.clock.at_s += 1
            bench.keeper.failure = None
            backfill.used(ORG)
            await until(lambda: not bench.keeper.bare(ORG))
    assert [entry["event"] for entry in logs] == [module.VECTORS_UNKEPT]


@pytest.mark.parametrize("fault", [StoreDamagedError("it does not read"), ValueError("dimensions differ")])
async def test_what_no_other_try_does_better_is_left_until_the_next_write(fault: Exception) -> None:
    bench = Bench(keeper=FakeKeeper(failure=fault))
    bench.keeper.add(ORG, "one")
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: len(bench.keeper.looks) == 1)
        bench.clock.at_s += 100 * UNKEPT_REST_S
        backfill.used(ORG)
        assert not len(backfill)
        backfill.wrote(ORG)
        await until(lambda: len(bench.keeper.looks) == 2)


async def test_a_store_that_keeps_no_vectors_ends_the_work_at_once() -> None:
    keeper = FakeKeeper(failure=NoVectorsError("it is older than vectors"))
    keeper.add(ORG, "one")
    backfill = Backfill(keeper, FakeEmbedder(), Rests())
    backfill.used(ORG)
    backfill.used(USER)
    with capture_logs() as logs, pytest.raises(NoVectorsError):
        await asyncio.wait_for(backfill.run(), 5)
    assert (keeper.looks, logs) == ([ORG], []), "whoever started it tells of it"


async def test_a_dimension_the_store_does_not_have_is_never_stored() -> None:
    bench = Bench(keeper=FakeKeeper(dimension=3))
    bench.keeper.add(ORG, "one")
    with capture_logs() as logs:
        async with bench.working() as backfill:
            backfill.used(ORG)
            await until(lambda: bool(logs))
    assert bench.keeper.vectors == {}
    assert [entry["event"] for entry in logs] == [module.VECTORS_UNKEPT]


async def test_vectors_nobody_wants_any_more_end_the_work() -> None:
    bench = Bench(keeper=FakeKeeper(keeps=False))
    bench.keeper.add(ORG, *(f"fact {number}" for number in range(3 * BATCH_RECORDS)))
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: len(bench.rests.slept) == 1)
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(bench.embedder.calls) == 1


async def test_more_scopes_than_can_wait_are_asked_for_again_at_their_next_use() -> None:
    bench = Bench()
    backfill = Backfill(bench.keeper, bench.embedder, bench.rests)
    for number in range(WAITING_SCOPES + 1):
        backfill.used(f"user:slack:U{number}")
    assert len(backfill) == WAITING_SCOPES
    bench.keeper.add("org:late", "late")
    backfill.used("org:late")
    async with asyncio.timeout(5):
        worker = asyncio.create_task(backfill.run())
        await until(lambda: not len(backfill))
        backfill.used("org:late")
        await until(lambda: not bench.keeper.bare("org:late"))
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


async def test_a_write_that_finds_no_place_is_made_up_for_at_the_next_use() -> None:
    bench = Bench()
    async with bench.working() as backfill:
        backfill.used(ORG)
        await until(lambda: len(bench.rests.slept) == 1)
        for number in range(WAITING_SCOPES):
            backfill.used(f"user:slack:U{number}")
        bench.keeper.add(ORG, "one")
        backfill.wrote(ORG)
        await until(lambda: not len(backfill))
        assert bench.keeper.bare(ORG) == ["one"]
        backfill.used(ORG)
        await until(lambda: not bench.keeper.bare(ORG))


async def test_the_scopes_that_are_known_to_be_complete_are_bounded() -> None:
    bench = Bench()
    async with bench.working() as backfill:
        for number in range(KNOWN_SCOPES + 1):
            backfill.used(f"user:slack:U{number}")
            if number % (WAITING_SCOPES // 2) == 0:
                await until(lambda: not len(backfill))
        await until(lambda: len(bench.keeper.looks) == KNOWN_SCOPES + 1)
        await until(lambda: len(bench.rests.slept) == KNOWN_SCOPES + 1)
        backfill.used(f"user:slack:U{KNOWN_SCOPES}")
        assert not len(backfill)
        backfill.used("user:slack:U0")
        assert len(backfill) == 1


async def test_the_worker_ends_when_it_is_cancelled() -> None:
    bench = Bench()
    backfill = Backfill(bench.keeper, bench.embedder, bench.rests)
    worker = asyncio.create_task(backfill.run())
    await asyncio.sleep(0)
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker
