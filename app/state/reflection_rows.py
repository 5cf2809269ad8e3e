"""Rows of turns that are still to be learned from. Every function works within the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from app.dispatch.reflecting import Pending, ReflectionId
from app.state import erasure_rows
from app.state.json_text import json_text
from app.state.tables import pending_reflections
from memory.outcome import Batch
from memory.turn import FinishedTurn, heard_since

_columns = pending_reflections.c
_DUE = (
    select(pending_reflections)
    .where(_columns.not_before_at <= bindparam("now"), _columns.is_begun.is_(False))
    .order_by(_columns.id)
    .limit(bindparam("most"))
)
_BEGUN = select(pending_reflections).where(_columns.is_begun.is_(True)).order_by(_columns.id)
_ONE = update(pending_reflections).where(_columns.id == bindparam("id_"))
_BEGIN = _ONE.values(is_begun=True, attempts=_columns.attempts + 1)
_KEEP = _ONE.values(payload=bindparam("content"))
_AGAIN = _ONE.values(is_begun=False, payload=bindparam("content"), not_before_at=bindparam("then"))
_DELETE = delete(pending_reflections).where(_columns.id == bindparam("id_"))


@dataclass(frozen=True, slots=True)
class Content:
    """What a row holds."""

    turn: FinishedTurn
    unwritten: tuple[Batch, ...] = ()
    awaits_model: bool = False
    """False also for what an earlier version has begun, which may have asked one."""
    looks: int = 0


_CONTENTS = TypeAdapter(Content)


def add(connection: Connection, turn: FinishedTurn, now: datetime) -> None:
    row = {
        "session_key": turn.session_key,
        "payload": _text(Content(turn, awaits_model=True)),
        "not_before_at": now,
        "created_at": now,
    }
    connection.execute(insert(pending_reflections), row)


def take(connection: Connection, now: datetime, limit: int) -> Sequence[Pending]:
    """What is due, oldest first, begun from now on. A row that makes no sense, or no longer teaches, is taken away."""
    taken: list[Pending] = []
    for row in connection.execute(_DUE, {"now": now, "most": limit}).all():
        read = _content(row)
        content = None if read is None else _unerased(connection, read)
        if content is None:
            remove(connection, ReflectionId(row.id))
            continue
        connection.execute(_BEGIN, {"id_": row.id})
        # What is not begun and has nothing to write had no model asked, whoever has kept it.
        taken.append(replace(_pending(row, content, row.attempts + 1), awaits_model=not content.unwritten))
    return taken


def interrupted(connection: Connection) -> Sequence[Pending]:
    """What was begun is due again, but for what is not ``is_left``, which is taken away."""
    lost: list[Pending] = []
    for row in connection.execute(_BEGUN).all():
        content = _content(row)
        pending = None if content is None else _pending(row, content, row.attempts)
        if pending is not None and pending.is_left:
            connection.execute(_AGAIN, {"id_": row.id, "content": row.payload, "then": row.not_before_at})
            continue
        remove(connection, ReflectionId(row.id))
        if pending is not None:
            lost.append(pending)
    return lost


def keep(connection: Connection, pending: Pending) -> None:
    content = Content(pending.turn, pending.unwritten, pending.awaits_model, pending.looks)
    connection.execute(_KEEP, {"id_": pending.id, "content": _text(content)})


def again(
    connection: Connection,
    reflection_id: ReflectionId,
    turn: FinishedTurn,
    unwritten: Sequence[Batch],
    not_before_at: datetime,
) -> None:
    content = _text(Content(turn, tuple(unwritten), awaits_model=not unwritten))
    connection.execute(_AGAIN, {"id_": reflection_id, "content": content, "then": not_before_at})


def remove(connection: Connection, reflection_id: ReflectionId) -> None:
    connection.execute(_DELETE, {"id_": reflection_id})


def _unerased(connection: Connection, content: Content) -> Content | None:
    """What is left to learn from; ``None`` for a turn that had ended before something of it was erased."""
    erased_at = erasure_rows.latest(connection, content.turn)
    if erased_at is None:
        return content
    is_over = content.turn.ended_at <= erased_at
    return None if is_over else replace(content, turn=heard_since(content.turn, erased_at))


def _pending(row: Row[Any], content: Content, attempts: int) -> Pending:
    how_far = (content.unwritten, content.awaits_model, content.looks)
    return Pending(ReflectionId(row.id), content.turn, attempts, row.created_at, *how_far)


def _content(row: Row[Any]) -> Content | None:
    try:
        return _CONTENTS.validate_json(row.payload)
    except ValidationError:
        return None


def _text(content: Content) -> str:
    return json_text(_CONTENTS, content)
