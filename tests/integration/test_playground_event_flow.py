"""What tests do to the flow of events in the playground: hold, double and turn it; and how it bears a burst."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from app.playground.delivery import AckTimes
from app.playground.delivery.envelope import ack_percentile_s
from app.playground.seed import ADA, ALICE, APP_ID, BOB, BOT_USER, GENERAL, RANDOM, SECRET
from app.playground.server import Playground, open_playground
from tests.bolt_bots import bolt_app, connected, listening, on_event, recording

Json = dict[str, Any]


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        yield opened


async def test_duplicates_carry_the_same_event_id(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        playground.delivery.duplicate_next(2)
        for number in range(3):
            playground.people.say(ALICE, GENERAL, f"number {number}")
        await playground.wait_for(lambda: len(heard) == 5)
    ids = [body["event_id"] for body in heard]
    assert sorted(ids.count(event_id) for event_id in set(ids)) == [1, 2, 2]


async def test_reordered_events_come_backwards(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        playground.delivery.reorder_next(3)
        for number in range(4):
            playground.people.say(ALICE, GENERAL, f"number {number}")
        await playground.wait_for(lambda: len(heard) == 4)
    assert [body["event"]["text"] for body in heard] == ["number 2", "number 1", "number 0", "number 3"]


async def test_held_events_come_when_they_are_released(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app):
        playground.delivery.hold()
        playground.people.say(ALICE, GENERAL, "held back")
        assert playground.delivery.log == []
        playground.delivery.release()
        await playground.wait_for(lambda: heard)
    assert heard[0]["event"]["text"] == "held back"


async def test_an_app_hears_nothing_from_channels_it_is_not_in(playground: Playground) -> None:
    playground.people.say(ALICE, RANDOM, f"<@{BOT_USER}> hello")
    playground.people.say(ALICE, SECRET, f"<@{BOT_USER}> hello")
    assert playground.delivery.under_way == 0


async def test_any_event_can_be_sent_by_hand(playground: Playground) -> None:
    app, heard = bolt_app(playground), list[Json]()

    async def hear(body: Json) -> None:
        heard.append(body)

    on_event("app_context_changed", hear)(app)
    async with connected(playground, app):
        event: Json = {"type": "app_context_changed", "user": ALICE, "context": {"entities": []}}
        event_id = playground.delivery.send_event(event)
        await playground.wait_for(lambda: heard)
    assert heard[0]["event_id"] == event_id
    assert heard[0]["event"] == event


async def test_a_burst_of_five_hundred_events_is_delivered_and_measured() -> None:
    async with open_playground(with_page=False, enforce_rates=False) as playground:
        app, heard = listening(playground)
        async with connected(playground, app):
            for number in range(500):
                playground.people.say(ALICE, GENERAL, f"number {number}")
            await playground.wait_for(lambda: len(heard) == 500, timeout_s=50)
            await playground.wait_for(lambda: playground.delivery.under_way == 0)
        log = playground.delivery.log
        p50, p99 = ack_percentile_s(log, 50), ack_percentile_s(log, 99)
    assert len(log) == 500
    assert 0 < p50 <= p99 < 3


async def test_saying_five_hundred_things_takes_a_few_milliseconds_each_at_most(playground: Playground) -> None:
    started = time.perf_counter()
    for number in range(500):
        playground.people.say(ALICE, GENERAL, f"<@{BOT_USER}> number {number}")
    assert (time.perf_counter() - started) / 500 < 0.005


async def test_nothing_is_lost_while_connections_break_again_and_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    times = AckTimes(timeout_s=0.3, retry_after_s=(0.0,) * 10)
    async with open_playground(with_page=False, enforce_rates=False, times=times) as playground:
        app, heard = listening(playground)
        async with connected(playground, app, ping_interval_s=0.05):
            for number in range(60):
                playground.people.say(ALICE, GENERAL, f"number {number}")
                if number % 15 == 7:
                    playground.delivery.drop_sockets()
                if number % 15 == 14:
                    await playground.delivery.refresh_sockets()
                await asyncio.sleep(0)
            await playground.wait_for(lambda: playground.delivery.under_way == 0, timeout_s=50)
        texts = {body["event"]["text"] for body in heard}
    assert texts == {f"number {number}" for number in range(60)}


async def test_an_app_hears_only_what_it_subscribed_to(playground: Playground) -> None:
    playground.workspace.apps[APP_ID].events = {"some_other_event"}
    people = playground.people
    message = people.say(ALICE, GENERAL, f"<@{BOT_USER}> hello", files=[people.upload(ALICE, "a.txt", b"a").id])
    people.edit(ALICE, GENERAL, message.ts, "changed")
    people.react(BOB, GENERAL, message.ts, "eyes")
    people.invite(ALICE, RANDOM, BOT_USER)
    people.stop(ALICE, GENERAL, message.ts)
    people.delete(ALICE, GENERAL, message.ts)
    people.open_home(ALICE)
    assert playground.delivery.under_way == 0


async def test_what_happens_where_the_bot_is_not_stays_there(playground: Playground) -> None:
    people = playground.people
    message = people.say(ALICE, SECRET, "between us", files=[people.upload(ALICE, "a.txt", b"a").id])
    people.edit(ALICE, SECRET, message.ts, "still between us")
    people.react(ADA, SECRET, message.ts, "eyes")
    people.invite(ADA, SECRET, BOB)
    people.leave(BOB, SECRET)
    people.stop(ALICE, SECRET, message.ts)
    people.delete(ALICE, SECRET, message.ts)
    assert playground.delivery.under_way == 0


async def test_a_dead_connection_is_noticed_while_sending(playground: Playground) -> None:
    app, heard = listening(playground)
    async with connected(playground, app, ping_interval_s=0.05):
        playground.delivery.sockets.lines(APP_ID).all()[0].cut()
        playground.people.say(ALICE, GENERAL, "into the void?")
        await playground.wait_for(lambda: heard)
    assert [body["event"]["text"] for body in heard] == ["into the void?"]
    assert len(playground.delivery.log) == 1


async def test_a_payload_that_cannot_be_sent_is_a_fault_of_the_playground() -> None:
    async def send_nonsense() -> None:
        async with open_playground(with_page=False, enforce_rates=False) as playground, recording(playground):
            playground.delivery.send_event({"type": "message", "text": object()})
            await playground.wait_for(lambda: playground.delivery.under_way == 0)

    with pytest.raises(ExceptionGroup, match="deliveries failed"):
        await send_nonsense()
