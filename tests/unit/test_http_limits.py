"""How large and how long, and who a bearer token is."""

import json

import pytest
from pydantic import SecretStr
from starlette.types import Message, Receive, Scope, Send

from app.http.bearer import Bearer, Bearers, bearers_of
from app.http.limits import SizeLimited, TimeLimited

TOKEN, OTHER = "a-token-0123456789", "another-token-0123456789"


def test_a_token_is_known_as_a_whole_and_by_its_scheme_in_any_case() -> None:
    bearers = bearers_of(SecretStr(json.dumps({TOKEN: {"subject": "ci"}, OTHER: {"subject": "d", "channel": "b"}})))
    assert bearers.find(f"bearer {TOKEN}") == Bearer("ci")
    assert bearers.find(f"BEARER  {OTHER} ") == Bearer("d", "b")
    for wrong in ("", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}0", f"Bearer {TOKEN.upper()}"):
        assert bearers.find(wrong) is None


def test_of_two_entries_for_a_subject_what_both_allow_holds() -> None:
    entries = {
        TOKEN: {"subject": "ci", "actions": ["memory:read", "memory:write"]},
        OTHER: {"subject": "ci", "actions": ["memory:read", "bot:talk"]},
        "third-token-0123456789": {"subject": "free"},
    }
    narrowed = frozenset({"memory:read"})
    assert bearers_of(SecretStr(json.dumps(entries))).actions() == {"http:ci": narrowed, "mcp:ci": narrowed}


@pytest.mark.parametrize("entry", [{"subject": "ci", "actions": ["everything"]}, {"subject": "ci", "email": "a@b"}, 5])
def test_an_entry_that_is_not_understood_opens_nothing(entry: object) -> None:
    assert bearers_of(SecretStr(json.dumps({TOKEN: entry}))).are_none
    assert bearers_of(None).are_none
    assert Bearers({}).find(f"Bearer {TOKEN}") is None


SCOPE: Scope = {"type": "http", "headers": []}


async def test_a_time_limit_that_passes_in_the_middle_of_an_answer_ends_it() -> None:
    sent: list[Message] = []

    async def late(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise TimeoutError

    async def send(message: Message) -> None:
        sent.append(message)

    with pytest.raises(TimeoutError):
        await TimeLimited(late, 5.0)(SCOPE, never, send)
    assert [message["type"] for message in sent] == ["http.response.start"]


async def test_a_caller_that_leaves_before_its_body_is_whole_reaches_nobody() -> None:
    reached: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        reached.append(scope)

    async def leave() -> Message:
        return {"type": "http.disconnect"}

    await SizeLimited(app, 10)(SCOPE, leave, nowhere)
    assert reached == []


async def never() -> Message:
    raise AssertionError("nobody reads here")


async def nowhere(_message: Message) -> None:
    raise AssertionError("nobody is told anything here")
