"""The memory service from outside: who may ask, what of, how much may be sent (section 16; reference 7.2)."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.memory_services import (
    BEARER,
    DATA_ROUTES,
    TOKEN,
    WAIT_S,
    ServedMemory,
    fact,
    head,
    new_scope,
    served_memory,
    texts,
)

TOO_MANY = 524_289


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedMemory]:
    folder = tmp_path_factory.mktemp("served")
    with served_memory(folder, "--data-dir", str(folder)) as served:
        yield served


def anonymous(service: ServedMemory, method: str, path: str, **more: str) -> httpx.Response:
    return httpx.request(
        method, f"http://127.0.0.1:{service.port}{path}", headers=more or None, trust_env=False, timeout=20
    )


def test_health_and_description_are_for_everybody(service: ServedMemory) -> None:
    """Worker: /healthz open; 7.2: no auth, {ok:true, build, features}."""
    health = anonymous(service, "GET", "/healthz")
    assert (health.status_code, health.headers["content-type"]) == (200, "application/json")
    assert health.json()["ok"] is True
    assert "memory" in health.json()["features"]
    assert health.json()["build"]
    assert anonymous(service, "GET", "/openapi.json").json()["openapi"].startswith("3.1")


@pytest.mark.parametrize("path", ["/", "/nope", "/retrieve/", "/Retrieve", "/healthz/x"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_an_unknown_path_is_not_found_before_anything_else(service: ServedMemory, method: str, path: str) -> None:
    """Worker: unknown route 404; 33.5: even without a bearer; 32.27: before method and auth."""
    answer = anonymous(service, method, path)
    assert (answer.status_code, answer.json()) == (404, {"error": "not found"})


@pytest.mark.parametrize("path", [*DATA_ROUTES, "/healthz", "/openapi.json"])
def test_another_method_is_refused_before_the_bearer_is_looked_at(service: ServedMemory, path: str) -> None:
    """Worker: non-POST 405; 32.27: 405 precedes 401. HEAD and GET are no POST."""
    others = {"HEAD", "GET", "PUT", "DELETE", "OPTIONS", "PATCH"}
    if path not in DATA_ROUTES:
        others = others - {"GET"} | {"POST"}
    for method in sorted(others):
        answer = anonymous(service, method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST" if path in DATA_ROUTES else "GET")
        assert answer.headers["content-type"] == "application/json"
        assert method == "HEAD" or "method" in answer.json()["error"]


@pytest.mark.parametrize("path", DATA_ROUTES)
@pytest.mark.parametrize(
    "bearer",
    [
        *("", "Bearer", "Bearer ", f"bearer {TOKEN}", f"BEARER {TOKEN}", f"Bearer  {TOKEN}", f"Basic {TOKEN}", TOKEN),
        *(f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", f"Bearer {TOKEN.upper()}", f"Token {TOKEN}", "Bearer \xe9"),
    ],
)
def test_only_the_bearer_opens(service: ServedMemory, path: str, bearer: str) -> None:
    """Worker: missing/wrong/non-Bearer token -> 401, whatever the body is."""
    answer = service.raw(head(path, "Content-Length: 1", "Connection: close", bearer=bearer) + b"{")
    assert (answer.status, answer.error) == (401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("length", ["", "   ", "+5", "-1", "0x10", "5e2", "12.5", "5,5", "5 5", "five", "\xb2"])
def test_a_length_that_is_no_plain_number_is_refused_unread(service: ServedMemory, length: str) -> None:
    """Worker: undeclared length -> 411, before parsing; blank/non-digit headers take the same path (7.2, 32.26)."""
    answer = service.raw(head("/write", f"Content-Length: {length}", "Connection: close"))
    assert (answer.status, "numeric Content-Length" in answer.error) == (411, True)
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize(
    "framing",
    [
        (),
        ("Transfer-Encoding: chunked",),
        ("Transfer-Encoding: identity",),
        ("Transfer-Encoding: chunked", "Content-Length: 7"),
        ("Content-Length: 7", "Transfer-Encoding: chunked"),
        ("Content-Length: 7", "Content-Length: 7"),
    ],
)
def test_a_body_of_unknown_length_is_never_parsed(service: ServedMemory, framing: tuple[str, ...]) -> None:
    """Worker: a streamed or bodiless request with no Content-Length is 411 (33.5: chunked body)."""
    answer = service.raw(head("/write", *framing), b"2\r\n{}\r\n0\r\n\r\n")
    assert answer.status == 411


def test_a_slow_body_without_a_bearer_is_not_waited_for(service: ServedMemory) -> None:
    """The service would wait for ten seconds."""
    started = time.monotonic()
    assert service.raw(head("/write", "Content-Length: 500", bearer=None)).status == 401
    assert time.monotonic() - started < 5


def test_the_order_of_checks_holds_for_lengths_that_are_none(service: ServedMemory) -> None:
    """Reference 7.2: 404, 405, 401, 411, 413, 400; the bearer may stand before or after the length."""
    bad = "Content-Length: 0x10"
    assert service.raw(head("/nope", bad)).status == 404
    assert service.raw(head("/write", bad, method="PUT")).status == 405
    assert service.raw(head("/write", bad, bearer=None)).status == 401
    assert service.raw(head("/write", bad, f"Authorization: {BEARER}", bearer=None)).status == 411
    assert service.raw(head("/write", bad), b"x" * 16).status == 411
    assert service.raw(head("/write", f"Content-Length: {TOO_MANY}", bearer="Bearer x")).status == 401


@pytest.mark.parametrize("length", [str(TOO_MANY), "614400", "0" * 30 + "614400", "9" * 30])
def test_too_large_a_body_is_refused_by_its_length_alone(service: ServedMemory, length: str) -> None:
    """Worker: oversized body -> 413, before parsing; the reason names the limit."""
    answer = service.raw(head("/write", f"Content-Length: {length}", "Expect: 100-continue"))
    assert (answer.status, "524288" in answer.error) == (413, True)


def test_whoever_sends_a_large_body_hears_why_it_was_refused(service: ServedMemory) -> None:
    """33.5: 600 KiB body -> 413. It is thrown away, and the answer is not lost in a reset."""
    body = b"x" * 614_400
    for _ in range(5):
        answer = service.raw(head("/write", f"Content-Length: {len(body)}"), body)
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert service.raw(head("/write", f"Content-Length: {len(body)}", bearer="Bearer x"), body).status == 401
    assert anonymous(service, "POST", "/write", **{"Content-Length": "0", "Authorization": BEARER}).status_code == 400


def test_the_largest_body_is_read(service: ServedMemory) -> None:
    """7.2: over 524,288 bytes is too large, and 524,288 are not; digits may be surrounded by blanks."""
    scope = new_scope()
    body = b'{"scopeKey":"%s","records":[],"filler":"' % scope.encode()
    body += b"x" * (TOO_MANY - 1 - len(body) - 2) + b'"}'
    answer = service.raw(head("/write", f"Content-Length:  \t{len(body)}  ", "Connection: close"), body)
    assert (len(body), answer.status) == (524_288, 200)


def test_a_request_may_come_in_pieces_and_many_on_one_connection(service: ServedMemory) -> None:
    scope = new_scope()
    content = b'{"scopeKey":"%s","limit":5}' % scope.encode()
    whole = head("/list", f"Content-Length: {len(content)}", "Connection: close") + content
    assert service.raw(*[whole[at : at + 7] for at in range(0, len(whole), 7)]).body == b'{"records":[]}'
    late = head("/write", "Content-Length: 0x1", "Connection: close")
    assert service.raw(*[late[at : at + 11] for at in range(0, len(late), 11)]).status == 411
    pipelined = service.raw_to_end(head("/healthz", method="GET") * 2 + whole)
    assert pipelined.count(b"HTTP/1.1 200 OK") == 3
    assert pipelined.endswith(b'{"records":[]}')


def test_a_request_that_begins_right_behind_a_large_one_is_not_measured_with_it(service: ServedMemory) -> None:
    """Only its own head counts as its head, whatever came in the same part."""
    body = b'{"scopeKey":"%s","records":[],"filler":"' % new_scope().encode()
    body += b"x" * (50_000 - len(body)) + b'"}'
    first = head("/write", f"Content-Length: {len(body)}") + body
    second = head("/healthz", "Connection: close", method="GET")
    with socket.create_connection(("127.0.0.1", service.port), timeout=WAIT_S) as connection:
        connection.sendall(first + second[:20])
        received = connection.recv(65_536)
        connection.sendall(second[20:])
        while part := connection.recv(65_536):
            received += part
    assert received.count(b"HTTP/1.1 200 ") == 2, received


def test_what_is_no_http_is_told_so(service: ServedMemory) -> None:
    assert service.raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").status == 400
    assert service.raw(b"POST /write HTTP/1.1\r\nContent-Length : 5\r\n\r\n").status == 400
    assert service.raw(head("/write", "X-Long: " + "x" * 30_000)[:-4] + b"x" * 3_000).status == 431


def test_an_upgrade_changes_nothing(service: ServedMemory) -> None:
    """There is no other protocol here; a client that offers one is answered in this one."""
    answer = service.raw(head("/write", "Connection: Upgrade", "Upgrade: websocket", "Content-Length: 0"))
    assert answer.status == 400


@pytest.mark.parametrize("key", ["", " ", "k" * 201, "two words", "schlüssel"])
def test_an_idempotency_key_is_a_word(service: ServedMemory, key: str) -> None:
    body = b'{"scopeKey":"org:acme","records":[]}'
    lines = (f"Idempotency-Key: {key}", f"Content-Length: {len(body)}", "Connection: close")
    answer = service.raw(head("/write", *lines) + body)
    assert (answer.status, "Idempotency-Key" in answer.error) == (400, True)


def test_a_batch_that_comes_again_with_its_key_is_applied_once(service: ServedMemory) -> None:
    """The answer is the first one's; another batch with the key is 409, and nothing is written."""
    scope = new_scope()
    body = {"scopeKey": scope, "records": [fact("deploys need approval")]}
    first = service.post("/write", body, Idempotency_Key="turn-1")
    again = service.post("/write", body, Idempotency_Key="turn-1")
    assert first.json() == again.json()
    assert first.json()["inserted"] == 1
    (record,) = service.listed(scope)
    assert record["useCount"] == 0
    other = service.post("/write", {"scopeKey": scope, "records": [fact("other")]}, Idempotency_Key="turn-1")
    assert (other.status_code, list(other.json())) == (409, ["error"])
    assert texts(service.listed(scope)) == ["deploys need approval"]
    assert service.post("/write", body, Idempotency_Key="!" + "~" * 199).json()["deduped"] == 1
