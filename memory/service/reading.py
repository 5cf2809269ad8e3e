"""How a body is read: it is checked once, and its first fault becomes one sentence that holds nothing of it."""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from memory.engine import LARGEST_SCOPE_CAP
from memory.record import ID_CHARS, KEYWORD_CHARS, KEYWORDS, TEXT_CHARS
from memory.service.fences import RefusedError
from memory.service.requests import MOST_DIMENSIONS, MOST_LIMIT, Request
from memory.service.wire import MOST_RECORDS, QUERY_CHARS

BodyType = TypeVar("BodyType", bound=Request)

_KEY = f"must be a non-empty string of at most {ID_CHARS} characters"
_OPTIONAL = f"must be a string of at most {ID_CHARS} characters"
_NO_SPACE = "without whitespace or control characters"
RULES: Mapping[str, str] = {
    "scopeKey": f"{_KEY}, {_NO_SPACE}",
    "id": f"{_KEY}, {_NO_SPACE}",
    "threadKey": _KEY,
    "ids": f"must be an array of at most {MOST_RECORDS} strings of at most {ID_CHARS} characters",
    "query": f"must be a string of at most {QUERY_CHARS} characters",
    "limit": f"must be an integer between 1 and {MOST_LIMIT}",
    "standing": f"must be an integer between 0 and {MOST_LIMIT}",
    "ranker": 'must be "relevance" or "keyword"',
    "vector": "must be an object",
    "model": _KEY,
    "vectors": f"must be an array of at most {MOST_RECORDS} vectors",
    "values": f"must be an array of 1 to {MOST_DIMENSIONS} finite numbers",
    "before": "must be an integer of at least 0",
    "after": "must be an integer of at least 0",
    "dryRun": "must be true or false",
    "cap": f"must be an integer between 1 and {LARGEST_SCOPE_CAP}",
    "records": f"must be an array of at most {MOST_RECORDS} records",
    "kind": 'must be "fact" or "summary"',
    "text": f"must be a string of at most {TEXT_CHARS} characters that is not blank",
    "keywords": f"must be an array of at most {KEYWORDS} strings of 1 to {KEYWORD_CHARS} characters",
    "sourceThreadKey": _KEY,
    "sourceRunId": _OPTIONAL,
    "sourceUser": _OPTIONAL,
    "author": _OPTIONAL,
    "confidence": "must be a number between 0 and 1",
    "supersedes": _OPTIONAL,
    "restates": _OPTIONAL,
    "createdAt": "must be milliseconds since 1970, before the year 10000",
    "lastUsedAt": "must be milliseconds since 1970, before the year 10000",
    "useCount": "must be an integer of at least 0",
    "status": "must be a record's status",
}
"""What must be true of a field; a refusal says this, and never what was sent."""
_SCALAR_LISTS = frozenset({"keywords", "ids", "values"})
_NO_OBJECT = "the body must be a JSON object"
_NO_JSON = "the body must be valid JSON"
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read(body_type: type[BodyType], content: bytes) -> BodyType:
    """The body in ``content``. Raises ``RefusedError`` (400), which names the first field that is wrong."""
    try:
        body = body_type.model_validate_json(content)
    except ValidationError as fault:
        error = _first(fault)
        if error["type"] == "json_invalid" and _LONE_SURROGATE.search(content):
            return _read_mended(body_type, content)
        raise RefusedError(400, _reason(error, body_type, content)) from None
    if b"NaN" in content or b"Infinity" in content:
        _require_json(content)
    return body


def rule_of(body_type: type[Request], dotted: str) -> str | None:
    """What must be true of the field at ``dotted``, a path without indexes."""
    name = dotted.rpartition(".")[2]
    return body_type.rules.get(dotted) or body_type.rules.get(name) or RULES.get(name)


def _read_mended(body_type: type[BodyType], content: bytes) -> BodyType:
    mended = _mended(content)
    try:
        return body_type.model_validate_json(mended)
    except ValidationError as fault:
        raise RefusedError(400, _reason(_first(fault), body_type, mended)) from None


def _first(fault: ValidationError) -> ErrorDetails:
    return fault.errors(include_url=False, include_input=False, include_context=False)[0]


def _reason(error: ErrorDetails, body_type: type[Request], content: bytes) -> str:
    if error["type"] == "json_invalid":
        return _NO_JSON
    if error["loc"]:
        return _sentence(error["loc"], body_type)
    if error["type"] != "model_type":
        return error["msg"]
    return _reason_of_array(body_type) if content.lstrip()[:1] == b"[" else _NO_OBJECT


def _reason_of_array(body_type: type[Request]) -> str:
    """An array is an object without fields to those who wrote the contract."""
    try:
        body_type.model_validate({})
    except ValidationError as fault:
        error = _first(fault)
        return _sentence(error["loc"], body_type) if error["loc"] else error["msg"]
    return _NO_OBJECT


def _sentence(place: tuple[int | str, ...], body_type: type[Request]) -> str:
    """``records[0].kind must be …``."""
    names = [part for part in place if isinstance(part, str)]
    is_item = isinstance(place[-1], int)
    if is_item and names[-1] in _SCALAR_LISTS:
        place, is_item = place[:-1], False
    told = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]
    rule = "must be an object" if is_item else rule_of(body_type, ".".join(names))
    return f"{told} {rule or 'cannot be read'}"


def _mended(content: bytes) -> bytes:
    """The same JSON with U+FFFD for halves of characters, which JSON can spell and no store can keep.

    Raises ``RefusedError`` for what is no JSON.
    """
    try:
        value: Any = json.loads(content, parse_constant=_no_number)
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        raise RefusedError(400, _NO_JSON) from None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _no_number(_name: str) -> None:
    """What Python takes for a number, and JSON has not."""
    raise ValueError


def _require_json(content: bytes) -> None:
    """Refuse the numbers that JSON has not, wherever they stand."""
    try:
        from_json(content, allow_inf_nan=False)
    except ValueError:
        raise RefusedError(400, _NO_JSON) from None
