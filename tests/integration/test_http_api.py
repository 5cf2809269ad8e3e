"""``/api/<group>.<verb>``: names and values of either spelling, statuses, and who is let in."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from app.buckets import Rate
from app.http.api import api_routes
from app.http.limits import BODY_BYTES, HttpLimits
from commands.spec import Surface
from tests.surfaces import CI, CLOSED, PINNED, Kept, client_of, door_of, registry_of

MARKER = "hunter2-do-not-echo"


@dataclass(frozen=True, slots=True)
class Api:
    client: httpx.AsyncClient
    kept: Kept


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    kept = Kept()
    async with client_of(api_routes(registry_of(kept), door_of())) as client:
        yield Api(client, kept)


@pytest.mark.parametrize("query", ["limit=7&is-loud=true&words=two%20words", "limit=7&isLoud=true&words=two%20words"])
async def test_a_query_string_may_be_spelled_either_way_and_means_what_a_body_means(api: Api, query: str) -> None:
    """Reference bot, 9.2 and 9.5."""
    read = await api.client.get(f"/api/echo.show?{query}")
    posted = await api.client.post("/api/echo.show", json={"limit": 7, "isLoud": True, "words": "two words"})
    assert read.status_code == posted.status_code == 200
    assert read.json() == posted.json()
    values = {"words": "two words", "limit": 7, "isLoud": True, "scope": None}
    assert read.json() == {"ok": True, "command": "echo.show", "data": {"values": values, "caller": "http:ci"}}


async def test_a_body_takes_text_for_numbers_and_truth_values_and_may_be_missing(api: Api) -> None:
    as_text = await api.client.post("/api/echo.show", json={"limit": "10", "isLoud": "false"})
    assert as_text.json()["data"]["values"] | {"words": None, "scope": None} == {
        "limit": 10,
        "isLoud": False,
        "words": None,
        "scope": None,
    }
    assert (await api.client.post("/api/echo.show")).json()["data"]["values"]["limit"] == 20


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": None, "isLoud": MARKER}, "isLoud"),
        ({"scope": MARKER}, "scope"),
        ({"is-loud": True}, ""),
        ({MARKER: 1}, ""),
        ({"words": {"a": MARKER}}, "words"),
    ],
)
async def test_wrong_values_are_named_and_never_repeated(api: Api, body: object, named: str) -> None:
    answer = await api.client.post("/api/echo.show", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_input"
    assert answer.json()["decidedBy"] == "registry"
    assert named.lower() in answer.json()["message"].lower().replace("-", "")
    assert MARKER not in answer.text
    assert api.kept.seen == []


@pytest.mark.parametrize("body", [b"{", b"[1]", b'"text"', b"\xff", b"[" * 100_000, b'{"limit": NaN}'])
async def test_what_is_no_json_object_is_refused(api: Api, body: bytes) -> None:
    answer = await api.client.post("/api/echo.show", content=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert api.kept.seen == []


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("conflict", 409, "conflict"),
        ("missing", 404, "not_found"),
        ("down", 503, "unavailable"),
        ("busy", 503, "busy"),
        ("forbidden", 403, "unauthorized"),
        ("crash", 500, "internal"),
    ],
)
async def test_each_failure_has_its_status_and_says_nothing_of_what_is_inside(
    api: Api, how: str, status: int, code: str
) -> None:
    answer = await api.client.post("/api/echo.fail", json={"how": how})
    assert (answer.status_code, answer.json()["error"], answer.json()["ok"]) == (status, code, False)
    assert answer.json()["decidedBy"] == "handler"
    assert "s3cret" not in answer.text


@pytest.mark.parametrize("command_id", ["echo.unknown", "nothing.show", "talk.only", "echo", "ECHO.SHOW", "a" * 3_000])
async def test_what_is_no_command_of_programs_is_not_found(api: Api, command_id: str) -> None:
    for answer in (await api.client.get(f"/api/{command_id}"), await api.client.post(f"/api/{command_id}", json={})):
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert api.kept.seen == []


async def test_a_command_that_changes_something_is_not_given_by_a_link(api: Api) -> None:
    answer = await api.client.get("/api/echo.change?words=x")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert api.kept.seen == []
    assert (await api.client.post("/api/echo.change", json={"words": "x"})).status_code == 200
    assert (await api.client.put("/api/echo.change", json={})).status_code == 405


async def test_the_caller_is_the_tokens_subject_in_the_tokens_channel_whatever_the_request_says(api: Api) -> None:
    headers = {"Authorization": f"Bearer {PINNED}", "X-Subject": "ci"}
    await api.client.post("/api/echo.show", json={}, headers=headers)
    await api.client.post("/api/echo.show", json={"caller": "http:deploys"})
    ((caller, _),) = api.kept.seen
    assert (caller.id, caller.surface) == ("http:deploys", Surface.HTTP)
    assert (caller.origin.channel_id, caller.origin.visibility) == ("http:builds", "machine")


@pytest.mark.parametrize(
    "header", ["", f"Bearer {CI}x", f"Bearer {CI[:-1]}", f"Basic {CI}", CI, "Bearer", f"Bearer {CI} {CI}", "Bearer é"]
)
async def test_without_a_known_token_nobody_comes_in_and_nothing_is_told(
    api: Api, header: str, capsys: pytest.CaptureFixture[str]
) -> None:
    headers = [(b"Authorization", header.encode("latin-1"))]
    answer = await api.client.post("/api/echo.show", content=b"not json", headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json()["error"] == "unauthenticated"
    log = capsys.readouterr().out
    assert "bearer_refused" in log
    assert CI[:-1] not in answer.text + log


async def test_a_refused_subject_learns_nothing_of_what_the_command_takes(api: Api) -> None:
    """Reference bot, 9.6: authorised before parsed."""
    headers = {"Authorization": f"Bearer {CLOSED}"}
    answer = await api.client.post("/api/echo.show", json={"bogus": MARKER}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (403, "unauthorized")
    assert "bogus" not in answer.text
    assert "outsider" not in answer.json()["message"]


@pytest.mark.parametrize(
    "tokens", ["", "{}", "[]", "{", '{"short": {"subject": "x"}}', '{"long-enough-0123456789": {}}']
)
async def test_unusable_tokens_shut_the_door(tokens: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with client_of(api_routes(registry_of(Kept()), door_of(tokens))) as client:
        answer = await client.post("/api/echo.show", json={})
    assert (answer.status_code, answer.json()["error"]) == (503, "disabled")
    assert "long-enough" not in capsys.readouterr().out


async def test_one_bad_entry_shuts_the_door_for_all() -> None:
    tokens = {CI: {"subject": "ci"}, PINNED: {"subject": "has:colon"}}
    async with client_of(api_routes(registry_of(Kept()), door_of(tokens))) as client:
        assert (await client.post("/api/echo.show", json={})).status_code == 503


async def test_a_body_beyond_the_limit_is_refused_by_its_length_or_as_it_arrives(api: Api) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * (BODY_BYTES // 2)

    for content in (b" " * (BODY_BYTES + 1), chunks()):
        answer = await api.client.post("/api/echo.show", content=content)
        assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert (await api.client.post("/api/echo.show", content=b"{}" + b" " * (BODY_BYTES - 2))).status_code == 200


async def test_a_subject_that_asks_too_often_waits_and_another_one_does_not() -> None:
    limits = HttpLimits(subject=Rate(burst=2, per_s=0.01))
    async with client_of(api_routes(registry_of(Kept()), door_of(limits=limits))) as client:
        statuses = [(await client.get("/api/echo.show")).status_code for _ in range(3)]
        refused = await client.get("/api/echo.show")
        other = await client.get("/api/echo.show", headers={"Authorization": f"Bearer {PINNED}"})
    assert statuses == [200, 200, 429]
    assert int(refused.headers["retry-after"]) in range(50, 110)
    assert other.status_code == 200


async def test_guessing_tokens_is_slowed_down_by_address() -> None:
    limits = HttpLimits(address=Rate(burst=3, per_s=0.01))
    async with client_of(api_routes(registry_of(Kept()), door_of(limits=limits)), token="guess") as client:
        statuses = [(await client.get("/api/echo.show")).status_code for _ in range(4)]
    assert statuses == [401, 401, 401, 429]


async def test_what_takes_too_long_is_told_so() -> None:
    async with client_of(api_routes(registry_of(Kept()), door_of(limits=HttpLimits(command_s=0.02)))) as client:
        answer = await client.get("/api/echo.fail?how=never")
    assert (answer.status_code, answer.json()["error"]) == (504, "timed_out")
