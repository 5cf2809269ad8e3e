"""What both sides of the memory service's HTTP interface say to each other: JSON in camel case, times in milliseconds.

An optional field that is absent is left out, never null (specification, section 17); unknown ones are ignored.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from memory.record import ID_CHARS, KEYWORD_CHARS, KEYWORDS, TEXT_CHARS, Kind, MemoryCandidate, MemoryRecord, Status
from memory.text import storable

MOST_BODY_BYTES = 524_288
QUERY_CHARS = 4_000
MOST_RECORDS = 50
"""Of one request, whether it hands them in or asks for them (section 16)."""
MOST_EXPORTED = 500
"""Records that one step of an export reads."""
KEY_HEADER = "Idempotency-Key"
TRACE_HEADER = "traceparent"
"""W3C Trace Context."""

JsonObject = dict[str, object]

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def _whole(value: object) -> object:
    """JSON has one kind of number: 5.0 is a whole one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _said(text: str) -> str:
    if not storable(text).strip():
        raise PydanticCustomError("blank", "must not be blank")
    return text


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "must not be null")
    return value


WHOLE = BeforeValidator(_whole)
WholeNumber = Annotated[int, WHOLE]

Wanted = TypeVar("Wanted")
RecordText = Annotated[
    str,
    Field(min_length=1, max_length=TEXT_CHARS, json_schema_extra={"pattern": r"[^\s\x00\x1c-\x1f\x85]"}),
    AfterValidator(_said),
]
ShortText = Annotated[str, Field(max_length=ID_CHARS)]
Given = Annotated[Wanted | None, BeforeValidator(_not_null)]
"""Of an optional field of a request, whose default is ``None``: it may be absent, but not null."""


class Body(BaseModel):
    """A JSON object: strict about types, ignorant of names it does not know."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        strict=True,
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )


class CandidateBody(Body):
    """One of the ``records`` of a write."""

    kind: Kind
    text: RecordText
    source_thread_key: str = Field(min_length=1, max_length=ID_CHARS)
    keywords: Given[
        Annotated[list[Annotated[str, Field(min_length=1, max_length=KEYWORD_CHARS)]], Field(max_length=KEYWORDS)]
    ] = None
    source_run_id: Given[ShortText] = None
    source_user: Given[ShortText] = None
    author: Given[ShortText] = None
    confidence: Given[Annotated[float, Field(ge=0, le=1)]] = None
    supersedes: Given[ShortText] = None
    restates: Given[ShortText] = None
    standing: bool = False


class RecordBody(Body):
    """A record as it is told, whatever its status."""

    id: str
    scope_key: str
    kind: Kind
    text: str
    keywords: list[str]
    source_thread_key: str
    source_run_id: str | None = None
    source_user: str | None = None
    author: str | None = None
    created_at: WholeNumber
    last_used_at: WholeNumber | None = None
    use_count: WholeNumber
    confidence: float | None = None
    supersedes: str | None = None
    standing: bool = False
    status: Annotated[Status, Field(strict=False)]


_OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


@lru_cache(maxsize=4_096)
def milliseconds(at: datetime) -> int:
    """Since 1970. What a search finds was used at one moment, and is found again and again."""
    return (at - _BEGINNING) // _MILLISECOND


def moment(since: int) -> datetime:
    """Raises ``OverflowError`` for a time no calendar has."""
    return _BEGINNING + since * _MILLISECOND


def told_record(record: MemoryRecord) -> JsonObject:
    """``record`` as a ``RecordBody``."""
    told: JsonObject = {
        "id": record.id,
        "scopeKey": record.scope_key,
        "kind": record.kind,
        "text": record.text,
        "keywords": record.keywords,
        "sourceThreadKey": record.source_thread_key,
        "createdAt": milliseconds(record.created_at),
        "useCount": record.use_count,
        "status": record.status,
    }
    if record.last_used_at is not None:
        told["lastUsedAt"] = milliseconds(record.last_used_at)
    if record.is_standing:
        told["standing"] = True
    return told | _optional(record)


def record_json(record: MemoryRecord) -> str:
    """``told_record`` as JSON, four times as fast: what a search answers is made of it."""
    told = (
        f'{{"id":{_quoted(record.id)},"scopeKey":{_quoted(record.scope_key)},"kind":"{record.kind}"'
        f',{said_json(record.text, record.keywords)},"sourceThreadKey":{_quoted(record.source_thread_key)}'
        f',"createdAt":{milliseconds(record.created_at)},"useCount":{record.use_count},"status":"{record.status}"'
    )
    if record.last_used_at is not None:
        told += f',"lastUsedAt":{milliseconds(record.last_used_at)}'
    if record.source_run_id is not None:
        told += f',"sourceRunId":{_quoted(record.source_run_id)}'
    if record.source_user is not None:
        told += f',"sourceUser":{_quoted(record.source_user)}'
    if record.author is not None:
        told += f',"author":{_quoted(record.author)}'
    if record.confidence is not None:
        told += f',"confidence":{record.confidence!r}'
    if record.supersedes is not None:
        told += f',"supersedes":{_quoted(record.supersedes)}'
    return told + (',"standing":true}' if record.is_standing else "}")


@lru_cache(maxsize=2_048)
def said_json(text: str, keywords: tuple[str, ...]) -> str:
    """Most of a record's JSON, and what stays the same however often it is found."""
    return f'"text":{_quoted(text)},"keywords":[{",".join(map(_quoted, keywords))}]'


