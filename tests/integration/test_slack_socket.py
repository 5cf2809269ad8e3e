"""Socket Mode's connection: refused tokens, a Slack that is away, a connection that stays dead; what comes over it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.background import Background, beside
from app.clock import SystemClock
from app.errors import ConfigurationError
from app.slack.calls import web_client
from app.slack.receiving import Receiver, Take
from app.slack.socket import SlackSocket
from tests.fakes import ManualClock, until
from tests.small_slack import SmallSlack, open_small_slack
from tests.unbuilt_bolt import IDENTITY, unconnected_bolt

SAID = {"type": "message", "channel": "C1", "ts": "1.0", "user": "U1", "text": "hello"}


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
    bolt, spawn = unconnected_bolt(), Background().spawn
    return SlackSocket(bolt, take, spawn, app_token="xapp-x", api_url=url, clock=clock or SystemClock())


@asynccontextmanager
async def receiver_for(take: Take) -> AsyncGenerator[Receiver]:
    """It is connected to nothing."""
    web = web_client(None, api_url="http://127.0.0.1:1/api/", token=None)
    receiver = Receiver(take, Background().spawn, bolt=unconnected_bolt(), app_token="xapp-x", web_client=web)
    try:
        yield receiver
    finally:
        await receiver.close()


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
    said, taker = SAID | {"type": kind}, Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, envelope("E1", said))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == [said]
    assert [json.loads(each) for each in slack.heard] == [{"envelope_id": "E1"}]


async def test_messages_begin_to_be_taken_in_the_next_turn_of_the_loop_and_in_order_while_others_are_under_way() -> (
    None
):
    begun, over = list[str](), asyncio.Event()

    async def take(body: Mapping[str, Any]) -> None:
        begun.append(body["event_id"])
        await over.wait()

    async with receiver_for(take) as receiver:
        for name in ("E1", "E2", "E3"):
            await receiver.enqueue_message(envelope(name, SAID))
        assert begun == []
        await asyncio.sleep(0)
        assert begun == ["E1", "E2", "E3"]


async def test_a_message_that_is_not_taken_is_told_once_and_never_acknowledged_and_the_next_one_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse_first(body: Mapping[str, Any]) -> None:
        if body["event_id"] == "E1":
            raise ZeroDivisionError

    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, envelope("E1", SAID), envelope("E2", SAID))
        with capture_logs() as lines:
            async with beside(socket_to(slack, take=refuse_first).run(), name="socket"):
                await until(lambda: bool(slack.heard))
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E2"]
    assert [line["task"] for line in lines if line["log_level"] == "error"] == ["message"]
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_an_acknowledgement_that_finds_no_connection_is_told_in_a_line_of_its_own() -> None:
    async def hang_up(_body: Mapping[str, Any]) -> None:
        session = slack_side.current_session
        assert session is not None
        await session.close()

    async with open_small_slack() as slack, receiver_for(hang_up) as slack_side, asyncio.timeout(10):
        slack_side.proxy = None
        slack_side.auto_reconnect_enabled = slack_side.default_auto_reconnect_enabled = False
        slack_side.wss_uri = f"{slack.address.replace('http', 'ws', 1)}/link?ticket=t"
        slack.greetings = (envelope("E1", SAID),)
        with capture_logs() as lines:
            await slack_side.connect()
            await until(lambda: bool(lines))
    assert [(line["event"], line["log_level"]) for line in lines] == [("acknowledgement_lost", "warning")]


async def test_what_is_being_taken_when_the_socket_is_left_is_still_acknowledged() -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def take(_body: Mapping[str, Any]) -> None:
        begun.set()
        await over.wait()

    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, envelope("E1", SAID))
        async with beside(socket_to(slack, take=take).run(), name="socket"):
            await begun.wait()
            asyncio.get_running_loop().call_later(0.02, over.set)
        await until(lambda: bool(slack.heard))
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E1"]


@pytest.mark.parametrize("garbage", ["no json", "[1]", '{"type":', '{"type": "events_api", "payload": {}}'])
async def test_garbage_holds_up_nothing(garbage: str) -> None:
    taker = Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        slack.greetings = (*slack.greetings, garbage, envelope("E1", SAID))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == [SAID]


async def test_a_message_with_half_a_character_is_taken_by_way_of_bolt() -> None:
    taker = Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        own = SAID | {"user": IDENTITY.user_id, "text": "cut \ud83d"}
        slack.greetings = (*slack.greetings, envelope("E1", own))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == []
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E1"]


async def test_what_is_no_message_is_bolts() -> None:
    taker = Taker()
    async with open_small_slack() as slack, asyncio.timeout(10):
        opened = {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "messages", "event_ts": "1.0"}
        slack.greetings = (*slack.greetings, envelope("E1", opened))
        async with beside(socket_to(slack, take=taker).run(), name="socket"):
            await until(lambda: bool(slack.heard))
    assert taker.taken == []
    assert [json.loads(each)["envelope_id"] for each in slack.heard] == ["E1"]
