"""Rows that say until when nothing is learned any more. Every function works within the caller's transaction."""

from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from app.dispatch.unlearning import Kind
from app.state.tables import erasures
from memory.turn import FinishedTurn

_columns = erasures.c
_LATEST = select(func.max(_columns.erased_at)).where(
    or_(
        and_(_columns.kind == Kind.THREAD, _columns.subject == bindparam("thread")),
        and_(_columns.kind == Kind.PERSON, _columns.subject == bindparam("person")),
    )
)


def note(connection: Connection, kind: Kind, subject: str, at: datetime) -> None:
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = dialect.insert(erasures).values(kind=kind.value, subject=subject, erased_at=at)
    key = [_columns.kind, _columns.subject]
    connection.execute(row.on_conflict_do_update(index_elements=key, set_={"erased_at": at}))


def latest(connection: Connection, turn: FinishedTurn) -> datetime | None:
    """When something of the turn's conversation, or of the one who asked, was erased last."""
    return connection.scalar(_LATEST, {"thread": turn.thread_key, "person": turn.user_id})
