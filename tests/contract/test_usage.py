"""What the usage port promises, over every state database (session lifecycle, section 2: the counters)."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, select

from app.agents.pricing import Total, described
from app.sessions.entry import Cost, SessionId, SessionKey, Tokens
from app.sessions.usage import By, Run, Share, Spent, Task, Usage, Which
from app.state import run_rows
from app.state.engine import Database
from app.state.tables import runs
from app.state.usage import StateUsage
from tests.fakes import EPOCH

FIRST, SECOND = SessionKey("agent:main:slack:channel:C1:1"), SessionKey("agent:main:slack:dm:D1")
RUN = Run(
    reference="abcd1234",
    session_key=FIRST,
    session_id=SessionId("20261129_120000_00000001"),
    user_id="slack:U1",
    channel_id="slack:C1",
    outcome="answered",
    tokens=Tokens(10, 5, 100, 20),
    cost=Cost(4_200, "estimated"),
    started_at=EPOCH,
    ended_at=EPOCH + timedelta(seconds=3),
    agent="general",
    model="anthropic/x",
)
NOTHING = Spent(Tokens(), Total())


@pytest.fixture
def usage(database: Database) -> Usage:
    return StateUsage(database)


async def test_nothing_was_spent_before_the_first_run(usage: Usage) -> None:
    assert await usage.total(Which()) == NOTHING
    assert await usage.shares(By.USER, Which()) == []


async def test_a_run_is_counted_by_kind(usage: Usage) -> None:
    await usage.record(RUN)
    assert await usage.total(Which()) == Spent(Tokens(10, 5, 100, 20), Total(4_200, runs=1), calls=1)


async def test_everything_about_a_run_is_kept(database: Database, usage: Usage) -> None:
    whole = replace(RUN, memory_records=("mem:org:acme:1", "mem:user:slack:U1:2"), task=Task.COMPRESSION, calls=3)
    await usage.record(whole)
    row = await database.read(lambda connection: dict(connection.execute(select(runs)).mappings().one()))
    assert json.loads(row.pop("memory_records")) == list(whole.memory_records)
    assert row.pop("id") is not None
    assert row == {
        "reference": "abcd1234",
        "session_key": FIRST,
        "session_id": RUN.session_id,
        "user_id": "slack:U1",
        "channel_id": "slack:C1",
        "task": "compression",
        "agent": "general",
        "model": "anthropic/x",
        "outcome": "answered",
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_tokens": 100,
        "cache_write_tokens": 20,
        "is_partial": False,
        "calls": 3,
        "cost_microusd": 4_200,
        "cost_status": "estimated",
        "started_at": EPOCH,
        "ended_at": EPOCH + timedelta(seconds=3),
    }


async def test_calls_are_summed_up_whatever_they_were_for(usage: Usage) -> None:
    for calls, task in ((2, Task.TURN), (1, Task.REFLECTION), (0, Task.TURN)):
        await usage.record(replace(RUN, calls=calls, task=task))
    assert (await usage.total(Which(session_key=FIRST))).calls == 3
    assert {share.name: share.spent.calls for share in await usage.shares(By.TASK, Which())} == {
        "turn": 2,
        "reflection": 1,
    }


async def test_unknown_cost_is_counted_and_never_taken_for_zero(usage: Usage) -> None:
    for cost in (Cost(420_000, "estimated"), Cost(), Cost(), Cost(), Cost(0, "included")):
        await usage.record(replace(RUN, cost=cost))
    spent = await usage.total(Which())
    assert spent.cost == Total(420_000, runs=5, included=1, unknown=3)
    assert described(spent.cost) == "$0.42 and 3 runs of unknown cost"


async def test_what_was_not_counted_whole_makes_a_sum_that_is_at_least_so_much(usage: Usage) -> None:
    await usage.record(RUN)
    assert not (await usage.total(Which())).tokens.is_partial
    await usage.record(replace(RUN, tokens=Tokens(10, is_partial=True), cost=Cost(30, "at_least")))
    await usage.record(replace(RUN, tokens=Tokens(is_partial=True), cost=Cost()))
    spent = await usage.total(Which())
    assert spent == Spent(Tokens(20, 5, 100, 20, is_partial=True), Total(4_230, runs=3, at_least=2), calls=3)
    assert described(spent.cost) == "at least $0.0042"


async def test_a_run_without_a_price_stays_unknown_however_much_of_it_was_counted(usage: Usage) -> None:
    for tokens in (Tokens(10, is_partial=True), Tokens(10), Tokens()):
        await usage.record(replace(RUN, tokens=tokens, cost=Cost()))
    assert (await usage.total(Which())).cost == Total(runs=3, unknown=3)


async def test_a_conversation_is_summed_up_over_its_incarnations_or_for_one(usage: Usage) -> None:
    later = SessionId("20261130_120000_00000002")
    await usage.record(RUN)
    await usage.record(replace(RUN, session_id=later, cost=Cost(800, "estimated")))
    await usage.record(replace(RUN, session_key=SECOND, session_id=SessionId("other")))
    assert (await usage.total(Which(session_key=FIRST))).cost == Total(5_000, runs=2)
    assert (await usage.total(Which(session_id=later))).cost == Total(800, runs=1)
    assert await usage.total(Which(session_key=SECOND, session_id=later)) == NOTHING


async def test_one_persons_runs_are_nobody_elses(usage: Usage) -> None:
    await usage.record(RUN)
    await usage.record(replace(RUN, user_id="slack:U2", channel_id="slack:C2"))
    assert (await usage.total(Which(user_id="slack:U1"))).cost.runs == 1
    assert (await usage.total(Which(channel_id="slack:C2"))).cost.runs == 1
    assert await usage.total(Which(user_id="slack:U1", channel_id="slack:C2")) == NOTHING
    assert [share.name for share in await usage.shares(By.CHANNEL, Which(user_id="slack:U2"))] == ["slack:C2"]


async def test_a_date_counts_what_ended_then_or_later(usage: Usage) -> None:
    for days in (0, 1, 2):
        await usage.record(replace(RUN, ended_at=EPOCH + timedelta(days=days)))
    since = EPOCH + timedelta(days=1)
    assert (await usage.total(Which(since=since))).cost.runs == 2
    assert (await usage.total(Which(since=since + timedelta(microseconds=1)))).cost.runs == 1


async def test_shares_come_with_the_most_expensive_first_then_the_longest_then_by_name(usage: Usage) -> None:
    cheap, unknown = Cost(1, "estimated"), Cost()
    await usage.record(replace(RUN, model="a/cheap", cost=cheap))
    await usage.record(replace(RUN, model=None, tokens=Tokens(), cost=unknown))
    await usage.record(replace(RUN, model="a/unknown", tokens=Tokens(), cost=unknown))
    await usage.record(replace(RUN, model="a/unknown-and-long", tokens=Tokens(1), cost=unknown))
    await usage.record(replace(RUN, model="a/dear"))
    await usage.record(replace(RUN, model="a/dear", cost=unknown))
    found = await usage.shares(By.MODEL, Which())
    assert [share.name for share in found] == ["a/dear", "a/cheap", "a/unknown-and-long", "a/unknown", None]
    assert found[0] == Share("a/dear", Spent(Tokens(20, 10, 200, 40), Total(4_200, runs=2, unknown=1), calls=2))
    assert list(await usage.shares(By.MODEL, Which(), limit=2)) == found[:2]


@pytest.mark.parametrize(
    ("by", "names"),
    [
        (By.USER, {"slack:U1", "slack:U2"}),
        (By.CHANNEL, {"slack:C1", "slack:D1"}),
        (By.MODEL, {"anthropic/x", "openai/y"}),
        (By.TASK, {"turn", "compression"}),
    ],
)
async def test_sums_are_told_apart_by_whatever_is_asked(usage: Usage, by: By, names: set[str]) -> None:
    await usage.record(RUN)
    await usage.record(replace(RUN, user_id="slack:U2", channel_id="slack:D1", model="openai/y", task=Task.COMPRESSION))
    found = await usage.shares(by, Which())
    assert {share.name for share in found} == names
    assert all(share.spent.cost == Total(4_200, runs=1) for share in found)


async def test_sums_beyond_a_machine_word_of_four_bytes_are_exact(usage: Usage) -> None:
    most = 2**40
    await usage.record(replace(RUN, tokens=Tokens(most), cost=Cost(most, "estimated")))
    await usage.record(replace(RUN, tokens=Tokens(most), cost=Cost(most, "estimated")))
    spent = await usage.total(Which())
    assert (spent.tokens.input, spent.cost.microusd) == (2 * most, 2 * most)
    assert isinstance(spent.tokens.input, int)


async def test_a_run_written_inside_another_transaction_shares_its_fate(database: Database, usage: Usage) -> None:
    def fail(connection: Connection) -> None:
        run_rows.insert(connection, RUN)
        raise LookupError("afterwards")

    with pytest.raises(LookupError):
        await database.write(fail)
    assert await usage.total(Which()) == NOTHING
