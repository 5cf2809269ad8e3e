"""What the bot finds out about Slack, against a Slack of its own on loopback: every finding and its advice."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.checks import Check
from app.slack.health import bot_token_checks, http_check, socket_check
from app.slack.manifest import BOT_SCOPES
from tests.small_slack import APP_TOKEN, BOT_TOKEN, SmallSlack, access, open_small_slack


@pytest.fixture
async def slack() -> AsyncIterator[SmallSlack]:
    async with open_small_slack() as state:
        yield state


def deadline() -> asyncio.Timeout:
    return asyncio.timeout(10)


async def test_a_good_bot_token_is_named_with_its_workspace(slack: SmallSlack) -> None:
    async with deadline():
        identity, scopes = await bot_token_checks(access(slack.address))
    assert identity == Check("Slack bot token", "ok", "signed in to Acme as switchboard")
    assert scopes == Check("Slack scopes", "ok", f"all {len(BOT_SCOPES)} are granted")
    assert slack.calls == [("auth.test", f"Bearer {BOT_TOKEN}")]


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("invalid_auth", "copy it from api.slack.com/apps under OAuth & Permissions"),
        ("not_authed", "copy it from api.slack.com/apps under OAuth & Permissions"),
        ("token_revoked", "reinstall the app"),
        ("token_expired", "copy the current one"),
        ("account_inactive", "install it again"),
        ("fatal_error", "Slack refused auth.test: fatal_error"),
    ],
)
async def test_a_refused_bot_token_is_told_with_the_way_to_the_right_one(
    slack: SmallSlack, error: str, advice: str
) -> None:
    slack.identity = {"ok": False, "error": error}
    async with deadline():
        (check,) = await bot_token_checks(access(slack.address))
    assert check.level == "fail"
    assert advice in check.text


async def test_a_persons_token_is_not_a_bots(slack: SmallSlack) -> None:
    slack.identity.pop("bot_id")
    async with deadline():
        (check,) = await bot_token_checks(access(slack.address))
    assert (check.level, check.text.split(";")[0]) == ("fail", "this token is not a bot's")


async def test_each_missing_scope_is_named_with_its_reason(slack: SmallSlack) -> None:
    slack.scopes = ", ".join(scope for scope in BOT_SCOPES if scope not in {"chat:write", "im:history"})
    async with deadline():
        _, first, second = await bot_token_checks(access(slack.address))
    assert [first.level, second.level] == ["fail", "fail"]
    assert first.text.startswith("chat:write is missing, needed to answer; ")
    assert second.text.startswith("im:history is missing, needed to read what people write to it directly; ")
    assert first.text.endswith("then reinstall the app")


async def test_scopes_slack_does_not_tell_are_a_warning(slack: SmallSlack) -> None:
    slack.scopes = None
    async with deadline():
        _, scopes = await bot_token_checks(access(slack.address))
    assert scopes.level == "warn"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ((200, "text/html", "<html>a login page"), "without Slack's JSON; check slack.api_url"),
        ((502, "text/html", "bad gateway"), "HTTP status 502"),
        ((200, "application/json", "{broken"), "without Slack's JSON; check slack.api_url"),
        ((429, "application/json", '{"ok": false, "error": "ratelimited"}'), "Slack refused auth.test: ratelimited"),
    ],
)
async def test_an_answer_that_is_not_slacks_is_told(slack: SmallSlack, raw: tuple[int, str, str], reason: str) -> None:
    slack.raw = raw
    async with deadline():
        (check,) = await bot_token_checks(access(slack.address))
    assert check.level == "fail"
    assert reason in check.text


async def test_a_slack_that_does_not_answer_is_waited_for_no_longer_than_said(slack: SmallSlack) -> None:
    slack.silent = True
    async with deadline():
        (check,) = await bot_token_checks(access(slack.address, timeout_s=0.05))
    assert check.level == "fail"
    assert "no answer within 0.05 s" in check.text


async def test_a_slack_that_is_not_there_is_told_for_both_tokens() -> None:
    nowhere = access("http://127.0.0.1:9")
    async with deadline():
        checks = [*await bot_token_checks(nowhere), await socket_check(nowhere)]
    assert [check.level for check in checks] == ["fail", "fail"]
    assert all("cannot be reached" in check.text and "slack.api_url" in check.text for check in checks)


async def test_socket_mode_is_tried_for_real_and_left_politely(slack: SmallSlack) -> None:
    async with deadline():
        check = await socket_check(access(slack.address))
        while not slack.goodbyes:
            await asyncio.sleep(0.005)
    assert check == Check("Socket Mode", "ok", "Slack said hello")
    assert slack.calls == [("apps.connections.open", f"Bearer {APP_TOKEN}")]


async def test_other_connections_of_the_app_are_mentioned(slack: SmallSlack) -> None:
    slack.greetings = ('"not of interest"', '{"type": "ping"}', '{"type": "hello", "num_connections": 3}')
    async with deadline():
        check = await socket_check(access(slack.address))
    assert check.level == "ok"
    assert "2 more connection(s)" in check.text


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("invalid_auth", "copy it from api.slack.com/apps under Basic Information (App-Level Tokens)"),
        ("not_authed", "App-Level Tokens"),
        ("token_revoked", "make a new one"),
        ("missing_scope", "lacks connections:write"),
        ("not_allowed_token_type", "this is no app-level token"),
        ("internal_error", "Slack refused apps.connections.open: internal_error"),
    ],
)
async def test_a_refused_app_token_is_told_with_what_to_do(slack: SmallSlack, error: str, advice: str) -> None:
    slack.open_error = error
    async with deadline():
        check = await socket_check(access(slack.address))
    assert check.level == "fail"
    assert advice in check.text


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("link_disabled", "Socket Mode is switched off for this app"),
        ("too_many_websockets", "ten connections already"),
        ("warning", "Slack hung up at once (warning)"),
    ],
)
async def test_a_socket_that_is_refused_says_why(slack: SmallSlack, reason: str, advice: str) -> None:
    slack.greetings = (f'{{"type": "disconnect", "reason": "{reason}"}}',)
    async with deadline():
        check = await socket_check(access(slack.address))
    assert check.level == "fail"
    assert advice in check.text


async def test_a_socket_that_closes_without_a_word_is_a_failure(slack: SmallSlack) -> None:
    slack.greetings, slack.hangs_up = (), True
    async with deadline():
        check = await socket_check(access(slack.address))
    assert (check.level, check.text) == ("fail", "Slack hung up at once (closed); try again")


@pytest.mark.parametrize("greetings", [(), ("{broken",)])
async def test_a_socket_without_a_hello_is_a_failure(slack: SmallSlack, greetings: tuple[str, ...]) -> None:
    slack.greetings = greetings
    async with deadline():
        check = await socket_check(access(slack.address, timeout_s=0.05))
    assert check.level == "fail"
    assert "cannot be reached" in check.text


def test_over_http_the_request_url_to_enter_is_told() -> None:
    check = http_check(access("http://127.0.0.1:9", secret="s3cret"), "127.0.0.1:8080")
    assert check.level == "ok"
    assert "https://<public name of this bot>/slack/events, led to 127.0.0.1:8080" in check.text
    assert "s3cret" not in check.text


def test_over_http_a_signing_secret_is_needed() -> None:
    check = http_check(access("http://127.0.0.1:9"), "127.0.0.1:8080")
    assert (check.level, check.text.split(";")[0]) == ("fail", "no signing secret")


def test_what_the_doctor_holds_shows_no_token() -> None:
    shown = repr(access("http://127.0.0.1:9", secret="s3cret"))
    assert not any(secret in shown for secret in (BOT_TOKEN, APP_TOKEN, "s3cret"))
