"""Signed HTTP delivery of the playground, verified and answered by a real Bolt app, and by a server that misbehaves."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from app.playground.delivery import AckTimes
from app.playground.delivery.signing import signature
from app.playground.modals import open_modal
from app.playground.refusal import SlackRefusal
from app.playground.seed import ALICE, APP_ID, GENERAL, SIGNING_SECRET
from app.playground.server import Playground, open_playground
from tests.bolt_bots import (
    Register,
    all_of,
    bolt_app,
    ephemerals,
    nothing,
    on_action,
    on_command,
    on_event,
    on_view,
    serving,
    slack_api,
    taking,
)

Json = dict[str, Any]
REPEATS = AckTimes(timeout_s=3.0, retry_after_s=(0.0, 0.0, 0.0))
BUTTON: Json = {"type": "button", "action_id": "yes", "text": {"type": "plain_text", "text": "Yes"}, "value": "y"}


@asynccontextmanager
async def playing_by_http(register: Register, secret: str = SIGNING_SECRET) -> AsyncGenerator[Playground]:
    """A playground that delivers to a Bolt app by HTTP; the app verifies with ``secret``."""
    async with open_playground(with_page=False, enforce_rates=False, times=REPEATS) as playground:
        app = bolt_app(playground, secret)
        register(app)
        async with serving(app.web_app("/slack/events")) as url:
            playground.workspace.apps[APP_ID].request_url = url
            yield playground


@dataclass(slots=True)
class Receiver:
    """Answers with the given statuses, the last one for ever, and keeps what it was sent."""

    statuses: list[int]
    headers: dict[str, str] = field(default_factory=dict[str, str])
    echoes_challenge: bool = True
    got: list[tuple[dict[str, str], str]] = field(default_factory=list[tuple[dict[str, str], str]])

    async def receive(self, request: web.Request) -> web.Response:
        body = await request.text()
        self.got.append(({name.lower(): value for name, value in request.headers.items()}, body))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        text = ""
        if self.echoes_challenge and '"url_verification"' in body:
            text = str(json.loads(body)["challenge"])
        return web.Response(status=status, headers=self.headers, text=text)

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_post("/slack/events", self.receive)
        return application


@asynccontextmanager
async def receiving(receiver: Receiver) -> AsyncGenerator[Playground]:
    async with (
        open_playground(with_page=False, enforce_rates=False, times=REPEATS) as playground,
        serving(receiver.application()) as url,
    ):
        playground.workspace.apps[APP_ID].request_url = url
        yield playground


async def settled(playground: Playground) -> None:
    await playground.wait_for(lambda: playground.delivery.under_way == 0)


async def test_bolt_verifies_and_takes_an_event() -> None:
    heard: list[Json] = []

    async def hear(body: Json) -> None:
        heard.append(body)

    async with playing_by_http(on_event("message", hear)) as playground:
        playground.people.say(ALICE, GENERAL, "über HTTP")
        await playground.wait_for(lambda: heard)
        await settled(playground)
    assert heard[0]["event"]["text"] == "über HTTP"
    assert playground.delivery.log[0].acked_at is not None


async def test_bolt_refuses_what_is_signed_with_another_secret() -> None:
    heard: list[Json] = []

    async def hear(body: Json) -> None:
        heard.append(body)

    async with playing_by_http(on_event("message", hear), secret="another-secret") as playground:
        playground.people.say(ALICE, GENERAL, "not for you")
        await settled(playground)
    assert heard == []
    assert [entry.attempt for entry in playground.delivery.log] == [0, 1, 2, 3]
    assert all(entry.acked_at is None for entry in playground.delivery.log)


async def test_bolt_answers_the_challenge_of_a_new_request_url() -> None:
    async with open_playground(with_page=False, enforce_rates=False) as playground:
        async with serving(bolt_app(playground).web_app("/slack/events")) as url:
            await playground.delivery.use_http(url)
        assert playground.workspace.apps[APP_ID].request_url == url


async def test_a_request_url_that_does_not_answer_the_challenge_is_refused() -> None:
    receiver = Receiver([200], echoes_challenge=False)
    async with open_playground(with_page=False) as playground, serving(receiver.application()) as url:
        with pytest.raises(SlackRefusal) as refused:
            await playground.delivery.use_http(url)
        assert playground.workspace.apps[APP_ID].request_url is None
    assert refused.value.error == "url_verification_failed"
    assert json.loads(receiver.got[0][1]).keys() == {"token", "challenge", "type"}


async def test_a_click_and_its_answer_travel_as_a_form() -> None:
    bodies: list[Json] = []
    async with playing_by_http(on_action("yes", taking(bodies))) as playground:
        blocks = [{"type": "actions", "block_id": "choice", "elements": [BUTTON]}]
        posted = await slack_api(playground).chat_postMessage(channel=GENERAL, text="choose", blocks=blocks)
        await playground.people.click(ALICE, GENERAL, posted["ts"], "yes")
        await playground.wait_for(lambda: bodies)
    assert bodies[0]["actions"][0]["value"] == "y"


async def test_a_command_is_answered_in_the_http_response() -> None:
    async def answer(ack: Any, command: Json) -> None:
        await ack(f"you said {command['text']}")

    async with playing_by_http(on_command("/memory", answer)) as playground:
        seen = ephemerals(playground)
        await playground.people.slash(ALICE, GENERAL, "/memory", "a & b")
    assert [each.text for each in seen] == ["you said a & b"]


async def test_a_command_without_an_app_behind_the_address_is_not_dispatched() -> None:
    async with open_playground(with_page=False, times=REPEATS) as playground:
        async with serving(web.Application()) as url:
            playground.workspace.apps[APP_ID].request_url = url
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.slash(ALICE, GENERAL, "/memory", "list")
    assert refused.value.error == "dispatch_failed"


async def test_a_failed_delivery_is_repeated_with_its_number_and_reason() -> None:
    receiver = Receiver([500, 503, 200])
    async with receiving(receiver) as playground:
        playground.people.say(ALICE, GENERAL, "again")
        await settled(playground)
    numbers = [headers.get("x-slack-retry-num") for headers, _ in receiver.got]
    reasons = [headers.get("x-slack-retry-reason") for headers, _ in receiver.got]
    assert numbers == [None, "1", "2"]
    assert reasons == [None, "http_error", "http_error"]
    assert len({json.loads(body)["event_id"] for _, body in receiver.got}) == 1


async def test_an_app_can_ask_for_no_more_repeats() -> None:
    receiver = Receiver([500], headers={"X-Slack-No-Retry": "1"})
    async with receiving(receiver) as playground:
        playground.people.say(ALICE, GENERAL, "once")
        await settled(playground)
    assert len(receiver.got) == 1


async def test_a_slow_answer_counts_as_none() -> None:
    times = AckTimes(timeout_s=0.05, retry_after_s=(0.0,))
    receiver = Receiver([200])

    async def hang(request: web.Request) -> web.Response:
        response = await receiver.receive(request)
        if "x-slack-retry-num" not in request.headers:
            await playground.wait_for(lambda: len(receiver.got) > 1)
        return response

    application = web.Application()
    application.router.add_post("/slack/events", hang)
    async with open_playground(with_page=False, times=times) as playground, serving(application) as url:
        playground.workspace.apps[APP_ID].request_url = url
        playground.people.say(ALICE, GENERAL, "slowly")
        await settled(playground)
    assert receiver.got[1][0]["x-slack-retry-reason"] == "http_timeout"


async def test_every_request_is_signed_over_exactly_its_body() -> None:
    receiver = Receiver([200])
    async with receiving(receiver) as playground:
        playground.people.say(ALICE, GENERAL, "signed")
        await settled(playground)
        await playground.people.slash(ALICE, GENERAL, "/memory", "list")
        await playground.people.shortcut(ALICE, "edit")
    for headers, body in receiver.got:
        timestamp = headers["x-slack-request-timestamp"]
        assert headers["x-slack-signature"] == signature(SIGNING_SECRET, timestamp, body)
    types = [headers["content-type"] for headers, _ in receiver.got]
    form = "application/x-www-form-urlencoded"
    assert types == ["application/json", form, form]
    assert parse_qs(receiver.got[1][1])["command"] == ["/memory"]
    assert json.loads(parse_qs(receiver.got[2][1])["payload"][0])["type"] == "shortcut"


def test_the_signature_is_the_one_the_sdks_own_verifier_expects() -> None:
    body = "token=x&text=%C3%BC+%26&command=%2Fmemory"
    expected = SignatureVerifier(SIGNING_SECRET).generate_signature(timestamp="1531420618", body=body)
    assert signature(SIGNING_SECRET, "1531420618", body) == expected
    assert signature("another-secret", "1531420618", body) != expected


async def test_no_listener_is_needed_for_bolt_to_refuse_an_unknown_command() -> None:
    async with playing_by_http(all_of(nothing)) as playground:
        with pytest.raises(SlackRefusal) as refused:
            await playground.people.slash(ALICE, GENERAL, "/memory", "list")
    assert refused.value.error == "dispatch_failed"


async def test_errors_of_a_submission_travel_in_the_http_response() -> None:
    async def refuse(ack: Any) -> None:
        await ack(response_action="errors", errors={"name": "taken"})

    async with playing_by_http(on_view("edit", refuse)) as playground:
        payload: Json = {"type": "modal", "callback_id": "edit", "blocks": []}
        view = open_modal(playground.workspace, ALICE, APP_ID, payload)
        errors = await playground.people.submit_view(ALICE, view.id)
    assert errors == {"name": "taken"}