def forget_said() -> None:
    """Empty the cache of what records say; what is erased must not live on in it."""
    said_json.cache_clear()


def told_candidate(candidate: MemoryCandidate) -> JsonObject:
    """``candidate`` as a ``CandidateBody``."""
    told: JsonObject = {
        "kind": candidate.kind,
        "text": candidate.text,
        "sourceThreadKey": candidate.source_thread_key,
    }
    if candidate.keywords is not None:
        told["keywords"] = candidate.keywords
    if candidate.restates is not None:
        told["restates"] = candidate.restates
    if candidate.is_standing:
        told["standing"] = True
    return told | _optional(candidate)


def candidate_of(body: CandidateBody) -> MemoryCandidate:
    return MemoryCandidate(
        kind=body.kind,
        text=body.text,
        source_thread_key=body.source_thread_key,
        keywords=None if body.keywords is None else tuple(body.keywords),
        source_run_id=body.source_run_id,
        source_user=body.source_user,
        author=body.author,
        confidence=body.confidence,
        supersedes=body.supersedes,
        restates=body.restates,
        is_standing=body.standing,
    )


def record_of(body: RecordBody) -> MemoryRecord:
    """Without terms. Raises ``OverflowError`` for a time no calendar has, ``ValueError`` for an id that is none."""
    record = MemoryRecord(
        id=body.id,
        scope_key=body.scope_key,
        kind=body.kind,
        text=body.text,
        keywords=tuple(body.keywords),
        source_thread_key=body.source_thread_key,
        created_at=moment(body.created_at),
        source_run_id=body.source_run_id,
        source_user=body.source_user,
        author=body.author,
        last_used_at=None if body.last_used_at is None else moment(body.last_used_at),
        use_count=body.use_count,
        confidence=body.confidence,
        supersedes=body.supersedes,
        status=body.status,
        is_standing=body.standing,
    )
    if record.sequence < 0:
        raise ValueError("a record's id ends in its number")
    return record


def read_record(value: object) -> MemoryRecord | None:
    """The record in a part of an answer, ``None`` for what is none."""
    try:
        return record_of(RecordBody.model_validate(value))
    except (ValidationError, OverflowError, ValueError):
        return None


def read_records(values: object) -> list[MemoryRecord]:
    """The records among ``values``; what is none is left out."""
    found = map(read_record, cast("list[object]", values) if isinstance(values, list) else ())
    return [record for record in found if record is not None]


def read_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object in an answer; an empty one for anything else."""
    try:
        return _OBJECT.validate_json(body)
    except ValidationError:
        return {}


def lines_of(records: Iterable[MemoryRecord]) -> bytes:
    """Newline-delimited JSON, a record a line."""
    return "".join(f"{record_json(record)}\n" for record in records).encode()


def array_of(records: Iterable[MemoryRecord]) -> bytes:
    """A JSON array of records."""
    return f"[{','.join(map(record_json, records))}]".encode()


def _optional(given: MemoryRecord | MemoryCandidate) -> JsonObject:
    values = {
        "sourceRunId": given.source_run_id,
        "sourceUser": given.source_user,
        "author": given.author,
        "confidence": given.confidence,
        "supersedes": given.supersedes,
    }
    return {name: value for name, value in values.items() if value is not None}
