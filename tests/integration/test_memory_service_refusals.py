"""The memory service from outside: what is wrong with a body (section 16; reference 7.4, 33.5)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory_services import DATA_ROUTES, THREAD, Json, ServedMemory, fact, new_scope, served_memory

RECORD: Json = {
    "id": "mem:org:acme:0",
    "scopeKey": "org:acme",
    "kind": "fact",
    "text": "a",
    "keywords": [],
    "sourceThreadKey": THREAD,
    "createdAt": 1_700_000_000_000,
    "useCount": 0,
    "status": "active",
}
VECTOR: Json = {"id": "mem:org:acme:99", "values": [0.5, -1, 3.4e38]}
GOOD: Mapping[str, Json] = {
    "/retrieve": {"scopeKey": "org:acme", "query": "release", "limit": 8},
    "/write": {"scopeKey": "org:acme", "records": [fact("a")]},
    "/list": {"scopeKey": "org:acme", "limit": 20},
    "/get": {"scopeKey": "org:acme", "ids": ["mem:org:acme:0"]},
    "/forget": {"scopeKey": "org:acme", "id": "mem:org:acme:99"},
    "/sweep": {"scopeKey": "org:acme"},
    "/erase": {"scopeKey": "org:nobody"},
    "/export": {"scopeKey": "org:nobody"},
    "/import": {"scopeKey": "org:acme", "records": []},
    "/scopes": {"limit": 10},
    "/stats": {},
    "/unembedded": {"scopeKey": "org:acme", "model": "local/minilm", "limit": 16},
    "/vectors": {"scopeKey": "org:acme", "model": "local/minilm", "vectors": [VECTOR]},
}
NOT_WHOLE: tuple[object, ...] = (0, 51, 1.5, "5", True, None, [], {}, 10**30, -1)
NO_KEYS = (
    *("", " ", "org acme", "org:\tacme", "org:\x00", "org:\x7f", "org:\x85", "org:\u200b", "org:\ufeff", "k" * 201),
    *("org:\ue000", "org:\u2028", "org:\xad", "org:\u0378", 5, None, ["org:acme"], True),
)
NO_NAMES = ("", " ", "a b", "a\x00", "m" * 201, 5, None, ["local/minilm"])
RULES: list[tuple[str, str, tuple[object, ...], str]] = [
    *((route, "scopeKey", NO_KEYS, "whitespace or control characters") for route in GOOD if "scopeKey" in GOOD[route]),
    ("/retrieve", "query", (5, None, "x" * 4_001, ["a"]), "4000"),
    ("/retrieve", "limit", NOT_WHOLE, "integer between 1 and 50"),
    ("/retrieve", "standing", (-1, 51, 1.5, "5", True, None), "between 0 and 50"),
    ("/retrieve", "ranker", ("bm25", "", None, 1), "relevance"),
    ("/retrieve", "vector", (None, [], 5), "object"),
    ("/list", "limit", NOT_WHOLE, "integer between 1 and 50"),
    ("/list", "query", (5, None, "x" * 4_001), "4000"),
    ("/list", "kind", ("note", "", None, "Fact"), "summary"),
    ("/list", "before", (-1, 1.5, "5", None), "at least 0"),
    ("/get", "ids", (None, "a", ["x"] * 51, [5], ["x" * 201], [None]), "at most 50"),
    ("/forget", "id", ("", "a b", "a\n", "x" * 201, 5, None), "whitespace or control characters"),
    ("/sweep", "dryRun", (1, "true", None), "true or false"),
    ("/write", "cap", (0, 10_001, 1.5, "5", None, True), "between 1 and 10000"),
    ("/write", "records", (None, {}, "a", [fact("a")] * 51), "at most 50"),
    ("/import", "records", (None, {}, [RECORD] * 51), "at most 50"),
    ("/export", "after", (-1, 1.5, "5", None), "at least 0"),
    ("/scopes", "limit", (0, 501, 1.5, "5", None), "between 1 and 500"),
    ("/scopes", "after", ("", "a b", 5, None), "scope key"),
    ("/erase", "id", ("", "a b", 5, None), "whitespace or control characters"),
    ("/unembedded", "limit", (0, 501, 1.5, "5", None, True), "between 1 and 500"),
    ("/unembedded", "model", NO_NAMES, "whitespace or control characters"),
    ("/vectors", "model", NO_NAMES, "whitespace or control characters"),
    ("/vectors", "vectors", (None, {}, "a", [VECTOR] * 51), "at most 50"),
]
VECTOR_RULES: list[tuple[str, tuple[object, ...], str]] = [
    ("id", ("x" * 401, 5, None, ["a"]), "400"),
    ("values", (None, [], {}, "a", 5, [0.5] * 4_097, ["0.5"], [None], [True], [1, 1e39], [-1e39], [[1.0]]), "4096"),
]
CANDIDATE_RULES: list[tuple[str, tuple[object, ...]]] = [
    ("kind", ("note", "", None, 5, ["fact"])),
    ("text", ("", "   ", "\n\t", "\x00", "x" * 4_001, 5, None)),
    ("sourceThreadKey", ("", "x" * 201, 5, None)),
    ("keywords", (["k"] * 21, ["k" * 65], [""], "word", [5], None, [None])),
    ("sourceRunId", ("x" * 201, 5, None)),
    ("sourceUser", ("x" * 201, 5, None)),
    ("author", ("x" * 201, 5, None)),
    ("confidence", (1.2, -0.1, "0.5", True, None)),
    ("supersedes", ("x" * 201, 5, None)),
    ("restates", ("x" * 201, 5, None)),
    ("standing", (1, "true", None)),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedMemory]:
    folder = tmp_path_factory.mktemp("served")
    with served_memory(folder, "--data-dir", str(folder)) as served:
        yield served


def test_the_bodies_that_are_made_wrong_below_are_right(service: ServedMemory) -> None:
    assert set(GOOD) == set(DATA_ROUTES)
    for route, body in GOOD.items():
        assert service.post(route, body | {"unknown": {"deep": [1, None]}}).status_code == 200, route


@pytest.mark.parametrize("route", DATA_ROUTES)
def test_what_is_no_object_is_refused(service: ServedMemory, route: str) -> None:
    """33.5: `{` names valid JSON; `[]` names the first missing field; 7.4: the body must be a JSON object."""
    nan = (
        b'{"scopeKey":"org:acme","query":"a","limit":5,"records":[],"ids":[],"id":"a","model":"m","vectors":[],"x":NaN}'
    )
    nans = [nan, nan.replace(b"NaN", b'["\\ud800", -Infinity]')]
    for content in (b"{", b"", b"\xff", b"nope", b"{'a':1}", b'{"a":1,}', b"[" * 100_000, b'"\\ud800', *nans):
        answer = service.client.post(route, content=content)
        assert (answer.status_code, "valid JSON" in answer.json()["error"]) == (400, True), content[:50]
    for content in (b"5", b'"text"', b"null", b"true", b" 1e999 "):
        answer = service.client.post(route, content=content)
        assert (answer.status_code, "object" in answer.json()["error"]) == (400, True), content
    first = next(iter(GOOD[route]), "object")
    expected = {"/stats": "object", "/export": "object"}.get(route, first)
    assert expected in service.refusal(route, [])
    assert expected in service.refusal(route, [{"scopeKey": "org:acme"}])


@pytest.mark.parametrize(("route", "name", "values", "rule"), RULES, ids=[f"{row[0]} {row[1]}" for row in RULES])
def test_a_field_that_is_wrong_is_named_with_its_rule(
    service: ServedMemory, route: str, name: str, values: tuple[object, ...], rule: str
) -> None:
    """7.4, 33.5, 32.29 and 32.30: every bound of every field; the value is never repeated (32.39)."""
    for value in values:
        reason = service.refusal(route, GOOD[route] | {name: value})
        assert reason.startswith(f"{name} must be"), value
        assert rule in reason


@pytest.mark.parametrize("route", [route for route in GOOD if route not in {"/stats", "/export", "/erase"}])
def test_a_field_that_is_missing_is_named(service: ServedMemory, route: str) -> None:
    for name in GOOD[route]:
        rest = {each: value for each, value in GOOD[route].items() if each != name}
        assert service.refusal(route, rest).startswith(name)


@pytest.mark.parametrize(("name", "values"), CANDIDATE_RULES, ids=[row[0] for row in CANDIDATE_RULES])
def test_a_candidate_that_is_wrong_is_named_by_its_place(
    service: ServedMemory, name: str, values: tuple[object, ...]
) -> None:
    """Worker: malformed bodies -> 400 (kind, text, sourceThreadKey, keywords, …); 33.5: records[0].kind."""
    for value in values:
        assert service.refusal("/write", GOOD["/write"] | {"records": [fact("a") | {name: value}]}).startswith(
            f"records[0].{name} must be"
        ), value
        records = [fact("a"), fact("b"), fact("c") | {name: value}]
        assert service.refusal("/write", GOOD["/write"] | {"records": records}).startswith(f"records[2].{name} ")


@pytest.mark.parametrize(("name", "values", "rule"), VECTOR_RULES, ids=[row[0] for row in VECTOR_RULES])
def test_a_vector_that_is_wrong_is_named_by_its_place(
    service: ServedMemory, name: str, values: tuple[object, ...], rule: str
) -> None:
    for value in values:
        reason = service.refusal("/vectors", GOOD["/vectors"] | {"vectors": [VECTOR, VECTOR | {name: value}]})
        assert reason.startswith(f"vectors[1].{name} must be"), value
        assert rule in reason
    assert service.refusal("/vectors", GOOD["/vectors"] | {"vectors": [VECTOR, 5]}) == "vectors[1] must be an object"


def test_the_bounds_of_vectors_are_within(service: ServedMemory) -> None:
    long = {"id": "x" * 400, "values": [0.25] * 4_096}
    for vectors in ([], [long], [{"id": f"mem:org:empty:{each}", "values": [each]} for each in range(50)], [long] * 9):
        body = GOOD["/vectors"] | {"scopeKey": "org:empty", "model": "m" * 200, "vectors": vectors}
        assert service.post("/vectors", body).json() == {"ok": True, "kept": 0}
    asked = GOOD["/unembedded"] | {"scopeKey": "org:empty", "limit": 500.0}
    assert service.post("/unembedded", asked).json() == {"records": []}


def test_the_bounds_themselves_are_within(service: ServedMemory) -> None:
    """32.29 and 32.30: 200 characters pass, 5.0 is a whole number, 0 and 1 are confidences, an empty batch is one."""
    scope = "k" * 200
    most = fact("x" * 4_000, keywords=["k" * 64] * 20, confidence=1, supersedes="", restates="r" * 200)
    for records, cap in (([most] * 50, 1.0), ([fact(" a ", confidence=0, keywords=[])], 10_000), ([], 1)):
        assert service.post("/write", {"scopeKey": scope, "records": records, "cap": cap}).status_code == 200
    for limit in (1, 50, 5.0, 5e1):
        assert service.post("/list", {"scopeKey": scope, "limit": limit, "before": 10**40}).status_code == 200
        assert service.post("/retrieve", {"scopeKey": scope, "query": "x" * 4_000, "limit": limit}).status_code == 200
    assert service.post("/forget", {"scopeKey": scope, "id": "x" * 200}).json()["forgotten"] is False


def test_the_first_fault_is_the_answer(service: ServedMemory) -> None:
    """7.4: object, scopeKey, cap, records is an array, batch size, then each candidate in order."""
    bad_vectors = {"scopeKey": "a b", "model": "", "vectors": 5}
    assert service.refusal("/vectors", bad_vectors).startswith("scopeKey ")
    assert service.refusal("/vectors", bad_vectors | {"scopeKey": "a"}).startswith("model ")
    assert service.refusal("/vectors", bad_vectors | {"scopeKey": "a", "model": "m"}).startswith("vectors ")
    bad = {"scopeKey": "a b", "cap": 0, "records": 5}
    assert service.refusal("/write", bad).startswith("scopeKey ")
    assert service.refusal("/write", bad | {"scopeKey": "a"}).startswith("cap ")
    assert service.refusal("/write", bad | {"scopeKey": "a", "cap": 1}).startswith("records ")
    many, empty = [{"kind": "note"}] * 51, dict[str, object]()
    assert service.refusal("/write", {"scopeKey": "a", "records": many}).startswith("records must")
    assert (
        service.refusal("/write", {"scopeKey": "a", "records": [fact("a"), 5, empty]}) == "records[1] must be an object"
    )
    assert service.refusal("/write", {"scopeKey": "a", "records": [empty, 5]}).startswith("records[0].kind")
    both = fact(" ", keywords=[""], confidence=2)
    assert service.refusal("/write", {"scopeKey": "a", "records": [both]}).startswith("records[0].text")


def test_one_bad_candidate_refuses_the_whole_batch(service: ServedMemory) -> None:
    """7.4; 32.45: a refused request must not touch memory."""
    scope = new_scope()
    service.refusal("/write", {"scopeKey": scope, "records": [fact("a"), fact("b"), fact("c", confidence=1.2)]})
    assert service.listed(scope) == []
    service.write(scope, fact("deploys need approval"))
    service.refusal("/retrieve", {"scopeKey": scope, "query": "deploys", "limit": 51})
    assert service.listed(scope)[0]["useCount"] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("id", value) for value in ("mem:org:other:0", "mem:org:acme:00", "mem:org:acme:x", "")),
        *(("createdAt", value) for value in (10**15, -(10**15), 1.5, None)),
        *(("lastUsedAt", value) for value in (10**15, "now", None)),
        *(("scopeKey", "org:other"), ("useCount", -1), ("status", "gone"), ("text", " "), ("keywords", None)),
        *(("confidence", 7), ("standing", 1), ("kind", "note"), ("sourceThreadKey", "")),
    ],
)
def test_a_record_that_cannot_be_put_back_is_named(service: ServedMemory, name: str, value: object) -> None:
    reason = service.refusal("/import", {"scopeKey": "org:acme", "records": [RECORD, RECORD | {name: value}]})
    assert reason.startswith(f"records[1].{name} must be")


def test_what_is_to_be_erased_is_named_once(service: ServedMemory) -> None:
    for body in ({}, {"scopeKey": "a", "threadKey": "t"}, {"threadKey": "t", "id": "mem:a:0"}, {"id": "mem:a:0"}):
        assert "scopeKey" in service.refusal("/erase", body)
    assert "after" in service.refusal("/export", {"after": 5})


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted({name for body in GOOD.values() for name in body} | {"cap", "vector", "standing"}))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.sampled_from(DATA_ROUTES), changes=st.dictionaries(FIELDS, JSON_VALUES, max_size=3))
def test_no_body_of_json_makes_it_fail(service: ServedMemory, route: str, changes: dict[str, Any]) -> None:
    body = GOOD[route] | {"scopeKey": "org:fuzz"} if route != "/scopes" else GOOD[route]
    answer = service.client.post(route, content=json.dumps(body | changes))
    assert answer.status_code in {200, 400}, answer.text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    route=st.sampled_from(DATA_ROUTES),
    # An empty object asks for something on one of the routes.
    content=st.binary(max_size=300).filter(lambda content: b"".join(content.split()) != b"{}"),
)
def test_no_bytes_make_it_fail(service: ServedMemory, route: str, content: bytes) -> None:
    answer = service.client.post(route, content=content)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])
