"""Compressing in place: under the same session id, one at a time, and never wedged by a model that fails."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest
import structlog

from app.agents.pricing import Price
from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.background import Background
from app.channel import ThreadKey
from app.errors import (
    ConfigurationError,
    ModelBusyError,
    ModelKeyError,
    ModelUnreachableError,
    PromptTooLongError,
    StateError,
)
from app.sessions.compression import Cause, Limits
from app.sessions.compression_outcome import Outcome, Result
from app.sessions.compressor import BeforeLoss, Compressor, Policy, Ports, Transcripts
from app.sessions.entry import Cost, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.store import SessionStore
from app.sessions.summariser import Conversation, Summariser
from app.sessions.summary import WITHOUT_MODEL
from app.sessions.transcript import Kind, TranscriptMessage
from app.sessions.usage import By, Run, Share, Spent, Task, Which
from memory.scorer import estimated_tokens
from tests.fakes import EPOCH, ManualClock, OneModel, ScriptedProvider, until
from tests.transcripts import Offered, OneTranscript, signs_of, transcript

LONG = "{sign}{number} " + "word " * 100
KEY, ID = SessionKey("agent:main:slack:channel:C1:1"), SessionId("20261129_120000_00000001")
WHERE = Conversation(KEY, ID, "slack:U1", "slack:C1", "abcd1234", "test/scripted", window=4_000)
ENTRY = SessionEntry(KEY, ID, ThreadKey("slack:C1:1"), EPOCH, EPOCH, last_prompt_tokens=1_000)
DOWN = ModelUnreachableError("down")


class KeptRuns:
    """A ``Usage`` that keeps what it is told."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    async def record(self, run: Run) -> None:
        self.runs.append(run)

    async def total(self, which: Which) -> Spent:
        raise NotImplementedError

    async def shares(self, by: By, which: Which, *, limit: int = 100) -> Sequence[Share]:
        raise NotImplementedError


