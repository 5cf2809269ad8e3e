"""Socket Mode of the playground, with the real Bolt app and the real Socket Mode client on the other end."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest

from app.playground.delivery import AckTimes
from app.playground.seed import ALICE, APP_ID, APP_TOKEN, BOT_USER, GENERAL
from app.playground.server import Playground, open_playground
from tests.bolt_bots import bolt_app, connected, listening, on_event, recording, slack_api
from tests.fakes import ManualClock

Json = dict[str, Any]
WAIT_S = 20
HELLO_BOT = f"<@{BOT_USER}> hello"


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        yield opened


@pytest.fixture
async def impatient() -> AsyncGenerator[Playground]:
    """Repeats at once what is not acknowledged in a fifth of a second."""
    times = AckTimes(timeout_s=0.2, retry_after_s=(0.0, 0.0, 0.0))
    async with open_playground(with_page=False, enforce_rates=False, times=times) as opened:
        yield opened


def types(heard: list[Json]) -> list[str]:
    return [body["event"]["type"] for body in heard]


async def raw_socket(playground: Playground, session: aiohttp.ClientSession) -> aiohttp.ClientWebSocketResponse:
    opened = await slack_api(playground).apps_connections_open(app_token=APP_TOKEN)
    return await session.ws_connect(str(opened["url"]))


async def test_a_new_connection_is_greeted_with_the_facts_slack_gives(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session, await raw_socket(playground, session) as socket:
        hello = await socket.receive_json(timeout=WAIT_S)
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 1
    assert hello["connection_info"] == {"app_id": APP_ID}
    assert hello["debug_info"]["approximate_connection_time"] == 18060
    assert isinstance(hello["debug_info"]["host"], str)


async def test_a_ticket_opens_one_connection_only(playground: Playground) -> None:
    url = str((await slack_api(playground).apps_connections_open(app_token=APP_TOKEN))["url"])
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url) as socket:
            assert (await socket.receive_json(timeout=WAIT_S))["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(url)
    assert refused.value.status == 403


async def test_the_eleventh_connection_is_turned_away(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        sockets = [await raw_socket(playground, session) for _ in range(11)]
        firsts = [await socket.receive_json(timeout=WAIT_S) for socket in sockets]
        for socket in sockets:
            await socket.close()
    assert [first["type"] for first in firsts[:10]] == ["hello"] * 10
    assert firsts[10]["type"] == "disconnect"
    assert firsts[10]["reason"] == "too_many_websockets"


async def test_envelopes_go_to_one_connection_each_in_turn(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        sockets = [await raw_socket(playground, session) for _ in range(2)]
        for socket in sockets:
            await socket.receive_json(timeout=WAIT_S)
        for number in range(4):
            playground.people.say(ALICE, GENERAL, f"number {number}")
        texts = [await heard_by(socket, 2) for socket in sockets]
        for socket in sockets:
            await socket.close()
    assert texts == [["number 0", "number 2"], ["number 1", "number 3"]]


async def heard_by(socket: aiohttp.ClientWebSocketResponse, n: int) -> list[str]:
    texts: list[str] = []
    for _ in range(n):
        envelope = await socket.receive_json(timeout=WAIT_S)
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        texts.append(envelope["payload"]["event"]["text"])
    return texts


async def test_an_envelope_has_the_fields_of_socket_mode(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session, await raw_socket(playground, session) as socket:
        await socket.receive_json(timeout=WAIT_S)
        playground.people.say(ALICE, GENERAL, "hello")
        envelope: Json = await socket.receive_json(timeout=WAIT_S)
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        await playground.wait_for(lambda: playground.delivery.log[0].acked_at)
    assert envelope.keys() == {
        "envelope_id",
        "type",
        "payload",
        "accepts_response_payload",
        "retry_attempt",
        "retry_reason",
    }
    assert envelope["type"] == "events_api"
    assert envelope["accepts_response_payload"] is False
    assert (envelope["retry_attempt"], envelope["retry_reason"]) == (0, "")


async def test_a_mention_reaches_bolt_as_app_mention_and_as_message(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        message = playground.people.say(ALICE, GENERAL, HELLO_BOT)
        await playground.wait_for(lambda: len(heard) == 2)
    assert types(heard) == ["app_mention", "message"]
    assert {body["event"]["ts"] for body in heard} == {message.ts}
    assert len({body["event_id"] for body in heard}) == 2


async def test_a_mention_in_a_dm_is_only_a_message(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        dm = playground.people.open_dm(ALICE, BOT_USER)
        playground.people.say(ALICE, dm.id, HELLO_BOT)
        await playground.wait_for(lambda: heard)
        await playground.wait_for(lambda: playground.delivery.under_way == 0)
    assert types(heard) == ["message"]
    assert heard[0]["event"]["channel_type"] == "im"


async def test_what_nobody_acknowledges_comes_again_with_the_same_event_id(impatient: Playground) -> None:
    async with aiohttp.ClientSession() as session, await raw_socket(impatient, session) as socket:
        await socket.receive_json(timeout=WAIT_S)
        impatient.people.say(ALICE, GENERAL, "hello")
        envelopes: list[Json] = [await socket.receive_json(timeout=WAIT_S) for _ in range(4)]
        await impatient.wait_for(lambda: impatient.delivery.under_way == 0)
    assert len({each["payload"]["event_id"] for each in envelopes}) == 1
    assert len({each["envelope_id"] for each in envelopes}) == 4
    assert [each["retry_attempt"] for each in envelopes] == [0, 1, 2, 3]
    assert [each["retry_reason"] for each in envelopes] == ["", "timeout", "timeout", "timeout"]
    assert len(impatient.delivery.log) == 4


async def test_bolt_sees_a_redelivery_in_its_headers(playground: Playground) -> None:
    app = bolt_app(playground)
    headers: list[tuple[str, str]] = []

    async def hear(request: Any) -> None:
        headers.append((request.headers["x-slack-retry-num"][0], request.headers["x-slack-retry-reason"][0]))

    on_event("message", hear)(app)
    async with connected(playground, app):
        playground.delivery.duplicate_next()
        playground.people.say(ALICE, GENERAL, "hello")
        await playground.wait_for(lambda: len(headers) == 2)
    assert sorted(headers) == [("0", ""), ("1", "timeout")]


async def test_an_event_without_a_listener_is_not_acknowledged_by_bolt_and_comes_again(
    impatient: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    async with connected(impatient, bolt_app(impatient)):
        impatient.people.say(ALICE, GENERAL, "hello")
        await impatient.wait_for(lambda: len(impatient.delivery.log) == 4)
        await impatient.wait_for(lambda: impatient.delivery.under_way == 0)
    assert [entry.attempt for entry in impatient.delivery.log] == [0, 1, 2, 3]
    assert all(entry.acked_at is None for entry in impatient.delivery.log)


async def test_an_acknowledged_event_is_not_repeated(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        playground.people.say(ALICE, GENERAL, "hello")
        await playground.wait_for(lambda: playground.delivery.log and playground.delivery.under_way == 0)
    assert len(playground.delivery.log) == len(heard) == 1
    assert playground.delivery.log[0].ack_s is not None


async def test_events_wait_for_the_first_connection(playground: Playground) -> None:
    app, heard = listening(playground)
    for number in range(3):
        playground.people.say(ALICE, GENERAL, f"number {number}")
    async with connected(playground, app):
        await playground.wait_for(lambda: len(heard) == 3)
    assert [body["event"]["text"] for body in heard] == ["number 0", "number 1", "number 2"]


async def test_a_refresh_moves_the_client_to_a_new_connection(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        await playground.delivery.refresh_sockets()
        playground.people.say(ALICE, GENERAL, "after the refresh")
        await playground.wait_for(lambda: heard)
        await playground.wait_for(lambda: playground.delivery.connections() == 1)
    assert [call.method for call in playground.calls.calls].count("apps.connections.open") == 2
    assert heard[0]["event"]["text"] == "after the refresh"


async def test_a_dropped_connection_is_replaced_and_nothing_is_lost(
    playground: Playground, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    app, heard = listening(playground)
    async with connected(playground, app, ping_interval_s=0.05):
        playground.delivery.drop_sockets()
        assert playground.delivery.connections() == 0
        playground.people.say(ALICE, GENERAL, "while nobody listened")
        await playground.wait_for(lambda: heard)
    assert heard[0]["event"]["text"] == "while nobody listened"


async def test_garbage_on_the_socket_is_ignored(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session, await raw_socket(playground, session) as socket:
        await socket.receive_json(timeout=WAIT_S)
        await socket.send_str("no json")
        await socket.send_str(json.dumps({"envelope_id": "never-sent"}))
        playground.people.say(ALICE, GENERAL, "still here")
        async with asyncio.timeout(WAIT_S):
            assert await heard_by(socket, 1) == ["still here"]


async def test_slacks_own_schedule_repeats_at_once_after_a_minute_and_after_five() -> None:
    clock = ManualClock()
    default = AckTimes()
    times = AckTimes(timeout_s=0.05, retry_after_s=default.retry_after_s)
    async with (
        open_playground(with_page=False, enforce_rates=False, clock=clock, times=times) as playground,
        recording(playground, acknowledges=False),
    ):
        playground.people.say(ALICE, GENERAL, "hello")
        await playground.wait_for(lambda: len(playground.delivery.log) == 4)
        await playground.wait_for(lambda: playground.delivery.under_way == 0)
    assert (default.timeout_s, clock.slept) == (3.0, [0.0, 60.0, 300.0])


async def test_a_client_that_ignores_a_refresh_is_cut_off(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session, await raw_socket(playground, session) as socket:
        await socket.receive_json(timeout=WAIT_S)
        lines = playground.delivery.sockets.lines(APP_ID)
        lines.retire(lines.all()[0], grace_s=0.01)
        assert len(lines) == 1
        await playground.wait_for(lambda: len(lines) == 0)
        playground.people.say(ALICE, GENERAL, "hello")
    assert playground.delivery.log == []
