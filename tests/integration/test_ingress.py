"""``POST /ingress``: the order of its checks, whose words they are, and what comes back now or later."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from app.channel import Address, ThreadMessage, Visibility
from app.http.ingress import ingress_routes
from app.http.limits import BODY_BYTES, HttpLimits
from tests.surfaces import CI, CLOSED, PINNED, FakeAuthority, FakeDispatch, client_of, console_of, door_of

MARKER = "hunter2-do-not-echo"


@dataclass(frozen=True, slots=True)
class Ingress:
    client: httpx.AsyncClient
    dispatch: FakeDispatch

    async def say(self, body: object, token: str = CI) -> httpx.Response:
        return await self.client.post("/ingress", json=body, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture
async def ingress() -> AsyncIterator[Ingress]:
    dispatch = FakeDispatch()
    async with (
        console_of(dispatch) as console,
        client_of(ingress_routes(console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        yield Ingress(client, dispatch)


async def test_a_program_says_something_and_gets_the_whole_answer(ingress: Ingress) -> None:
    answer = await ingress.say({"text": "hello there"})
    (message,) = ingress.dispatch.messages
    assert answer.status_code == 200
    assert answer.json() == {
        "reply": "you said: hello there",
        "run": {"id": message.reference, "status": "completed"},
    }
    assert (message.user_id, message.channel_id, message.thread_key) == (
        "http:ci",
        "http:default",
        "http:default:default",
    )
    assert (message.visibility, message.address) == (Visibility.MACHINE, Address.DIRECT)


async def test_a_channel_and_a_thread_may_be_named_unless_the_token_is_pinned(ingress: Ingress) -> None:
    """Reference bot, 17."""
    await ingress.say({"text": "x", "channel": "leads", "thread": "42"})
    await ingress.say({"text": "x", "channel": "leads", "thread": "42"}, PINNED)
    free, pinned = ingress.dispatch.messages
    assert (free.channel_id, free.thread_key) == ("http:leads", "http:leads:42")
    assert (pinned.user_id, pinned.channel_id, pinned.thread_key) == ("http:deploys", "http:builds", "http:builds:42")


async def test_what_was_said_before_comes_with_the_request(ingress: Ingress) -> None:
    said = [{"role": "user", "text": "first"}, {"role": "assistant", "text": "second"}]
    await ingress.say({"text": "third", "history": said})
    (chat,) = ingress.dispatch.chats
    assert list(await chat.history()) == [
        ThreadMessage("0", "ci", False, "first"),
        ThreadMessage("1", "Switchboard", True, "second"),
    ]
    assert await chat.asker() == "ci"
    assert await chat.takes_part()


async def test_two_messages_with_the_same_words_are_two_messages(ingress: Ingress) -> None:
    for _ in range(2):
        assert (await ingress.say({"text": "again"})).json()["reply"] == "you said: again"
    assert len({message.event_id for message in ingress.dispatch.messages}) == 2
    assert len({message.position for message in ingress.dispatch.messages}) == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": " \n"},
        {"text": 5},
        {"text": "x", "async": "yes"},
        {"text": "x", "async": 1},
        {"text": "x", "channel": "a:b"},
        {"text": "x", "channel": f"a\n{MARKER}"},
        {"text": "x", "thread": ""},
        {"text": "x", "thread": "t" * 101},
        {"text": "x", "history": [{"role": "system", "text": MARKER}]},
        {"text": "x", "history": [{"role": "user"}]},
        {"text": "x", "history": {"role": MARKER}},
        {"text": "x", MARKER: True},
        [],
        "text",
        None,
    ],
)
async def test_a_body_of_the_wrong_shape_is_refused_without_repeating_it(ingress: Ingress, body: object) -> None:
    answer = await ingress.say(body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert answer.json()["message"]
    assert MARKER not in answer.text
    assert ingress.dispatch.messages == []


async def test_the_checks_come_in_their_order(ingress: Ingress) -> None:
    """Reference bot, 17: 405, 503, 401, 403, 413, 400; each request here fails all the later ones, too."""
    large = b"x" * (BODY_BYTES + 1)
    dispatch = FakeDispatch()
    async with (
        console_of(dispatch) as console,
        client_of(ingress_routes(console, door_of("{}"), FakeAuthority().may_dispatch)) as without_tokens,
    ):
        assert (await without_tokens.put("/ingress", content=large)).status_code == 405
        assert (await without_tokens.post("/ingress", content=large, headers={"Authorization": ""})).status_code == 503
    for token, status in (("wrong", 401), (CLOSED, 403), (CI, 413)):
        headers = {"Authorization": f"Bearer {token}"}
        assert (await ingress.client.post("/ingress", content=large, headers=headers)).status_code == status
    assert (await ingress.client.post("/ingress", content=b"x")).status_code == 400
    assert ingress.dispatch.messages == dispatch.messages == []


async def test_async_is_answered_once_the_run_has_begun_and_the_run_goes_on() -> None:
    dispatch = FakeDispatch(held=asyncio.Event())
    assert dispatch.held is not None
    async with (
        console_of(dispatch) as console,
        client_of(ingress_routes(console, door_of(), FakeAuthority().may_dispatch)) as client,
    ):
        async with asyncio.timeout(20):
            answer = await client.post("/ingress", json={"text": "long work", "thread": "7", "async": True})
        assert answer.status_code == 202
        (message,) = dispatch.messages
        assert answer.json() == {"runId": message.reference, "runUrl": None, "threadKey": "http:default:7"}
        dispatch.held.set()
    (chat,) = dispatch.chats
    assert chat.text == "you said: long work"


async def test_async_that_makes_no_run_is_answered_as_usual(ingress: Ingress) -> None:
    answer = await ingress.say({"text": "help", "async": True})
    assert (answer.status_code, answer.json()["reply"]) == (200, "there is help")


async def test_a_turn_that_failed_says_so_beside_its_words(ingress: Ingress) -> None:
    ingress.dispatch.outcome = "failed"
    answer = await ingress.say({"text": "x"})
    assert (answer.status_code, answer.json()["run"]["status"]) == (200, "failed")


async def test_a_fault_nobody_foresaw_shows_nothing_of_the_inside(ingress: Ingress) -> None:
    ingress.dispatch.crash = RuntimeError(MARKER)
    answer = await ingress.say({"text": "x"})
    assert (answer.status_code, answer.json()["error"]) == (500, "internal")
    assert MARKER not in answer.text


async def test_a_turn_that_outlasts_the_limit_is_ended() -> None:
    dispatch = FakeDispatch(held=asyncio.Event())
    door = door_of(limits=HttpLimits(turn_s=0.05))
    async with (
        console_of(dispatch) as console,
        client_of(ingress_routes(console, door, FakeAuthority().may_dispatch)) as client,
    ):
        answer = await client.post("/ingress", json={"text": "x"})
        assert (answer.status_code, answer.json()["error"]) == (504, "timed_out")