class BreakingOff(ScriptedProvider):
    """Ends each answer without an end."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        yield TextDelta("The ")


class NoModel:
    def resolve(self, reference: str) -> OneModel:
        raise ConfigurationError(reference)


@dataclass(slots=True)
class House:
    """A compressor and everything around it."""

    signs: str = "qaqaqaqa"
    content: str = LONG
    before_loss: BeforeLoss = field(default_factory=Offered)
    before_loss_s: float = 2.0
    timeout_s: float = 2.0
    prices: dict[str, Price] = field(default_factory=dict[str, Price])
    provider: ScriptedProvider = field(default_factory=lambda: ScriptedProvider(["The ", "notes."]))
    clock: ManualClock = field(default_factory=ManualClock)
    usage: KeptRuns = field(default_factory=KeptRuns)
    background: Background = field(default_factory=Background)
    store: OneTranscript = field(init=False)
    compressor: Compressor = field(init=False)

    def __post_init__(self) -> None:
        self.store = OneTranscript(transcript(self.signs, self.content), ENTRY)
        self.compressor = self.over(OneModel(self.provider))

    def over(self, models: OneModel | NoModel) -> Compressor:
        summariser = Summariser(models, self.usage, self.clock, prices=self.prices, timeout_s=self.timeout_s)
        ports = Ports(self.store, summariser, self.background, self.clock, self.before_loss)
        return Compressor(ports, Policy(protect_first=2, protect_last=2, before_loss_s=self.before_loss_s))

    async def compress(self, cause: Cause = Cause.THRESHOLD) -> Outcome:
        return await self.compressor.compress(WHERE, cause=cause)

    @property
    def signs_now(self) -> str:
        return signs_of(self.store.messages)


def is_port_of(store: SessionStore) -> Transcripts:
    """The session store gives all that a compression needs; the type checker is the judge."""
    return store


async def test_a_summary_takes_the_place_of_the_middle_under_the_same_session_id() -> None:
    house = House()
    before = house.store.messages
    outcome = await house.compress()
    after = house.store.messages
    assert outcome.result is Result.SUMMARISED
    assert (*after[:2], *after[3:]) == (*before[:2], *before[6:])
    summary = after[2]
    assert (summary.kind, summary.role, summary.content, summary.at) == (Kind.SUMMARY, "user", "The notes.", EPOCH)
    assert (outcome.messages_before, outcome.messages_after) == (8, 5)
    assert outcome.tokens_before > outcome.tokens_after
    assert (house.store.rewritten, house.store.entry is not None and house.store.entry.session_id) == (1, ID)


async def test_the_model_is_shown_the_middle_and_nothing_else() -> None:
    house = House()
    await house.compressor.compress(WHERE, focus="the release")
    (request,) = house.provider.requests
    text = request.messages[0].text
    assert request.model == "scripted"
    assert [f"] {name} " in text for name in ("q0", "a1", "q2", "a3", "q4", "a5", "q6", "a7")] == [
        False,
        False,
        *[True] * 4,
        False,
        False,
    ]
    assert "the release" in text


async def test_the_count_that_set_it_off_is_replaced_until_a_provider_counts_anew() -> None:
    """Session lifecycle, section 2: without it, every following turn would compress again."""
    house = House()
    house.store.entry = replace(ENTRY, last_prompt_tokens=3_400)
    outcome = await house.compress()
    assert house.store.entry.last_prompt_tokens == outcome.tokens_after < 1_000


async def test_the_count_of_another_session_is_left_alone() -> None:
    house = House()
    house.store.entry = replace(ENTRY, session_id=SessionId("another"))
    assert (await house.compress()).has_changed
    assert house.store.entry.last_prompt_tokens == 1_000
    bare = House()
    bare.store.entry = None
    assert (await bare.compress()).has_changed


async def test_an_earlier_summary_becomes_part_of_the_new_one() -> None:
    house = House("qasqaqaqa")
    assert (await house.compress()).result is Result.SUMMARISED
    assert house.signs_now == "qasqa"
    assert "[earlier summary] s2 word" in house.provider.requests[0].messages[0].text


async def test_a_short_conversation_costs_no_call() -> None:
    house = House("qaqa", content="short")
    outcome = await house.compress(Cause.COMMAND)
    assert (outcome.result, outcome.messages_after) == (Result.NOTHING, 4)
    assert house.provider.requests == []
    assert house.usage.runs == []


async def test_what_a_summary_cost_is_accounted_for_as_a_compression() -> None:
    house = House(prices={"test/scripted": Price(Decimal(3), Decimal(15))})
    await house.compress()
    (run,) = house.usage.runs
    assert (run.task, run.outcome, run.model) == (Task.COMPRESSION, "summarised", "test/scripted")
    assert (run.session_key, run.session_id, run.user_id, run.channel_id) == (KEY, ID, "slack:U1", "slack:C1")
    assert (run.tokens, run.cost) == (Tokens(input=3, output=5), Cost(84, "estimated"))


async def test_without_a_price_the_cost_is_unknown() -> None:
    house = House()
    await house.compress()
    assert [run.cost for run in house.usage.runs] == [Cost(None, "unknown")]


@pytest.mark.parametrize("fault", [DOWN, ModelBusyError("busy", 1.0), ModelKeyError("key")])
async def test_a_model_that_fails_leaves_the_conversation_whole_while_there_is_room(fault: Exception) -> None:
    house = House(provider=ScriptedProvider(["The ", fault]))
    outcome = await house.compress()
    assert (outcome.result, outcome.messages_after, house.store.rewritten) == (Result.FAILED, 8, 0)
    (run,) = house.usage.runs
    assert (run.outcome, run.tokens, run.cost) == ("failed", Tokens(is_partial=True), Cost(None, "unknown"))


@pytest.mark.parametrize(
    "script",
    [
        [" \n"],
        ["I would rather not", Completed(StopReason.REFUSAL, Usage(7, 1))],
    ],
)
async def test_an_answer_that_is_no_summary_is_a_failure_and_is_paid_for(script: list[str | Completed]) -> None:
    house = House(provider=ScriptedProvider(script))
    assert (await house.compress()).result is Result.FAILED
    assert [(run.outcome, run.tokens.total > 0) for run in house.usage.runs] == [("failed", True)]


async def test_a_summary_that_was_cut_at_its_limit_is_one_and_is_kept_to_its_budget() -> None:
    house = House(provider=ScriptedProvider(["word " * 2_000, Completed(StopReason.LENGTH, Usage(1, 1))]))
    assert (await house.compress()).result is Result.SUMMARISED
    kept = house.store.messages[2].content
    assert kept.endswith(" …")
    assert estimated_tokens(kept) <= Limits(4_000).summary_tokens == 200


async def test_a_model_that_stalls_is_given_up_at_the_deadline() -> None:
    house = House(timeout_s=0.01, provider=ScriptedProvider(["The ", asyncio.Event()]))
    assert (await house.compress()).result is Result.FAILED
    assert house.provider.closed_early == 1
    assert [run.cost for run in house.usage.runs] == [Cost(None, "unknown")]


async def test_a_stream_that_breaks_off_is_a_failure() -> None:
    house = House(provider=BreakingOff([]))
    assert (await house.compress()).result is Result.FAILED
    assert len(house.provider.requests) == 1


async def test_after_a_failure_the_model_is_left_alone_for_a_while_and_after_two_done_without() -> None:
    house = House(provider=ScriptedProvider([DOWN]))
    assert (await house.compress()).result is Result.FAILED
    house.clock.elapsed_s = 59.0
    outcome = await house.compress()
    assert (outcome.result, outcome.retry_in_s) == (Result.COOLING_DOWN, 1.0)
    assert len(house.provider.requests) == 1
    house.clock.elapsed_s = 60.0
    assert (await house.compress()).result is Result.SHORTENED
    assert len(house.provider.requests) == 2
    assert house.signs_now == "qasqa"
    assert house.store.messages[2].content.startswith(WITHOUT_MODEL)
    assert "\n- Ada: q4 word" in house.store.messages[2].content


async def test_in_a_cool_down_a_refused_prompt_is_let_through_once_and_always_helped() -> None:
    house = House(provider=ScriptedProvider([DOWN]))
    assert (await house.compress()).result is Result.FAILED
    assert (await house.compress(Cause.OVERFLOW)).result is Result.SHORTENED
    assert len(house.provider.requests) == 2
    house.store.messages = transcript("qaqaqaqa", LONG)
    assert (await house.compress(Cause.OVERFLOW)).result is Result.SHORTENED
    assert len(house.provider.requests) == 2


async def test_in_a_cool_down_a_person_is_let_through_and_a_success_ends_it() -> None:
    house = House(provider=ScriptedProvider([DOWN]))
    assert (await house.compress()).result is Result.FAILED
    house.provider.play(["The notes."])
    assert (await house.compress(Cause.COMMAND)).result is Result.SUMMARISED
    house.store.messages = transcript("qaqaqaqa", LONG)
    assert (await house.compress()).result is Result.SUMMARISED


async def test_a_middle_that_is_too_long_for_the_model_itself_is_done_without_it() -> None:
    house = House(provider=ScriptedProvider([PromptTooLongError("too long")]))
    assert (await house.compress()).result is Result.SHORTENED


async def test_cool_downs_of_long_ago_are_forgotten() -> None:
    house = House(provider=ScriptedProvider([DOWN]))
    await house.compressor.compress(replace(WHERE, session_id=SessionId("old")))
    house.clock.elapsed_s = 90_000.0
    await house.compress()
    assert list(house.compressor._cool_downs) == [ID]  # pyright: ignore[reportPrivateUsage]


async def test_what_does_not_fit_even_so_is_cut_to_its_ends_and_says_so() -> None:
    """The terminal state: nothing more can be taken away, and the outcome tells it."""
    house = House("qaqaqa", content="x" * 20_000)
    outcome = await house.compress(Cause.OVERFLOW)
    assert (outcome.result, outcome.fits, house.signs_now) == (Result.CUT, False, "qa")
    again = await house.compress(Cause.OVERFLOW)
    assert (again.result, again.fits, house.store.rewritten) == (Result.NOTHING, False, 1)


async def test_a_compressed_conversation_that_is_refused_again_gives_up_its_summary() -> None:
    house = House()
    await house.compress(Cause.OVERFLOW)
    assert house.signs_now == "sqa"
    assert (await house.compress(Cause.OVERFLOW)).result is Result.CUT
    assert house.signs_now == "qa"
    assert (await house.compress(Cause.OVERFLOW)).result is Result.NOTHING


async def test_what_would_be_lost_is_offered_before_it_is_gone() -> None:
    offered = Offered()
    at_offer: list[int] = []

    async def offer(key: SessionKey, messages: Sequence[TranscriptMessage], /) -> None:
        at_offer.append(house.store.rewritten)
        await offered(key, messages)

    house = House("qasqaqaqa", before_loss=offer)
    await house.compress()
    assert (signs_of(offered.lost), at_offer) == ("sqaqa", [0])


async def test_a_failure_to_take_what_would_be_lost_stops_nothing() -> None:
    house = House(before_loss=Offered(fault=RuntimeError("boom")))
    with structlog.testing.capture_logs() as lines:
        assert (await house.compress()).result is Result.SUMMARISED
    assert "task_failed" in [line["event"] for line in lines]


async def test_taking_long_over_what_would_be_lost_stops_nothing_and_goes_on() -> None:
    gate = asyncio.Event()
    done: list[bool] = []

    async def slow(_key: SessionKey, _messages: Sequence[TranscriptMessage], /) -> None:
        await gate.wait()
        done.append(True)

    house = House(before_loss=slow, before_loss_s=0.01)
    assert (await house.compress()).result is Result.SUMMARISED
    assert (done, len(house.background)) == ([], 1)
    gate.set()
    await until(lambda: done == [True])


async def together(*work: Coroutine[Any, Any, Outcome]) -> list[Outcome]:
    async with asyncio.timeout(2):
        return await asyncio.gather(*work)


async def test_a_session_is_compressed_by_one_at_a_time() -> None:
    gate = asyncio.Event()
    house = House(provider=ScriptedProvider([gate, "The notes."]))
    both = asyncio.gather(house.compress(), house.compress())
    await until(lambda: len(house.provider.requests) == 1)
    gate.set()
    results = [outcome.result for outcome in await both]
    assert results == [Result.SUMMARISED, Result.NOTHING]
    assert (len(house.provider.requests), house.store.rewritten) == (1, 1)


async def test_sessions_do_not_wait_for_each_other() -> None:
    gate = asyncio.Event()
    house = House(provider=ScriptedProvider([gate, "The notes."]))
    other = replace(WHERE, session_id=SessionId("other"))
    both = asyncio.gather(house.compress(), house.compressor.compress(other))
    await until(lambda: len(house.provider.requests) == 2)
    gate.set()
    assert [outcome.result for outcome in await both].count(Result.SUMMARISED) >= 1


async def test_what_is_said_meanwhile_stays_at_the_end() -> None:
    gate = asyncio.Event()
    house = House(provider=ScriptedProvider([gate, "The notes."]))
    under_way = asyncio.gather(house.compress())
    await until(lambda: len(house.provider.requests) == 1)
    house.store.messages = transcript("qaqaqaqaoq", LONG)
    gate.set()
    (outcome,) = await under_way
    assert (outcome.result, house.signs_now) == (Result.SUMMARISED, "qasqaoq")


async def test_a_conversation_that_became_another_one_meanwhile_is_left_alone() -> None:
    gate = asyncio.Event()
    house = House(provider=ScriptedProvider([gate, "The notes."]))
    under_way = asyncio.gather(house.compress())
    await until(lambda: len(house.provider.requests) == 1)
    house.store.messages = transcript("qa", LONG)
    gate.set()
    (outcome,) = await under_way
    assert (outcome.result, house.store.rewritten, house.signs_now) == (Result.OVERTAKEN, 0, "qa")


async def test_a_model_that_does_not_exist_changes_nothing() -> None:
    house = House()
    with pytest.raises(ConfigurationError):
        await house.over(NoModel()).compress(WHERE)
    assert house.store.rewritten == 0


async def test_being_stopped_leaves_everything_as_it_was_and_holds_up_nobody() -> None:
    house = House(provider=ScriptedProvider([asyncio.Event()]))
    under_way = asyncio.ensure_future(house.compress())
    await until(lambda: len(house.provider.requests) == 1)
    under_way.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    assert house.store.rewritten == 0
    assert [(run.outcome, run.tokens, run.cost) for run in house.usage.runs] == [
        ("stopped", Tokens(is_partial=True), Cost())
    ]
    house.provider.play(["The notes."])
    assert (await together(house.compress()))[0].result is Result.SUMMARISED


async def test_a_stopped_call_that_cannot_be_accounted_for_is_cancelled_all_the_same() -> None:
    class Full(KeptRuns):
        async def record(self, run: Run) -> None:
            raise StateError(run.outcome)

    house = House(provider=ScriptedProvider([asyncio.Event()]), usage=Full())
    under_way = asyncio.ensure_future(house.compress())
    await until(lambda: len(house.provider.requests) == 1)
    under_way.cancel()
    with structlog.testing.capture_logs() as logs, pytest.raises(asyncio.CancelledError):
        await under_way
    assert [line["reason"] for line in logs if line["event"] == "run_unaccounted"] == ["stopped"]


async def test_no_line_of_the_log_holds_what_was_said() -> None:
    house = House(content="{sign}{number} MARKER " * 60, provider=ScriptedProvider(["MARKER", DOWN]))
    with structlog.testing.capture_logs() as lines:
        await house.compressor.compress(WHERE, focus="MARKER")
        await house.compressor.compress(WHERE, focus="MARKER", cause=Cause.OVERFLOW)
    assert {line["event"] for line in lines} == {"summary_failed", "compression_ended"}
    assert "MARKER" not in str(lines)
