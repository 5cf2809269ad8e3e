"""What the routes answer, as the interface's description tells it; the answers themselves are put together by hand."""

from typing import Literal

from pydantic import Field

from memory.record import Status
from memory.service.wire import Body, RecordBody


class HealthAnswer(Body):
    """The service lives. No store was asked."""

    ok: Literal[True]
    build: str
    features: list[str]


class ErrorAnswer(Body):
    """Why a request was not carried out. Nothing of what was sent is repeated."""

    error: str = Field(min_length=1)
    damaged: bool | None = None
    """What is kept of the scope does not read, however often it is tried."""


class RetrieveAnswer(Body):
    """What was found, best first, with the use of it counted already."""

    records: list[RecordBody]
    scores: list[float]
    """Of the records, in their order."""
    standing_records: list[RecordBody] | None = None
    """When ``standing`` was asked for."""


class RecordsAnswer(Body):
    """Records that are active."""

    records: list[RecordBody]


class WriteAnswer(Body):
    """What became of the batch."""

    ok: Literal[True]
    inserted: int
    deduped: int
    restated: int
    superseded: int
    evicted: int


class ForgetAnswer(Body):
    """Whether there was an active record to forget."""

    ok: Literal[True]
    forgotten: bool


class SweepAnswer(Body):
    """How many facts were swept or, in a dry run, would be: those with these ids."""

    ok: Literal[True]
    swept: int
    ids: list[str] | None = None


class EraseAnswer(Body):
    """How much is gone for good."""

    ok: Literal[True]
    records: int
    scopes: int


class ImportAnswer(Body):
    """How many of the records were missing or different before."""

    ok: Literal[True]
    changed: int


class ScopesAnswer(Body):
    """Scopes that have a record."""

    scopes: list[str]
    unreadable: int | None = None
    """Scopes that cannot be looked into and are not among them; the service's log names them."""


class StatsAnswer(Body):
    """How many scopes have a record, and how many records there are of each status."""

    scopes: int
    records: dict[Status, int]
    unreadable: int | None = None
    """Scopes that cannot be looked into and are not counted; the service's log names them."""


class VectorsAnswer(Body):
    """How many of the vectors are kept: those of active records."""

    ok: Literal[True]
    kept: int


class ExportEnd(Body):
    """The last line of an export that did not break off."""

    end: bool
    """Whether the export is whole."""
    records: int
    unreadable: int | None = None
    """Scopes of which not all could be read, when it is not; the service's log names them."""
