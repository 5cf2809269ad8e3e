"""The memory service from outside: what it offers beyond the reference: get, erase, export, import, scopes, stats."""

import json
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.memory_services import Json, ServedMemory, fact, new_scope, served_over, texts
from tests.state_databases import PostgresServer


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def service(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _servers: Callable[[], PostgresServer],
) -> Iterator[ServedMemory]:
    with served_over(request.param, tmp_path_factory.mktemp("served"), lambda: _servers().new()) as served:
        yield served


def exported(service: ServedMemory, **body: object) -> Sequence[Json]:
    """The records of a whole export."""
    answer = service.post("/export", body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
    *records, end = map(json.loads, answer.text.split("\n")[:-1])
    assert end == {"end": True, "records": len(records)}
    return records


def test_records_are_read_by_their_ids(service: ServedMemory) -> None:
    """Active ones, each once, in the order asked, and no use is counted."""
    scope = new_scope()
    service.write(scope, *[fact(f"note {each}") for each in range(4)])
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1")
    ids = [f"mem:{scope}:{each}" for each in (3, 1, 0, 99)] + ["", "no id", f"mem:{scope}:3"]
    assert texts(service.ask("/get", scopeKey=scope, ids=ids)["records"]) == ["note 3", "note 0"]
    assert service.ask("/get", scopeKey=scope, ids=[]) == {"records": []}
    assert {record["useCount"] for record in service.listed(scope)} == {0}


def test_everything_of_a_scope_is_exported_and_put_back_as_it_was(service: ServedMemory) -> None:
    """Whatever its status, with its provenance, its uses and its times; what is written next gets a new id."""
    scope = new_scope()
    service.write(scope, *[fact(f"note {each}", standing=each == 2) for each in range(5)])
    service.write(scope, fact("a line\u2028 in note five", supersedes=f"mem:{scope}:0", author="Mara", confidence=0.5))
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:1")
    service.retrieve(scope, "3")
    records = exported(service, scopeKey=scope)
    statuses = ["superseded", "forgotten", "active", "active", "active", "active"]
    assert [record["status"] for record in records] == statuses
    assert [record["id"] for record in records] == [f"mem:{scope}:{each}" for each in range(6)]
    assert (records[2]["standing"], records[3]["useCount"], records[5]["author"]) == (True, 1, "Mara")
    assert texts(exported(service, scopeKey=scope, after=3)) == ["note 4", "a line\u2028 in note five"]
    assert exported(service, scopeKey=scope, after=10**30) == []

    assert service.ask("/erase", scopeKey=scope) == {"ok": True, "records": 6, "scopes": 1}
    assert exported(service, scopeKey=scope) == []
    assert service.ask("/import", scopeKey=scope, records=records) == {"ok": True, "changed": 6}
    assert exported(service, scopeKey=scope) == records
    assert service.ask("/import", scopeKey=scope, records=records)["changed"] == 0
    service.write(scope, fact("a new one"))
    assert service.listed(scope)[0]["id"] == f"mem:{scope}:6"


def test_words_that_are_there_under_another_id_are_a_conflict(service: ServedMemory) -> None:
    """Nothing of the call is done."""
    scope = new_scope()
    service.write(scope, fact("deploys need approval"))
    (record,) = exported(service, scopeKey=scope)
    other = record | {"id": f"mem:{scope}:7"}
    fresh = record | {"id": f"mem:{scope}:8", "text": "a fresh one"}
    answer = service.post("/import", {"scopeKey": scope, "records": [fresh, other]})
    assert (answer.status_code, list(answer.json())) == (409, ["error"])
    assert exported(service, scopeKey=scope) == [record]


def test_a_long_export_comes_in_several_steps(service: ServedMemory) -> None:
    scope = new_scope()
    for batch in range(11):
        service.write(scope, *[fact(f"note {batch} {each}") for each in range(50)], cap=10_000)
    records = exported(service, scopeKey=scope)
    assert [record["id"] for record in records] == [f"mem:{scope}:{each}" for each in range(550)]


def test_every_scope_is_named_counted_and_exported(service: ServedMemory) -> None:
    scopes = [new_scope() for _ in range(3)]
    before = service.ask("/stats")
    for scope in scopes:
        service.write(scope, fact("deploys need approval"), fact("lunch is at noon"))
    service.ask("/forget", scopeKey=scopes[0], id=f"mem:{scopes[0]}:0")
    after = service.ask("/stats")
    assert after["scopes"] - before["scopes"] == 3
    assert after["records"]["active"] - before["records"].get("active", 0) == 5
    assert service.ask("/stats", scopeKey=scopes[0]) == {"scopes": 1, "records": {"active": 1, "forgotten": 1}}
    assert service.ask("/stats", scopeKey=new_scope()) == {"scopes": 0, "records": {}}

    named: list[str] = []
    while page := service.ask("/scopes", limit=2, **({"after": named[-1]} if named else {}))["scopes"]:
        assert len(page) <= 2
        named += page
    assert len(named) == len(set(named)) == after["scopes"]
    assert set(scopes) <= set(named)
    assert {record["scopeKey"] for record in exported(service)} == set(named)


def test_what_a_conversation_taught_is_erased_everywhere(service: ServedMemory) -> None:
    one, other = new_scope(), new_scope()
    taught = fact("the vault code is 4711") | {"sourceThreadKey": "slack:C9:9.9"}
    service.write(one, taught, fact("deploys need approval"))
    service.write(other, taught)
    assert service.ask("/erase", threadKey="slack:C9:9.9") == {"ok": True, "records": 2, "scopes": 2}
    assert service.ask("/erase", threadKey="slack:C9:9.9") == {"ok": True, "records": 0, "scopes": 0}
    assert texts(exported(service, scopeKey=one)) == ["deploys need approval"]
    assert exported(service, scopeKey=other) == []
    assert service.ask("/erase", scopeKey=one, id=f"mem:{one}:1") == {"ok": True, "records": 1, "scopes": 1}
    assert service.ask("/erase", scopeKey=one, id=f"mem:{one}:1")["records"] == 0


def test_no_log_line_holds_a_word_of_a_record(service: ServedMemory) -> None:
    """Section 26 and reference 7.13: ids and counts only, never text; one line for each change."""
    scope, marker = new_scope(), "zebraquartz"
    candidate = fact(f"the {marker} is kept", keywords=[marker], author=marker, sourceUser=marker)
    service.write(scope, candidate)
    service.retrieve(scope, marker)
    service.listed(scope, query=marker)
    service.ask("/get", scopeKey=scope, ids=[marker])
    service.ask("/import", scopeKey=scope, records=exported(service, scopeKey=scope))
    service.refusal("/write", {"scopeKey": scope, "records": [candidate | {"kind": marker}]})
    service.refusal("/retrieve", {"scopeKey": f"{marker} {marker}", "query": marker, "limit": 5})
    service.post("/write", {"scopeKey": scope, "records": [candidate]}, Idempotency_Key="one")
    assert service.post("/write", {"scopeKey": scope, "records": [fact(marker)]}, Idempotency_Key="one").is_error
    service.post(f"/{marker}", {})
    service.ask("/forget", scopeKey=scope, id=f"mem:{scope}:0")
    service.ask("/erase", scopeKey=scope)
    assert marker not in service.log.read_text(encoding="utf-8")
    lines = [line for line in service.logged() if line.get("scope") == scope]
    assert [line["route"] for line in lines] == ["/write", "/import", "/write", "/forget", "/erase"]
    assert (lines[0]["event"], lines[0]["candidates"], "evicted" in lines[0]) == ("memory_request_answered", 1, False)
    assert (lines[3]["id"], lines[3]["forgotten"]) == (f"mem:{scope}:0", True)
