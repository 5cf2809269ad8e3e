"""The interface's description (OpenAPI 3.1), made from the models that check the requests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic.json_schema import models_json_schema

from memory.service.answers import (
    EraseAnswer,
    ErrorAnswer,
    ExportEnd,
    ForgetAnswer,
    HealthAnswer,
    ImportAnswer,
    RecordsAnswer,
    RetrieveAnswer,
    ScopesAnswer,
    StatsAnswer,
    SweepAnswer,
    VectorsAnswer,
    WriteAnswer,
)
from memory.service.examples import ANSWERS, REQUESTS
from memory.service.operations import OPERATIONS
from memory.service.reading import rule_of
from memory.service.requests import ImportBody, Request, VectorsBody, WriteBody
from memory.service.wire import KEY_HEADER, TRACE_HEADER, Body, JsonObject

_REFERENCES = "#/components/schemas/{model}"
_JSON = "application/json"
_LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class _Told:
    """What there is to say about a route beside its models."""

    summary: str
    answer: type[Body] | None
    is_writing: bool = False
    may_conflict: bool = False


_ROUTES: Mapping[str, _Told] = {
    "/retrieve": _Told("Look for what matches a text; counts as use.", RetrieveAnswer),
    "/write": _Told("Write a batch: all of it or nothing.", WriteAnswer, is_writing=True, may_conflict=True),
    "/list": _Told("Active records, newest first; counts as no use.", RecordsAnswer),
    "/get": _Told("Active records by their ids, in the order asked; counts as no use.", RecordsAnswer),
    "/forget": _Told("Retire one active record; its row stays.", ForgetAnswer, is_writing=True),
    "/sweep": _Told("Retire the facts that only told how far some work had come.", SweepAnswer, is_writing=True),
    "/erase": _Told("Remove records for good, whatever their status.", EraseAnswer, is_writing=True),
    "/export": _Told("Every record of one scope or of all, a line each, oldest first.", None),
    "/import": _Told("Put exported records back as they were.", ImportAnswer, is_writing=True, may_conflict=True),
    "/scopes": _Told("The scopes that have a record, in an order that stays the same.", ScopesAnswer),
    "/stats": _Told("How much there is.", StatsAnswer),
    "/unembedded": _Told("Active records without a vector of that model, newest first; no use.", RecordsAnswer),
    "/vectors": _Told("Keep vectors of records, each in the place of the one it had.", VectorsAnswer, is_writing=True),
}
_UNDONE = "Nothing of it was done; of an erasure some may be, so ask again."
_REFUSALS: Mapping[int, str] = {
    400: "The body is no JSON or a field is wrong; the reason names the first one.",
    401: "The bearer is missing or wrong.",
    405: "The path knows another method.",
    408: "The body took too long.",
    409: "The key belongs to another batch, or the scope has a record's words under another id.",
    411: "There is no Content-Length of plain digits.",
    413: "The body is larger than 524288 bytes.",
    500: "Something unforeseen; the reason holds a reference to the log.",
    503: f"The store or the service cannot take this at the moment. {_UNDONE}",
    507: f"There is no room to write in. {_UNDONE}",
}


def document(build: str) -> JsonObject:
    """The whole description; ``build`` is the version of the service."""
    paths: JsonObject = {"/healthz": _page("Whether the service lives.", "HealthAnswer")}
    paths |= {path: {"post": _operation(path, told)} for path, told in _ROUTES.items()}
    paths["/openapi.json"] = _page("This description.", None)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Switchboard memory service",
            "version": build,
            "description": "One memory for several bots. Unknown fields are ignored; optional ones that are absent "
            "are left out, never null; times are milliseconds since 1970.",
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "responses": {str(status): _refusal(status) for status in _REFUSALS},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _page(summary: str, answer: str | None) -> JsonObject:
    schema: JsonObject = {"type": "object"} if answer is None else {"$ref": _REFERENCES.format(model=answer)}
    responses: JsonObject = {
        "200": {"description": summary, "content": {_JSON: {"schema": schema}}},
        "405": {"$ref": "#/components/responses/405"},
        "503": {"$ref": "#/components/responses/503"},
    }
    return {"get": {"summary": summary, "security": [], "responses": responses}}


def _operation(path: str, told: _Told) -> JsonObject:
    body = OPERATIONS[path].body_type.__name__
    content: JsonObject = {"schema": {"$ref": _REFERENCES.format(model=body)}, "example": REQUESTS[path]}
    return {
        "operationId": path[1:],
        "summary": told.summary,
        "security": [{"bearer": []}],
        "parameters": _headers(path),
        "requestBody": {"required": True, "content": {_JSON: content}},
        "responses": {"200": _answer(path, told)} | _refusals(told),
    }


def _headers(path: str) -> list[JsonObject]:
    trace: JsonObject = {
        "name": TRACE_HEADER,
        "in": "header",
        "description": "W3C Trace Context; what is no trace is ignored. It is noted in the log.",
        "schema": {"type": "string"},
        "example": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }
    key: JsonObject = {
        "name": KEY_HEADER,
        "in": "header",
        "description": "A batch that comes again with its key within a day is applied once and answered as it was.",
        "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
        "example": "turn-0001-org",
    }
    return [key, trace] if path == "/write" else [trace]


def _answer(path: str, told: _Told) -> JsonObject:
    if told.answer is None:
        lines = "A record a line, and last the line that says whether that is all there is."
        either = [{"$ref": _REFERENCES.format(model=name)} for name in ("RecordBody", "ExportEnd")]
        return {
            "description": lines,
            "content": {_LINES: {"schema": {"type": "string"}, "x-line-schema": {"oneOf": either}}},
        }
    schema = {"$ref": _REFERENCES.format(model=told.answer.__name__)}
    return {"description": told.summary, "content": {_JSON: {"schema": schema, "example": ANSWERS[path]}}}


def _refusals(told: _Told) -> JsonObject:
    statuses = set(_REFUSALS)
    statuses -= set() if told.is_writing else {507}
    statuses -= set() if told.may_conflict else {409}
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(statuses)}


def _refusal(status: int) -> JsonObject:
    schema = {"$ref": _REFERENCES.format(model="ErrorAnswer")}
    return {"description": _REFUSALS[status], "content": {_JSON: {"schema": schema}}}


def _schemas() -> JsonObject:
    bodies = [operation.body_type for operation in OPERATIONS.values()]
    answers = [told.answer for told in _ROUTES.values() if told.answer is not None]
    models: list[type[Body]] = [*bodies, *answers, HealthAnswer, ErrorAnswer, ExportEnd]
    _, found = models_json_schema([(model, "validation") for model in dict.fromkeys(models)], ref_template=_REFERENCES)
    schemas = cast("JsonObject", _plain(found["$defs"]))
    for body in bodies:
        _tell_rules(body, schemas[body.__name__], "")
    _tell_rules(WriteBody, schemas["CandidateBody"], "records.")
    _tell_rules(ImportBody, schemas["WholeRecord"], "records.")
    _tell_rules(VectorsBody, schemas["RecordVector"], "vectors.")
    return schemas


def _tell_rules(body: type[Request], schema: object, prefix: str) -> None:
    """Say of each field what a refusal would say of it."""
    for name, described in cast("dict[str, dict[str, JsonObject]]", schema)["properties"].items():
        rule = rule_of(body, f"{prefix}{name}")
        if rule is not None and "$ref" not in described:
            described["description"] = rule  # pyright: ignore[reportArgumentType]


def _plain(schema: Any) -> Any:
    """``schema`` without what pydantic adds for Python's sake: titles, and null for what may be absent."""
    if isinstance(schema, list):
        return [_plain(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found = {name: _plain(value) for name, value in cast("dict[str, Any]", schema).items()}
    if isinstance(found.get("title"), str):
        del found["title"]
    if found.get("default", ...) is None:
        del found["default"]
    present = [each for each in found.get("anyOf", ()) if each != {"type": "null"}]
    if len(present) == 1:
        del found["anyOf"]
        found |= present[0]
    return found
