"""The bodies of the service's routes, with the bounds of every field (specification, section 16)."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from memory.engine import LARGEST_SCOPE_CAP
from memory.record import ID_CHARS, KEYWORD_CHARS, KEYWORDS, Kind
from memory.scope import SCOPE_KEY_CHARS
from memory.service.wire import (
    MOST_EXPORTED,
    MOST_RECORDS,
    QUERY_CHARS,
    WHOLE,
    Body,
    CandidateBody,
    Given,
    RecordBody,
    RecordText,
    ShortText,
)
from memory.store import RankerName

MOST_LIMIT = 50
MOST_DIMENSIONS = 4_096
LARGEST_FLOAT32 = 3.4e38
LARGEST_SEQUENCE = 10**18 - 1
"""No record's number is larger, nor anything that is counted."""
EARLIEST_MS, LATEST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999, which is what a calendar has."""

VISIBLE_FORMAT = "visible-text"
_VISIBLE = r"^[^\s\p{C}]+$"
"""No white space, and nothing of the Unicode categories whose names begin with C."""
_MODEL_RULE = {
    "model": f"must be a non-empty string of at most {ID_CHARS} characters, without whitespace or control characters"
}
_RECORD_ID = re.compile(r"mem:[^\s]+:(0|[1-9][0-9]{0,16})")
"""Of one that is put back, as ``engine.put_back`` takes it."""


def _record_id(text: str) -> str:
    if _RECORD_ID.fullmatch(text) is None:
        raise PydanticCustomError("record_id", "must be a record's id")
    return text


ScopeKey = Annotated[
    str, Field(min_length=1, max_length=SCOPE_KEY_CHARS, pattern=_VISIBLE, json_schema_extra={"format": VISIBLE_FORMAT})
]
VisibleName = Annotated[
    str, Field(min_length=1, max_length=ID_CHARS, pattern=_VISIBLE, json_schema_extra={"format": VISIBLE_FORMAT})
]
RecordId = VisibleName
QueryText = Annotated[str, Field(max_length=QUERY_CHARS)]
Limit = Annotated[int, Field(ge=1, le=MOST_LIMIT), WHOLE]
Sequence = Annotated[int, Field(ge=0), WHOLE]
Count = Annotated[int, Field(ge=0, le=LARGEST_SEQUENCE), WHOLE]
Moment = Annotated[int, Field(ge=EARLIEST_MS, le=LATEST_MS), WHOLE]
VectorValues = Annotated[
    list[Annotated[float, Field(ge=-LARGEST_FLOAT32, le=LARGEST_FLOAT32)]],
    Field(min_length=1, max_length=MOST_DIMENSIONS),
]


class Request(Body):
    """The body of one route. Its fields are checked in the order they stand here."""

    rules: ClassVar[Mapping[str, str]] = {}
    """What must be true of a field where that is not what ``reading.RULES`` says of the name."""


class VectorBody(Body):
    """A query's embedding."""

    model: Annotated[str, Field(min_length=1, max_length=ID_CHARS)]
    values: VectorValues


class RetrieveBody(Request):
    """What a turn looks for in one scope."""

    scope_key: ScopeKey
    query: QueryText
    limit: Limit
    standing: Given[Annotated[int, Field(ge=0, le=MOST_LIMIT), WHOLE]] = None
    ranker: Given[RankerName] = None
    vector: Given[VectorBody] = None


class WriteBody(Request):
    """A batch: all of it is written, or nothing."""

    rules: ClassVar[Mapping[str, str]] = {"records.standing": "must be true or false"}

    scope_key: ScopeKey
    cap: Given[Annotated[int, Field(ge=1, le=LARGEST_SCOPE_CAP), WHOLE]] = None
    records: Annotated[list[CandidateBody], Field(max_length=MOST_RECORDS)]


class ListBody(Request):
    """What a person wants to see of one scope."""

    scope_key: ScopeKey
    limit: Limit
    query: Given[QueryText] = None
    kind: Given[Kind] = None
    before: Given[Sequence] = None


class GetBody(Request):
    """Records by their ids."""

    scope_key: ScopeKey
    ids: Annotated[list[ShortText], Field(max_length=MOST_RECORDS)]


class ForgetBody(Request):
    """The record to retire."""

    scope_key: ScopeKey
    id: RecordId


class SweepBody(Request):
    """The scope to sweep."""

    scope_key: ScopeKey
    dry_run: bool = False


