"""How a call is made: tokens, scopes, ways to send arguments, rate limits, faults and the record of calls."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from aiohttp import ClientError, ServerDisconnectedError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler

from app.playground.faults import Fault, FaultKind
from app.playground.model import Json
from app.playground.seed import ALICE, APP_ID, APP_TOKEN, BOT_ID, BOT_TOKEN, BOT_USER, DEPLOYS, GENERAL
from app.playground.webapi.methods import METHODS
from tests.fakes import ManualClock
from tests.playground_api import Api, open_api, refusal_of

POST = "chat.postMessage"


@pytest.fixture
async def api() -> AsyncGenerator[Api]:
    async with open_api() as opened:
        yield opened


async def test_auth_test_says_who_the_bot_is_and_what_it_may(api: Api) -> None:
    answer = await api.slack.auth_test()
    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == (BOT_USER, BOT_ID, "T0SWITCH01")
    assert set(answer.headers["x-oauth-scopes"].split(",")) == api.app.scopes
    assert answer.headers["x-slack-req-id"]
    posted = await api.slack.chat_postMessage(channel=GENERAL, text="x")
    assert posted.headers["x-accepted-oauth-scopes"] == "chat:write"
    of_app = await api.call("auth.test", token=APP_TOKEN)
    assert (of_app["app_id"], "user_id" in of_app) == (APP_ID, False)


@pytest.mark.parametrize(
    ("token", "method", "error"),
    [
        (None, "auth.test", "not_authed"),
        ("xoxb-wrong", "auth.test", "invalid_auth"),
        (BOT_TOKEN, "apps.connections.open", "not_allowed_token_type"),
        (APP_TOKEN, POST, "not_allowed_token_type"),
        (BOT_TOKEN, "chat.shout", "unknown_method"),
    ],
)
async def test_calls_without_the_right_token_or_method(api: Api, token: str | None, method: str, error: str) -> None:
    assert await api.error(method, token=token) == error


async def test_a_revoked_token_opens_nothing(api: Api) -> None:
    assert (await api.call("auth.revoke", test=True))["revoked"] is False
    assert (await api.call("auth.revoke"))["revoked"] is True
    assert await api.error("auth.test") == "token_revoked"


async def test_only_an_app_token_opens_a_socket(api: Api) -> None:
    answer = await api.slack.apps_connections_open(app_token=APP_TOKEN)
    assert answer["url"] == "ws://127.0.0.1:1/link"
    assert api.sockets.issued == [APP_ID]


async def test_a_missing_scope_is_named_beside_those_that_are_there(api: Api) -> None:
    api.app.scopes -= {"chat:write", "groups:history"}
    answer = await api.call(POST, channel=GENERAL, text="x")
    assert (answer["error"], answer["needed"]) == ("missing_scope", "chat:write")
    assert set(answer["provided"].split(",")) == api.app.scopes
    private = await api.call("conversations.history", channel="G0LEADS001")
    assert private["needed"] == "groups:history"
    assert (await api.call("conversations.history", channel=GENERAL))["ok"] is True


async def test_every_method_with_scopes_refuses_an_app_without_any(api: Api) -> None:
    api.app.scopes.clear()
    guarded = [name for name, method in METHODS.items() if method.scopes and not method.app_token]
    errors = {name: await api.error(name) for name in guarded}
    assert len(guarded) > 40
    assert set(errors.values()) == {"missing_scope"}


async def test_arguments_come_by_query_form_multipart_or_json_alike(api: Api) -> None:
    url, headers = f"{api.origin.base_url}/api/api.test", {"Authorization": f"Bearer {BOT_TOKEN}"}
    given = {"a": "1", "b": '{"c": 2}'}
    by_query = api.session.get(url, params=given, headers=headers)
    by_post_query = api.session.post(url, params=given, headers=headers)
    by_form = api.session.post(url, data=given, headers=headers)
    by_json = api.session.post(url, json=given, headers=headers)
    for request in (by_query, by_post_query, by_form, by_json):
        async with request as response:
            assert (await response.json())["args"] == given
            assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    token_as_argument = {"token": BOT_TOKEN, "channel": GENERAL, "text": "x", "blocks": '[{"type":"divider"}]'}
    async with api.session.post(f"{api.origin.base_url}/api/{POST}", data=token_as_argument) as response:
        assert (await response.json())["message"]["blocks"][0]["type"] == "divider"
    assert "token" not in api.calls.calls[-1].args


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[1]", "json_not_object")])
async def test_a_body_that_is_no_json_object(api: Api, body: str, error: str) -> None:
    headers = {"Authorization": f"Bearer {BOT_TOKEN}", "Content-Type": "application/json"}
    url = f"{api.origin.base_url}/api/auth.test"
    async with api.session.post(url, data=body, headers=headers) as response:
        assert (await response.json())["error"] == error


async def test_a_form_that_breaks_off(api: Api) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    url = f"{api.origin.base_url}/api/api.test"
    async with api.session.post(url, data=b"--x\r\nnonsense", headers=headers) as response:
        assert (await response.json())["error"] == "invalid_form_data"


async def test_an_unknown_bot_is_not_found(api: Api) -> None:
    assert await api.error("bots.info", bot="B0NOBODY01") == "bot_not_found"
    assert (await api.call("bots.info"))["bot"]["id"] == BOT_ID


async def test_a_missing_argument_is_named(api: Api) -> None:
    answer = await api.call("conversations.info")
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == ["[ERROR] missing required field: channel"]


async def test_slacks_own_client_sends_queries_forms_and_json(api: Api) -> None:
    posted = await api.slack.chat_postMessage(channel=GENERAL, text="x", blocks=[{"type": "divider"}])
    await api.slack.reactions_add(channel=GENERAL, timestamp=posted["ts"], name="eyes")
    history = await api.slack.conversations_history(channel=GENERAL, limit=1)
    assert history["messages"][0]["reactions"][0]["name"] == "eyes"
    user = await api.slack.users_info(user=ALICE)
    assert user["user"]["real_name"] == "Alice Martin"
    opened = await api.slack.conversations_open(users=[ALICE])
    assert opened["channel"]["id"] in api.workspace.channels
    refused = await refusal_of(api.slack.chat_update(channel=GENERAL, ts=posted["ts"], text="x" * 4_001))
    assert refused["error"] == "msg_too_long"


async def test_too_many_calls_of_a_method_get_429_and_the_seconds_to_wait() -> None:
    clock = ManualClock()
    async with open_api(clock=clock, rates=True) as api:
        for _ in range(20):
            await api.call("reactions.remove")
        limited = await refusal_of(api.slack.reactions_remove(channel=GENERAL, timestamp="1.2", name="eyes"))
        assert limited.status_code == 429
        assert limited["error"] == "ratelimited"
        assert limited.headers["Retry-After"] == "3"
        assert (await api.call("users.info", user=ALICE))["ok"] is True
        clock.elapsed_s += 3
        assert await api.error("reactions.remove") == "no_item_specified"


async def test_posting_is_limited_in_each_channel_for_itself() -> None:
    clock = ManualClock()
    async with open_api(clock=clock, rates=True) as api:
        for _ in range(10):
            assert (await api.call(POST, channel=GENERAL, text="x"))["ok"] is True
        assert await api.error(POST, channel=GENERAL, text="x") == "ratelimited"
        assert (await api.call(POST, channel=DEPLOYS, text="x"))["ok"] is True
        clock.elapsed_s += 1
        assert (await api.call(POST, channel=GENERAL, text="x"))["ok"] is True
        assert len(api.workspace.messages[GENERAL]) == 11


async def test_slacks_own_rate_limit_handler_waits_and_succeeds(api: Api) -> None:
    api.faults.inject(Fault(POST, FaultKind.RATE_LIMITED, retry_after_s=0))
    api.slack.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    assert (await api.slack.chat_postMessage(channel=GENERAL, text="x"))["ok"] is True
    assert [call.status for call in api.calls.of(POST)] == [429, 200]


async def test_faults_that_answer_in_place_of_the_method(api: Api) -> None:
    url, headers = f"{api.origin.base_url}/api/{POST}", {"Authorization": f"Bearer {BOT_TOKEN}"}
    sent = {"channel": GENERAL, "text": "x"}
    api.faults.inject(Fault(POST, FaultKind.RATE_LIMITED, retry_after_s=7))
    async with api.session.post(url, json=sent, headers=headers) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "7")
    api.faults.inject(Fault(POST, FaultKind.SERVER_ERROR, status=502))
    async with api.session.post(url, json=sent, headers=headers) as response:
        assert (response.status, response.content_type) == (502, "text/html")
    api.faults.inject(Fault(POST, FaultKind.REFUSED, error="fatal_error"))
    assert await api.error(POST, **sent) == "fatal_error"
    api.faults.inject(Fault(POST, FaultKind.DROP_BEFORE))
    with pytest.raises(ServerDisconnectedError):
        await api.call(POST, **sent)
    assert GENERAL not in api.workspace.messages
    assert [call.status for call in api.calls.calls] == [429, 502, 200, 0]


async def test_faults_that_lose_or_delay_the_answer_of_a_method_that_was_run(api: Api) -> None:
    sent: Json = {"channel": GENERAL, "text": "x"}
    api.faults.inject(Fault(POST, FaultKind.DROP_AFTER))
    with pytest.raises(ServerDisconnectedError):
        await api.call(POST, **sent)
    assert api.calls.calls[-1].status == 0
    assert api.calls.calls[-1].ok
    api.faults.inject(Fault(POST, FaultKind.SLOW, delay_s=0.01))
    assert (await api.call(POST, **sent))["ok"] is True
    api.faults.inject(Fault(POST, FaultKind.HANG_AFTER, delay_s=0.05))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await api.call(POST, **sent)
    assert len(api.workspace.messages[GENERAL]) == 3


async def test_slacks_own_client_posts_twice_when_the_answer_is_lost(api: Api) -> None:
    api.faults.inject(Fault(POST, FaultKind.DROP_AFTER))
    await api.slack.chat_postMessage(channel=GENERAL, text="x")
    assert len(api.workspace.messages[GENERAL]) == 2


async def test_a_call_can_be_waited_for(api: Api) -> None:
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(api.calls.wait_for(lambda call: call.method == POST))
        await api.call("api.test")
        await api.call(POST, channel=GENERAL, text="x")
    assert waiting.result().args == {"channel": GENERAL, "text": "x"}
    assert (await api.calls.wait_for(lambda call: call.method == "api.test")).ok
    with pytest.raises(TimeoutError):
        await api.calls.wait_for(lambda call: call.method == POST, since=2, timeout_s=0.01)


async def test_a_dropped_connection_is_a_client_error(api: Api) -> None:
    api.faults.inject(Fault("*", FaultKind.DROP_BEFORE, skip=1))
    assert (await api.call("api.test"))["ok"] is True
    with pytest.raises(ClientError):
        await api.call("api.test")
