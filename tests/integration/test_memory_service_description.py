"""The memory service's description of itself: complete, and true of whatever schemathesis makes of it."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import Status, events, from_schema
from starlette.applications import Starlette

from memory.relevance import RelevanceRanker
from memory.service.asgi import MemoryService
from memory.service.openapi import document
from memory.service.requests import VISIBLE_FORMAT
from memory.service.routes import application
from memory.stores.inprocess import InProcessStore
from tests.memory_services import BEARER, DATA_ROUTES, TOKEN, Json

VISIBLE = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]).filter(lambda each: not each.isspace()), min_size=1
)
CONFIGURATION: Mapping[str, Any] = {
    "headers": {"Authorization": BEARER},
    "generation": {"max-examples": 3, "deterministic": True, "database": "none"},
    "phases": {"stateful": {"enabled": False}},
    # That the records of an import belong to its scope, and that vectors have one dimension, no schema can say.
    "operations": [
        {"include-path": route, "checks": {"positive_data_acceptance": {"enabled": False}}}
        for route in ("/import", "/vectors")
    ],
}
WRITING = {"/write", "/forget", "/sweep", "/erase", "/import", "/vectors"}
BEFORE_THE_BODY = {"400", "401", "405", "408", "411", "413", "500", "503"}


def service() -> Starlette:
    store = InProcessStore(ranker=RelevanceRanker(), now=lambda: datetime.now(UTC), cap=500)
    return application(MemoryService(store, TOKEN, build="7"))


def told(finished: events.ScenarioFinished) -> Iterator[str]:
    """The checks that failed in one operation, and what was asked."""
    recorder = finished.recorder
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                request = recorder.interactions[case_id].request
                yield f"{recorder.label}: {check.failure_info.failure.message}\n{request.body!r}"


@pytest.mark.unfollowed  # what it asks for by the thousand is asked for once by other tests
@pytest.mark.timeout(180)  # it takes ten seconds where nothing else runs
def test_the_service_does_what_it_says() -> None:
    """Right and wrong requests of every operation: statuses, content types and schemas are those it tells."""
    schemathesis.openapi.format(VISIBLE_FORMAT, VISIBLE)
    config = SchemathesisConfig.from_dict(dict(CONFIGURATION))  # pyright: ignore[reportUnknownMemberType] - its dict is bare
    schema = schemathesis.openapi.from_asgi("/openapi.json", service(), config=config)
    failures, operations, cases, statuses = list[str](), set[str](), 0, dict[str, Status]()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            failures += told(event)
            operations.add(str(event.recorder.label))
            cases += len(event.recorder.cases)
        elif isinstance(event, events.PhaseFinished):
            statuses[event.phase.name.value] = event.status
        elif isinstance(event, events.NonFatalError | events.FatalError):
            pytest.fail(repr(event))
    assert failures == []
    assert {route for route in DATA_ROUTES if f"POST {route}" in operations} == set(DATA_ROUTES)
    assert {statuses[each] for each in ("examples", "coverage", "fuzzing")} == {Status.SUCCESS}, statuses
    assert cases > 300


def described() -> Json:
    return document("7")


def test_every_route_field_and_status_is_there() -> None:
    told = described()
    assert set(told["paths"]) == {*DATA_ROUTES, "/healthz", "/openapi.json"}
    for route in DATA_ROUTES:
        operation = told["paths"][route]["post"]
        assert operation["security"] == [{"bearer": []}]
        assert BEFORE_THE_BODY | {"200"} <= set(operation["responses"])
        assert ("409" in operation["responses"]) == (route in {"/write", "/import"})
        assert ("507" in operation["responses"]) == (route in WRITING)
        content = operation["requestBody"]["content"]["application/json"]
        assert set(content["example"]) <= set(resolved(told, content["schema"])["properties"])
    for route in ("/healthz", "/openapi.json"):
        assert told["paths"][route]["get"]["security"] == []
    for status in ("503", "507"):
        assert "of an erasure some may be" in told["components"]["responses"][status]["description"]
    assert told["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    assert [each["name"] for each in told["paths"]["/write"]["post"]["parameters"]] == [
        "Idempotency-Key",
        "traceparent",
    ]


def resolved(told: Json, schema: Json) -> Json:
    return told["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


def test_nothing_that_is_absent_is_called_null() -> None:
    """Specification, section 17: absent optionals are omitted, never null; names are in camel case."""
    schemas = described()["components"]["schemas"]
    assert '"null"' not in str(schemas).replace("'", '"')
    for schema in schemas.values():
        assert not any("_" in name for name in schema.get("properties", ()))
    assert schemas["RetrieveBody"]["required"] == ["scopeKey", "query", "limit"]
    assert schemas["WriteBody"]["properties"]["cap"]["maximum"] == 10_000
    described_fields: Sequence[Json] = [
        field
        for name in ("WriteBody", "CandidateBody", "VectorsBody", "RecordVector")
        for field in schemas[name]["properties"].values()
    ]
    assert all(field["description"].startswith("must be") for field in described_fields)


def test_a_visible_text_is_what_the_service_takes_for_one() -> None:
    """What the tests make up for a scope key holds nothing of category C, and no white space."""
    assert all(unicodedata.category(each)[0] not in "CZ" for each in "aé日🚀")
    assert schemas_of("ScopesBody")["after"]["format"] == VISIBLE_FORMAT


def schemas_of(name: str) -> Json:
    return described()["components"]["schemas"][name]["properties"]
