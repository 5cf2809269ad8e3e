"""response_url of the playground at its edges: who may still answer, with what, and where the answer goes."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest

from app.playground.delivery.response_urls import LIFETIME_S, Occasion
from app.playground.happenings import EphemeralPosted
from app.playground.refusal import SlackRefusal
from app.playground.seed import ALICE, APP_ID, GENERAL
from app.playground.server import Playground, open_playground
from tests.bolt_bots import ephemerals
from tests.fakes import ManualClock

Json = dict[str, Any]


@pytest.fixture
async def playground() -> AsyncGenerator[Playground]:
    async with open_playground(with_page=False, enforce_rates=False) as opened:
        yield opened


def occasion(playground: Playground, **more: Any) -> Occasion:
    return Occasion(playground.workspace.apps[APP_ID], ALICE, GENERAL, **more)


async def post(url: str, body: str | Json) -> tuple[int, str]:
    data = body if isinstance(body, str) else json.dumps(body)
    async with aiohttp.ClientSession() as session, session.post(url, data=data) as response:
        return response.status, await response.text()


async def test_an_address_works_for_half_an_hour() -> None:
    clock = ManualClock()
    async with open_playground(with_page=False, clock=clock) as playground:
        url = playground.delivery.interactions.response_urls.issue(occasion(playground))
        in_time = await post(url, {"text": "in time"})
        clock.elapsed_s += LIFETIME_S + 1
        status, text = await post(url, {"text": "too late"})
    assert in_time == (200, "ok")
    assert (status, "expired_url" in text) == (404, True)


@pytest.mark.parametrize(
    ("body", "error"), [("no json", "invalid_payload"), ("[]", "invalid_payload"), ({}, "no_text")]
)
async def test_an_answer_without_content_is_refused(playground: Playground, body: str | Json, error: str) -> None:
    url = playground.delivery.interactions.response_urls.issue(occasion(playground))
    status, text = await post(url, body)
    assert (status, error in text) == (400, True)


async def test_an_address_nobody_issued_is_refused(playground: Playground) -> None:
    status, text = await post(f"{playground.base_url}/response/made-up", {"text": "hello"})
    assert (status, "invalid_url" in text) == (404, True)


async def test_an_answer_may_go_into_the_thread(playground: Playground) -> None:
    root = playground.people.say(ALICE, GENERAL, "root")
    url = playground.delivery.interactions.response_urls.issue(occasion(playground))
    await post(url, {"text": "in the thread", "response_type": "in_channel", "thread_ts": root.ts})
    assert [message.text for message in playground.thread(GENERAL, root.ts)] == ["root", "in the thread"]


async def test_an_ephemeral_answer_to_a_click_in_a_thread_is_shown_there(playground: Playground) -> None:
    seen = ephemerals(playground)
    answers = playground.delivery.interactions.response_urls
    answers.answer(occasion(playground, thread_ts="1.0"), {"text": "psst"})
    assert [(each.text, each.thread_ts, each.app_id) for each in seen] == [("psst", "1.0", APP_ID)]


async def test_an_ephemeral_message_is_deleted_by_showing_it_empty(playground: Playground) -> None:
    seen = ephemerals(playground)
    answers = playground.delivery.interactions.response_urls
    playground.workspace.emit(EphemeralPosted(GENERAL, ALICE, "5.0", "choose", app_id=APP_ID))
    answers.answer(occasion(playground, original_ts="5.0"), {"delete_original": "true"})
    assert [(each.ts, each.text) for each in seen] == [("5.0", "choose"), ("5.0", "")]
    with pytest.raises(SlackRefusal, match="message_not_found"):
        answers.answer(occasion(playground, original_ts="5.0"), {"delete_original": True})


async def test_an_app_can_neither_replace_nor_delete_what_a_person_wrote(playground: Playground) -> None:
    message = playground.people.say(ALICE, GENERAL, "mine")
    answers = playground.delivery.interactions.response_urls
    for body in ({"replace_original": True, "text": "not yours"}, {"delete_original": True}):
        with pytest.raises(SlackRefusal, match="cant_"):
            answers.answer(occasion(playground, original_ts=message.ts), body)
    assert message.text == "mine"
