"""Names, status, posting and identity over a Web API that answers as scripted."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from app.background import Background
from app.channel import nobody_listens
from app.clock import SystemClock
from app.errors import ConfigurationError, DeliveryError, StoppedByUserError
from app.slack.calls import (
    SlackCalls,
    SlackLostError,
    SlackRefusalError,
    is_loopback,
    web_client,
)
from app.slack.identity import identify
from app.slack.names import CAPACITY, FRESH_S, UNKNOWN_S, Names
from app.slack.outcome import Refusal, refusal_of
from app.slack.payloads import Identity
from app.slack.posting import Posting, Thread
from app.slack.repeating import RepeatReadsHandler, WaitOutReadsHandler, method_of
from app.slack.reply import SlackReply
from app.slack.status import REFRESH_S, SHOW_AFTER_S, SlackStatus, Statuses
from tests.fakes import ManualClock, until

THREAD = Thread("C1", "1.0", "T1", "U1", "1.0")


class ScriptedCalls(SlackCalls):
    """Answers each method from a list, the last one again and again; an exception is raised."""

    def __init__(self, **answers: list[Mapping[str, Any] | Exception]) -> None:
        super().__init__(web_client(None, api_url="http://127.0.0.1:1/", token=None))
        self.answers = {name.replace("_", "."): list(steps) for name, steps in answers.items()}
        self.made: list[tuple[str, Mapping[str, object]]] = []

    async def call(self, method: str, arguments: Mapping[str, object], *, as_query: bool = False) -> Mapping[str, Any]:
        self.made.append((method, arguments))
        await asyncio.sleep(0)
        steps = self.answers.get(method, [{"ok": True, "ts": "2.0"}])
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        if isinstance(step, Exception):
            raise step
        return step


def refusal(error: str, kind: Refusal = Refusal.OTHER) -> SlackRefusalError:
    return SlackRefusalError("x", kind, error)


def user(**profile: str) -> dict[str, Any]:
    return {"user": {"name": "handle", "profile": profile}}


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (user(display_name="Ali", real_name="Alice M"), "Ali"),
        (user(display_name="", real_name="Alice M"), "Alice M"),
        (user(), "handle"),
        (user(display_name="two\nlines: of"), "two lines: of"),
        ({}, "U1"),
        (refusal("user_not_found"), "U1"),
        (SlackLostError("x"), "U1"),
    ],
)
async def test_a_members_name_is_one_line_or_their_id(answer: Mapping[str, Any] | Exception, name: str) -> None:
    assert await Names(ScriptedCalls(users_info=[answer]), ManualClock()).of("U1") == name


async def test_names_are_asked_once_an_hour_and_kept_within_bounds() -> None:
    calls, clock = ScriptedCalls(users_info=[user(display_name="Ali")]), ManualClock()
    names = Names(calls, clock)
    await names.of("U1")
    clock.elapsed_s = FRESH_S - 1
    await names.of("U1")
    assert len(calls.made) == 1
    clock.elapsed_s = FRESH_S + 1
    for number in range(CAPACITY + 2):
        await names.of(f"U{number}")
    await names.of("U0")
    assert len(calls.made) == 1 + CAPACITY + 2 + 1


async def test_a_name_that_slack_did_not_tell_is_asked_again_after_a_minute() -> None:
    calls, clock = ScriptedCalls(users_info=[SlackLostError("x"), user(display_name="Ali")]), ManualClock()
    names = Names(calls, clock)
    assert not names.has("U1")
    assert [await names.of("U1"), await names.of("U1")] == ["U1", "U1"]
    assert names.has("U1")
    clock.elapsed_s = UNKNOWN_S
    assert not names.has("U1")
    assert await names.of("U1") == "Ali"


async def test_identity_waits_for_a_slack_that_is_away() -> None:
    me = {"user_id": "UB", "bot_id": "B1", "team_id": "T1"}
    limited = SlackRefusalError("auth.test", Refusal.RATE_LIMITED, "ratelimited", 9.0)
    clock = ManualClock()
    assert await identify(ScriptedCalls(auth_test=[SlackLostError("x"), limited, me]), clock) == Identity(
        "UB", "B1", "T1"
    )
    assert clock.slept == [0.5, 9.0]


@pytest.mark.parametrize("answer", [refusal("invalid_auth"), {"user_id": "U1", "team_id": "T1"}])
async def test_a_token_that_is_no_bots_ends_the_start(answer: Mapping[str, Any] | Exception) -> None:
    with pytest.raises(ConfigurationError, match=r"slack\.bot_token"):
        await identify(ScriptedCalls(auth_test=[answer]), ManualClock())


def test_errors_that_leave_the_outcome_open_are_no_refusals() -> None:
    assert refusal_of("internal_error") is None
    assert refusal_of("message_not_in_streaming_state") is Refusal.NOT_STREAMING
    assert refusal_of("channel_not_found") is Refusal.OTHER


def request(method: str) -> HttpRequest:
    return HttpRequest(method="POST", url=f"https://slack.com/api/{method}?x=1", headers={})


@pytest.mark.parametrize(
    ("method", "status", "error", "again"),
    [
        ("conversations.replies", 503, None, True),
        ("conversations.replies", 200, None, False),
        ("conversations.replies", None, TimeoutError(), True),
        ("conversations.history", 503, None, True),
        ("conversations.replies", None, ValueError(), False),
        ("chat.postMessage", 503, None, False),
        ("chat.postMessage", None, TimeoutError(), False),
        ("chat.appendStream", None, ConnectionError(), False),
    ],
)
async def test_only_reads_are_repeated(
    method: str, status: int | None, error: Exception | None, *, again: bool
) -> None:
    response = None if status is None else HttpResponse(status_code=status, headers={})
    handler = RepeatReadsHandler(max_retry_count=2)
    assert again == await handler.can_retry_async(
        state=RetryState(), request=request(method), response=response, error=error
    )


@pytest.mark.parametrize(
    ("method", "again"), [("users.info", True), ("conversations.history", True), ("chat.postMessage", False)]
)
async def test_only_reads_wait_out_a_rate_limit_by_themselves(method: str, *, again: bool) -> None:
    limited = HttpResponse(status_code=429, headers={"Retry-After": ["1"]})
    handler = WaitOutReadsHandler(max_retry_count=2)
    assert again == await handler.can_retry_async(state=RetryState(), request=request(method), response=limited)


def test_no_call_is_written_out_in_detail() -> None:
    client: Any = web_client(None, api_url="http://127.0.0.1:1/", token=None)
    assert client.logger.level > logging.DEBUG


def test_the_small_readings_of_an_address() -> None:
    assert method_of("https://slack.com/api/chat.update?ts=1") == "chat.update"
    assert is_loopback("http://localhost:99/api/")
    assert not is_loopback("https://slack.com/api/")


def status_card(calls: SlackCalls, clock: ManualClock, background: Background) -> SlackStatus:
    return SlackStatus(Statuses(calls, clock, background.spawn), THREAD)


def statuses(calls: ScriptedCalls) -> list[object]:
    return [arguments["status"] for method, arguments in calls.made if method == "assistant.threads.setStatus"]


class TickingClock(ManualClock):
    """Sleeps only as often as it has ticks."""

    def __init__(self, ticks: int) -> None:
        super().__init__()
        self._ticks = ticks

    async def sleep(self, seconds: float) -> None:
        if self._ticks == 0:
            await asyncio.Event().wait()
        self._ticks -= 1
        await super().sleep(seconds)


async def test_a_status_is_kept_alive_until_it_is_cleared() -> None:
    calls, clock, background = ScriptedCalls(), TickingClock(3), Background()
    card = status_card(calls, clock, background)
    await card.show("thinking")
    await until(lambda: len(statuses(calls)) == 3)
    assert clock.slept == [SHOW_AFTER_S, REFRESH_S, REFRESH_S]
    await card.clear()
    await until(lambda: statuses(calls)[-1] == "" and len(background) == 0)
    assert statuses(calls) == ["thinking"] * 3 + [""]


async def test_an_answer_that_comes_at_once_needs_no_status_and_no_clearing() -> None:
    calls, background = ScriptedCalls(), Background()
    card = status_card(calls, TickingClock(0), background)
    await card.show("thinking")
    card.replied()
    await card.clear()
    await until(lambda: len(background) == 0)
    assert statuses(calls) == []


async def test_a_status_that_was_answered_needs_no_clearing() -> None:
    calls, background = ScriptedCalls(), Background()
    card = status_card(calls, TickingClock(1), background)
    await card.show("thinking")
    await until(lambda: statuses(calls) == ["thinking"])
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    card.replied()
    await card.clear()
    await until(lambda: len(background) == 0)
    assert statuses(calls) == ["thinking"]


async def test_a_status_that_may_arrive_after_the_answer_is_cleared() -> None:
    calls, background = ScriptedCalls(), Background()
    card = status_card(calls, TickingClock(1), background)
    await card.show("thinking")
    await until(lambda: statuses(calls) == ["thinking"])
    card.replied()
    await card.clear()
    await until(lambda: len(background) == 0)
    assert statuses(calls) == ["thinking", ""]


async def test_a_refused_status_is_not_kept() -> None:
    calls, background = ScriptedCalls(assistant_threads_setStatus=[refusal("missing_scope")]), Background()
    await status_card(calls, TickingClock(9), background).show("thinking")
    await until(lambda: len(background) == 0)
    assert len(statuses(calls)) == 1


def reply(calls: SlackCalls, background: Background, on_posted: Callable[[str], None] = nobody_listens) -> SlackReply:
    posting = Posting(calls, THREAD, "UBOT")
    return SlackReply(posting, SystemClock(), background.spawn, lambda: None, on_posted=on_posted)


async def test_an_answer_that_is_held_is_one_post_which_tells_itself_whose_it_is() -> None:
    calls, noted = ScriptedCalls(), list[str]()
    answer = reply(calls, Background(), noted.append)
    answer.write("hello")
    answer.hold()
    for _ in range(3):
        await asyncio.sleep(0)
    assert calls.made == []
    await answer.finish()
    assert [method for method, _ in calls.made] == ["chat.postMessage"]
    assert noted == []


async def test_an_answer_that_is_held_at_once_has_no_writer_before_its_end() -> None:
    background = Background()
    answer = reply(ScriptedCalls(), background)
    answer.write("hello")
    answer.hold()
    for _ in range(3):
        await asyncio.sleep(0)
        assert len(background) == 0
    answer.write(" again")
    await answer.finish()
    await until(lambda: len(background) == 0)


async def test_an_answer_that_is_held_too_long_begins_without_its_end() -> None:
    calls = ScriptedCalls()
    answer = reply(calls, Background())
    answer.write("hello")
    answer.hold()
    await until(lambda: len(calls.made) == 1)
    await answer.finish()
    assert [method for method, _ in calls.made] == ["chat.startStream", "chat.stopStream"]


async def test_where_a_stream_stands_is_noted_before_it_ends() -> None:
    calls, noted = ScriptedCalls(), list[str]()
    answer = reply(calls, Background(), noted.append)
    answer.write("hello")
    await until(lambda: len(noted) == 1)
    await answer.finish()
    assert len(noted) == 1


async def test_a_post_whose_fate_cannot_be_looked_up_is_not_sent_again() -> None:
    calls = ScriptedCalls(chat_postMessage=[SlackLostError("x")], conversations_replies=[refusal("ratelimited")])
    answer = reply(calls, Background())
    answer.write("hello")
    with pytest.raises(DeliveryError, match="unknown"):
        await answer.finish()
    assert [method for method, _ in calls.made] == ["chat.postMessage", "conversations.replies"]
    with pytest.raises(DeliveryError):
        answer.write("more")


async def test_a_lost_post_is_recognised_in_the_thread_by_its_nonce() -> None:
    class Echo(ScriptedCalls):
        """Takes the post, loses the answer, and shows the thread with it."""

        async def call(
            self, method: str, arguments: Mapping[str, object], *, as_query: bool = False
        ) -> Mapping[str, Any]:
            if method == "conversations.replies":
                posted = self.made[0][1]
                other = {"user": "UBOT", "ts": "1.5", "metadata": {"event_type": "other"}}
                ours = {"user": "UBOT", "ts": "1.6", "metadata": posted["metadata"]}
                self.answers[method] = [{"messages": [{"user": "U1", "ts": "1.0"}, other, ours]}]
            return await super().call(method, arguments, as_query=as_query)

    calls = Echo(chat_postMessage=[SlackLostError("x")])
    answer = reply(calls, Background())
    answer.write("hello")
    await answer.finish()
    assert [method for method, _ in calls.made] == ["chat.postMessage", "conversations.replies"]


async def test_a_person_who_stops_the_answer_stops_its_producer() -> None:
    calls = ScriptedCalls(chat_appendStream=[refusal("stopped_by_user", Refusal.STOPPED_BY_USER)])
    answer = reply(calls, Background())
    answer.write("one")
    await until(lambda: len(calls.made) == 1)
    answer.write(" two")
    with pytest.raises(StoppedByUserError):
        await answer.finish()
    await answer.abandon()
    assert [method for method, _ in calls.made] == ["chat.startStream", "chat.appendStream"]


async def test_an_answer_without_words_makes_no_call() -> None:
    calls = ScriptedCalls()
    answer = reply(calls, Background())
    await answer.finish()
    await answer.abandon()
    assert calls.made == []


async def test_a_writer_that_breaks_does_not_pass_for_a_finished_answer() -> None:
    calls = ScriptedCalls(chat_postMessage=[RuntimeError("a bug")])
    answer = reply(calls, Background())
    answer.write("hello")
    with pytest.raises(DeliveryError, match="broke off"):
        await answer.finish()