class EraseBody(Request):
    """A scope or one record of it, or what one conversation taught to any scope."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["scopeKey"], "properties": {"threadKey": False}},
                {"required": ["threadKey"], "properties": {"scopeKey": False, "id": False}},
            ]
        }
    )

    scope_key: Given[ScopeKey] = None
    id: Given[RecordId] = None
    thread_key: Given[Annotated[str, Field(min_length=1, max_length=ID_CHARS)]] = None

    @model_validator(mode="after")
    def _name_one_thing(self) -> Self:
        if (self.scope_key is None) == (self.thread_key is None) or (self.id is not None and self.thread_key):
            raise PydanticCustomError("erase", "scopeKey (with or without id) or threadKey must be given, and not both")
        return self


class ExportBody(Request):
    """The scope to export; without one, every scope."""

    model_config = ConfigDict(json_schema_extra={"dependentRequired": {"after": ["scopeKey"]}})

    scope_key: Given[ScopeKey] = None
    after: Given[Sequence] = None

    @model_validator(mode="after")
    def _follow_one_scope(self) -> Self:
        if self.after is not None and self.scope_key is None:
            raise PydanticCustomError("after", "after goes with scopeKey only")
        return self


class WholeRecord(RecordBody):
    """A record as it is put back: every field within its bounds."""

    id: Annotated[str, Field(max_length=SCOPE_KEY_CHARS + ID_CHARS), AfterValidator(_record_id)]
    scope_key: ScopeKey
    text: RecordText
    keywords: Annotated[list[Annotated[str, Field(min_length=1, max_length=KEYWORD_CHARS)]], Field(max_length=KEYWORDS)]
    source_thread_key: Annotated[str, Field(min_length=1, max_length=ID_CHARS)]
    source_run_id: Given[ShortText] = None
    source_user: Given[ShortText] = None
    author: Given[ShortText] = None
    created_at: Moment
    last_used_at: Given[Moment] = None
    use_count: Count
    confidence: Given[Annotated[float, Field(ge=0, le=1)]] = None
    supersedes: Given[ShortText] = None


class ImportBody(Request):
    """Records that are put back as they were, all of them or none."""

    rules: ClassVar[Mapping[str, str]] = {
        "records.id": "must be the id of a record of the request's scopeKey",
        "records.scopeKey": "must be the request's scopeKey",
        "records.standing": "must be true or false",
    }

    scope_key: ScopeKey
    records: Annotated[list[WholeRecord], Field(max_length=MOST_RECORDS)]

    @model_validator(mode="after")
    def _stay_in_one_scope(self) -> Self:
        for number, record in enumerate(self.records):
            for name, is_right in (
                ("scopeKey", record.scope_key == self.scope_key),
                ("id", record.id.rpartition(":")[0] == f"mem:{self.scope_key}"),
            ):
                if not is_right:
                    rule = self.rules[f"records.{name}"]
                    raise PydanticCustomError("foreign", f"records[{number}].{name} {rule}")  # pyright: ignore[reportArgumentType] - it is made of our own words
        return self


class ScopesBody(Request):
    """Which scopes to name."""

    rules: ClassVar[Mapping[str, str]] = {
        "limit": f"must be an integer between 1 and {MOST_EXPORTED}",
        "after": "must be a scope key",
    }

    limit: Annotated[int, Field(ge=1, le=MOST_EXPORTED), WHOLE]
    after: Given[ScopeKey] = None


class StatsBody(Request):
    """The scope to count; without one, everything."""

    scope_key: Given[ScopeKey] = None


class UnembeddedBody(Request):
    """The model whose vectors are asked for."""

    rules: ClassVar[Mapping[str, str]] = {"limit": f"must be an integer between 1 and {MOST_EXPORTED}"} | _MODEL_RULE

    scope_key: ScopeKey
    model: VisibleName
    limit: Annotated[int, Field(ge=1, le=MOST_EXPORTED), WHOLE]


class RecordVector(Body):
    """A record's embedding. What is no active record of the scope is passed over."""

    id: Annotated[str, Field(max_length=SCOPE_KEY_CHARS + ID_CHARS)]
    values: VectorValues


class VectorsBody(Request):
    """Embeddings that one model made, all of one dimension."""

    rules: ClassVar[Mapping[str, str]] = {
        "vectors.id": f"must be a string of at most {SCOPE_KEY_CHARS + ID_CHARS} characters"
    } | _MODEL_RULE

    scope_key: ScopeKey
    model: VisibleName
    vectors: Annotated[list[RecordVector], Field(max_length=MOST_RECORDS)]
