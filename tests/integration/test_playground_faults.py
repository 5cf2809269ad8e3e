"""Faults ordered for the Web API, as the real SDK client meets them, and the order in which they apply."""

from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from app.playground.faults import Fault, FaultKind, Faults
from app.playground.seed import BOT_TOKEN, GENERAL
from app.playground.server import Playground, open_playground
from tests.bolt_bots import slack_api


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        yield opened


def posted(playground: Playground) -> list[str]:
    return [message.text for message in playground.workspace.messages.get(GENERAL, {}).values()]


async def post(playground: Playground, text: str = "hello") -> bool:
    return bool((await slack_api(playground).chat_postMessage(channel=GENERAL, text=text))["ok"])


def answer_of(error: Any) -> Any:
    """The response in an error of the SDK, whose own types strict checking cannot follow."""
    return error.response


async def post_once(playground: Playground, timeout_s: float = 5.0) -> int:
    """Without the SDK's own retries; the HTTP status."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout_s)) as session,
        session.post(
            f"{playground.api_url}chat.postMessage",
            data={"channel": GENERAL, "text": "hello"},
            headers={"Authorization": f"Bearer {BOT_TOKEN}"},
        ) as response,
    ):
        await response.read()
        return response.status


async def test_a_rate_limited_call_names_the_wait_and_does_nothing(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.RATE_LIMITED, retry_after_s=7))
    with pytest.raises(SlackApiError) as refused:
        await post(playground)
    response = answer_of(refused.value)
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    assert response.headers["Retry-After"] == "7"
    assert posted(playground) == []
    assert await post(playground)


async def test_a_server_error_is_no_json_and_does_nothing(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.SERVER_ERROR, status=502))
    assert await post_once(playground) == 502
    assert posted(playground) == []


async def test_a_refusal_carries_the_error_that_was_ordered(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.REFUSED, error="restricted_action"))
    with pytest.raises(SlackApiError) as refused:
        await post(playground)
    assert answer_of(refused.value)["error"] == "restricted_action"
    assert posted(playground) == []


async def test_a_connection_dropped_before_leaves_nothing_done(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.DROP_BEFORE))
    with pytest.raises(aiohttp.ClientError):
        await post_once(playground)
    assert posted(playground) == []


async def test_a_connection_dropped_after_leaves_the_work_done(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.DROP_AFTER))
    with pytest.raises(aiohttp.ClientError):
        await post_once(playground)
    assert posted(playground) == ["hello"]


async def test_the_sdks_default_retry_doubles_a_post_whose_answer_was_lost(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.DROP_AFTER))
    assert await post(playground)
    assert posted(playground) == ["hello", "hello"]


async def test_a_slow_answer_still_comes(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.SLOW, delay_s=0.05))
    assert await post_once(playground) == 200
    assert posted(playground) == ["hello"]


async def test_a_hanging_call_is_done_although_its_answer_never_comes(playground: Playground) -> None:
    playground.faults.inject(Fault("chat.postMessage", FaultKind.HANG_AFTER, delay_s=0.5))
    with pytest.raises(TimeoutError):
        await post_once(playground, timeout_s=0.1)
    assert posted(playground) == ["hello"]


async def test_a_fault_for_any_method_meets_the_next_call_whatever_it_is(playground: Playground) -> None:
    playground.faults.inject(Fault("*", FaultKind.REFUSED, error="fatal_error"))
    with pytest.raises(SlackApiError) as refused:
        await slack_api(playground).auth_test()
    assert answer_of(refused.value)["error"] == "fatal_error"
    assert (await slack_api(playground).auth_test())["ok"]


def test_a_fault_applies_as_often_as_ordered_after_letting_calls_pass() -> None:
    faults = Faults()
    fault = Fault("chat.update", FaultKind.REFUSED, times=2, skip=1)
    faults.inject(fault)
    taken = [faults.take(method) for method in ("chat.update", "chat.delete", "chat.update", "chat.update")]
    assert taken == [None, None, fault, fault]
    assert faults.take("chat.update") is None
    assert faults.pending == 0


def test_faults_apply_in_the_order_in_which_they_were_injected() -> None:
    faults = Faults()
    first, second = Fault("*", FaultKind.SLOW), Fault("chat.update", FaultKind.REFUSED)
    faults.inject(first)
    faults.inject(second)
    assert [faults.take("chat.update") for _ in range(3)] == [first, second, None]


def test_cleared_faults_are_gone() -> None:
    faults = Faults()
    faults.inject(Fault("*", FaultKind.SLOW, times=5))
    faults.clear()
    assert faults.take("chat.update") is None
