"""Socket Mode's connection: refused tokens, a Slack that is away, a connection that stays dead; what comes over it."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.background import beside
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.slack.socket import SlackSocket, Take
from tests.fakes import ManualClock, until
from tests.small_slack import SmallSlack, open_small_slack
from tests.unbuilt_bolt import unconnected_bolt


class Taker:
    """Takes messages, and notes their events."""

    def __init__(self) -> None:
        self.taken: list[Mapping[str, Any]] = []

    async def __call__(self, body: Mapping[str, Any]) -> None:
        self.taken.append(body["event"])


def socket_to(
    slack: SmallSlack, clock: SystemClock | ManualClock | None = None, take: Take | None = None
) -> SlackSocket:
    url = f"{slack.address}/api/"
    take = take or Taker()
    return SlackSocket(unconnected_bolt(), take, app_token="xapp-x", api_url=url, clock=clock or SystemClock())


def envelope(name: str, event: Mapping[str, object]) -> str:
    payload = {"type": "event_callback", "team_id": "T1", "event_id": name, "event": event}
    return json.dumps(
        {"type": "events_api", "envelope_id": name, "accepts_response_payload": False, "payload": payload}
    )


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


@pytest.mark.parametrize("kind", ["message", "app_mention"])
async def test_a_message_is_taken_and_acknowledged(kind: str) -> None:
    said, taker = {"type": kind, "channel": "C1", "ts": "1.0", "user": "U1", "text": "hello"}, Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, envelope("E1", said))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == [said]
    assert [json.loads(each) for each in slack.heard] == [{"envelope_id": "E1"}]


async def test_a_message_that_is_not_taken_is_never_acknowledged_and_the_next_one_is() -> None:
    async def refuse_first(body: Mapping[str, Any]) -> None:
        if body["event_id"] == "E1":
            raise ZeroDivisionError

    async with open_small_slack() as slack, asyncio.timeout(10):
        said = {"type": "message", "channel": "C1", "ts": "1.0", "user": "U1", "text": "hello"}
        slack.greetings = (*slack.greetings, envelope("E1", said), envelope("E2", said))
        async with beside(socket_to(slack, take=refuse_first).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E2"]


async def test_what_is_no_message_is_bolts() -> None:
    taker = Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        opened = {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "messages", "event_ts": "1.0"}
        slack.greetings = (*slack.greetings, envelope("E1", opened))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == []
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E1"]
