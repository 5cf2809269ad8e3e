"""Socket Mode's connection: refused tokens, a Slack that is away, a connection that stays dead."""

import asyncio
import json
from collections.abc import Mapping

import pytest
import structlog

from app.background import beside
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.slack.listeners import LISTENER_FAILED
from app.slack.payloads import Json
from app.slack.socket import SlackSocket, Take
from memory.tracing import traced
from tests.fakes import ManualClock, until
from tests.small_slack import SmallSlack, open_small_slack
from tests.unbuilt_bolt import unconnected_bolt


async def nobody_takes(_body: Json) -> None:
    """No message comes."""


def socket_to(
    slack: SmallSlack, clock: SystemClock | ManualClock | None = None, take: Take = nobody_takes
) -> SlackSocket:
    url = f"{slack.address}/api/"
    return SlackSocket(unconnected_bolt(), take, app_token="xapp-x", api_url=url, clock=clock or SystemClock())


def envelope(name: str, event: Mapping[str, object]) -> str:
    payload = {"type": "event_callback", "event_id": "Ev1", "event": event}
    return json.dumps({"type": "events_api", "envelope_id": name, "payload": payload})


def acknowledged(slack: SmallSlack) -> list[str]:
    return [json.loads(each)["envelope_id"] for each in slack.heard if each.startswith("{")]


async def test_what_people_say_is_acknowledged_once_it_is_taken() -> None:
    taken, may_end = list[Json](), asyncio.Event()

    async def take(body: Json) -> None:
        taken.append(body)
        await may_end.wait()

    async with open_small_slack() as slack, asyncio.timeout(10):
        said = envelope("said", {"type": "message", "text": "hello"})
        slack.greetings = (*slack.greetings, said, envelope("other", {"type": "app_home_opened", "user": "U1"}))
        async with beside(socket_to(slack, take=take).run(), name="socket"):
            await until(lambda: acknowledged(slack) == ["other"])
            may_end.set()
            await until(lambda: acknowledged(slack) == ["other", "said"])
    assert [body["event"]["text"] for body in taken] == ["hello"]


async def test_what_could_not_be_taken_is_not_acknowledged_and_the_log_does_not_quote_it() -> None:
    async def take(body: Json) -> None:
        raise ValueError(body["event"]["text"])

    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, envelope("said", {"type": "message", "text": "a secret"}))
        with structlog.testing.capture_logs() as lines:
            async with beside(socket_to(slack, take=take).run(), name="socket"):
                await until(lambda: any(line["event"] == LISTENER_FAILED for line in lines))
        assert acknowledged(slack) == []
    (line,) = (line for line in lines if line["event"] == LISTENER_FAILED)
    assert "a secret" not in traced(line["exc_info"])


async def test_a_refused_app_token_ends_the_start() -> None:
    async with open_small_slack() as slack:
        slack.open_error = "invalid_auth"
        with pytest.raises(ConfigurationError, match=r"slack\.app_token \(invalid_auth\)"):
            await socket_to(slack).check_token()


@pytest.mark.parametrize("error", ["ratelimited", "internal_error"])
async def test_a_slack_that_is_busy_is_tried_again_later(error: str) -> None:
    async with open_small_slack() as slack:
        slack.open_error = error
        await socket_to(slack).check_token()
        assert [method for method, _ in slack.calls] == ["apps.connections.open"]


async def test_the_first_endpoint_is_used_and_no_second_one_is_asked_for() -> None:
    async with open_small_slack() as slack, asyncio.timeout(10):
        socket = socket_to(slack)
        assert not socket.is_connected
        await socket.check_token()
        async with beside(socket.run(), name="socket"):
            await socket.connected()
            assert socket.is_connected
        assert not socket.is_connected
        assert [method for method, _ in slack.calls] == ["apps.connections.open"]


async def test_a_connection_that_stays_dead_is_built_anew() -> None:
    """The SDK heals most breaks by itself; what it does not heal within its own patience is replaced."""
    clock = ManualClock()
    async with open_small_slack() as slack, asyncio.timeout(20):
        slack.hangs_up = True
        socket = socket_to(slack, clock)
        async with beside(socket.run(), name="socket"):
            await until(lambda: len(slack.calls) >= 3, timeout_s=15)
    assert clock.elapsed_s > 40
