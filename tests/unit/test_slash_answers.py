"""Slash commands when something is amiss: the payload, the authority, or the address to answer to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientConnectionError, web

from app.background import Background
from app.slack.slash import PIECE_CHARS, SLASH_MALFORMED, SLASH_UNANSWERED, Slash, post
from commands.ports import Decision
from commands.registry import Registry
from commands.spec import Caller, Command, Reply, Values
from tests.bolt_bots import serving
from tests.fakes import Rooms
from tests.surfaces import FakeAuthority

MARKER = "hunter2-do-not-echo"
PAYLOAD = {
    "command": "/memory",
    "text": "work",
    "user_id": "U0ALICE001",
    "channel_id": "C0GENERAL1",
    "response_url": "https://x",
}


class Broken(FakeAuthority):
    async def may_run(self, caller: Caller, command: Command) -> Decision:
        raise RuntimeError(MARKER)


@dataclass(slots=True)
class Slack:
    """Takes acknowledgements, and answers by response_url with each of ``outcomes`` in turn."""

    outcomes: Sequence[int | Exception] = ()
    acks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    posted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def ack(self, **answer: Any) -> None:
        self.acks.append(answer)

    async def post(self, response_url: str, message: dict[str, Any]) -> int:
        assert response_url == PAYLOAD["response_url"]
        self.posted.append(message)
        outcome = self.outcomes[len(self.posted) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def given(
    slack: Slack, payload: dict[str, Any], text: str = "done", authority: FakeAuthority | None = None
) -> None:
    async def handle(_caller: Caller, _values: Values) -> Reply:
        return Reply({}, text)

    background = Background()
    registry = Registry([Command("memory.work", "works", "memory:read", "read", handle)], authority or FakeAuthority())
    await Slash(registry, background.spawn, Rooms(), post=slack.post).answer(slack.ack, payload)
    assert await background.drain(1.0) == 0


async def test_one_message_goes_with_the_acknowledgement_to_the_person_alone() -> None:
    slack = Slack()
    await given(slack, PAYLOAD)
    assert slack.acks == [
        {"response_type": "ephemeral", "text": "done", "blocks": [{"type": "markdown", "text": "done"}]}
    ]
    assert slack.posted == []


@pytest.mark.parametrize("missing", ["command", "user_id", "channel_id"])
async def test_a_payload_that_lacks_something_is_acknowledged_with_a_sentence(
    missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    slack = Slack()
    await given(slack, {key: value for key, value in PAYLOAD.items() if key != missing} | {"text": MARKER})
    (ack,) = slack.acks
    assert ack["text"].startswith("⚠️")
    log = capsys.readouterr().out
    assert SLASH_MALFORMED in log
    assert MARKER not in log


async def test_a_fault_that_nobody_foresaw_is_acknowledged_with_a_sentence() -> None:
    slack = Slack()
    await given(slack, PAYLOAD, authority=Broken())
    (ack,) = slack.acks
    assert ack["text"].startswith("⚠️ Something went wrong")
    assert MARKER not in str(ack)


@pytest.mark.parametrize("outcome", [404, 500, ClientConnectionError(MARKER), TimeoutError(MARKER)])
async def test_an_answer_slack_does_not_take_is_logged_and_not_tried_further(
    outcome: int | Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    slack = Slack(outcomes=[200, outcome, 200])
    await given(slack, PAYLOAD, text="x" * (PIECE_CHARS * 2 + 1))
    assert slack.acks == [{}]
    assert len(slack.posted) == 2
    log = capsys.readouterr().out
    assert SLASH_UNANSWERED in log
    assert MARKER not in log


async def test_a_late_answer_is_posted_once_and_past_the_environments_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[Any] = []

    async def take(request: web.Request) -> web.Response:
        got.append(await request.json())
        return web.Response(status=500 if len(got) > 1 else 200)

    application = web.Application()
    application.router.add_post("/answer", take)
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with serving(application, "/answer") as address:
        assert await post(address, {"text": "here it is"}) == 200
        assert await post(address, {"text": "again"}) == 500
    assert got == [{"text": "here it is"}, {"text": "again"}]
