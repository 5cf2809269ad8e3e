"""What the memory service answers, part by part: one that is malformed is left out and takes nothing with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Any, TypeGuard, cast

from memory.ranker import Ranker
from memory.record import MemoryRecord, Status, WriteCounts
from memory.service.wire import read_record
from memory.store import Hit, Query
from memory.stores.remote_faults import unfit
from memory.text import record_terms

LEAST_SCORE = 0.01
"""Of a record that an older service found and the client's own ranker would not have."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search answered; without scores from a service older than they are."""

    records: Sequence[MemoryRecord]
    scores: Sequence[float] | None
    standing: Sequence[MemoryRecord]


def found_in(answer: Mapping[str, Any], scope_key: str, query: Query) -> Found:
    """As much of it as was asked for. Raises ``StoreUnavailableError`` for an answer without records."""
    values = values_in(answer, "/retrieve")
    scores = _scores(answer.get("scores"), len(values))
    read = enumerate(_own(value, scope_key) for value in values)
    kept = [(place, record) for place, record in read if record is not None][: max(0, query.limit)]
    standing = answer.get("standingRecords")
    also = own_records(cast("list[object]", standing) if isinstance(standing, list) else [], scope_key)
    return Found(
        [record for _, record in kept],
        None if scores is None else [scores[place] for place, _ in kept],
        also[: max(0, query.standing)],
    )


def values_in(answer: Mapping[str, Any], route: str) -> list[object]:
    values = answer.get("records")
    if not isinstance(values, list):
        raise unfit(route)
    return cast("list[object]", values)


def own_records(values: Sequence[object], scope_key: str) -> list[MemoryRecord]:
    """The active records of that scope among ``values``: no service may hand out another one's, nor what is retired."""
    read = (_own(value, scope_key) for value in values)
    return [record for record in read if record is not None]


def hits_of(found: Found, query: str, ranker: Ranker, now: datetime) -> tuple[Hit, ...]:
    """In the service's order. Where it tells no scores, ``ranker`` scores the records among each other."""
    if found.scores is not None:
        return tuple(map(Hit, found.records, found.scores))
    ordered = sorted(with_terms(found.records), key=lambda record: record.sequence)
    own = {hit.record.id: hit.score for hit in ranker.rank(ordered, query, now)}
    return tuple(Hit(record, own.get(record.id, LEAST_SCORE)) for record in found.records)


def with_terms(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The records as a store of this process would list them."""
    return [
        replace(record, terms=record_terms(record.text, record.keywords, record.author, record.created_at))
        for record in records
    ]


def counts_in(answer: Mapping[str, Any]) -> WriteCounts:
    """A counter that an older service does not have reads 0."""
    done(answer, "/write")
    return WriteCounts(
        inserted=count_in(answer, "inserted"),
        deduped=count_in(answer, "deduped"),
        restated=count_in(answer, "restated"),
        superseded=count_in(answer, "superseded"),
        evicted=count_in(answer, "evicted"),
    )


def count_in(answer: Mapping[str, Any], name: str) -> int:
    value = answer.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def done(answer: Mapping[str, Any], route: str) -> Mapping[str, Any]:
    """``answer``, which must say that it was done: a page of a proxy with status 200 does not."""
    if answer.get("ok") is not True:
        raise unfit(route)
    return answer


def texts_in(answer: Mapping[str, Any], name: str) -> list[str] | None:
    """The strings of a list; ``None`` when the answer has none."""
    values = answer.get(name)
    if not isinstance(values, list):
        return None
    return [value for value in cast("list[object]", values) if isinstance(value, str)]


def _own(value: object, scope_key: str) -> MemoryRecord | None:
    record = read_record(value)
    if record is None or record.scope_key != scope_key or record.status is not Status.ACTIVE:
        return None
    return record


def _scores(values: object, count: int) -> list[float] | None:
    """One for each record, or none at all."""
    if not isinstance(values, list):
        return None
    numbers = [value for value in cast("list[object]", values) if _is_score(value)]
    return numbers if len(numbers) == count else None


def _is_score(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0
