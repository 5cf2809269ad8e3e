"""Rows of what waits for a person's decision. Every function works within the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select, update

from app.state.json_text import json_text
from app.state.tables import reviews
from commands.reviews import HeldFact, Verdict, held_id, parse_held_id
from memory.outcome import Batch
from memory.record import MemoryCandidate
from memory.turn import FinishedTurn

_CANDIDATE = TypeAdapter(MemoryCandidate)
_columns = reviews.c
_IS_WAITING = _columns.decided_at.is_(None)
_OF_SCOPE = _columns.scope_key == bindparam("key")
_NEWEST = select(_columns.id).where(_OF_SCOPE, _IS_WAITING).order_by(_columns.id.desc()).limit(bindparam("most"))
_SURPLUS = delete(reviews).where(_OF_SCOPE, _IS_WAITING, _columns.id.not_in(_NEWEST))
_SCOPES = select(_columns.scope_key).where(_IS_WAITING).distinct()
_ONE = select(reviews).where(_columns.id == bindparam("number"), _OF_SCOPE, _IS_WAITING)


def add(connection: Connection, turn: FinishedTurn, batches: Sequence[Batch], now: datetime, most: int) -> None:
    """Each scope keeps its newest ``most`` waiting."""
    for batch in batches:
        for candidate in batch.candidates:
            row = {
                "scope_key": batch.scope_key,
                "candidate": _text(candidate),
                "source_user": candidate.source_user,
                "thread_key": turn.thread_key,
                "run_id": turn.run_id,
                "created_at": now,
            }
            connection.execute(insert(reviews), row)
        connection.execute(_SURPLUS, {"key": batch.scope_key, "most": most})


def scopes(connection: Connection) -> Sequence[str]:
    return list(connection.scalars(_SCOPES))


def waiting(connection: Connection, keys: Sequence[str], limit: int) -> Sequence[HeldFact]:
    """Newest first. A row that makes no sense is passed over."""
    query = select(reviews).where(_columns.scope_key.in_(keys), _IS_WAITING).order_by(_columns.id.desc()).limit(limit)
    facts = [_fact(row) for row in connection.execute(query).all()]
    return [fact for fact in facts if fact is not None]


def take(connection: Connection, review_id: str, now: datetime, by: str, verdict: Verdict) -> HeldFact | None:
    """The words go with the decision: what remains of the row says who decided what, and when."""
    key, number = parse_held_id(review_id) or ("", 0)
    row = connection.execute(_ONE, {"key": key, "number": number}).first()
    if row is None:
        return None
    decided = {"candidate": "", "decided_at": now, "decided_by": by, "decision": verdict}
    marked = update(reviews).where(_columns.id == number, _IS_WAITING).values(decided).returning(_columns.id)
    # Another process may have decided since the row was read.
    return None if connection.scalar(marked) is None else _fact(row)


def reject_all(connection: Connection, waiting: ColumnElement[bool], now: datetime, by: str) -> None:
    """Of what ``in_thread`` or ``in_scope`` says."""
    rejected = {"candidate": "", "decided_at": now, "decided_by": by, "decision": "rejected"}
    connection.execute(update(reviews).where(waiting, _IS_WAITING).values(rejected))


def in_thread(thread_key: str) -> ColumnElement[bool]:
    return _columns.thread_key == thread_key


def in_scope(scope_key: str) -> ColumnElement[bool]:
    return _columns.scope_key == scope_key


def give_back(connection: Connection, fact: HeldFact) -> None:
    _, number = parse_held_id(fact.id) or ("", 0)
    undecided = {"candidate": _text(fact.candidate), "decided_at": None, "decided_by": None, "decision": None}
    connection.execute(update(reviews).where(_columns.id == number).values(undecided))


def _fact(row: Row[Any]) -> HeldFact | None:
    try:
        candidate = _CANDIDATE.validate_json(row.candidate)
    except ValidationError:
        return None
    return HeldFact(held_id(row.scope_key, row.id), row.scope_key, candidate, row.created_at)


def _text(candidate: MemoryCandidate) -> str:
    return json_text(_CANDIDATE, candidate)
