"""Rows of ``sessions``: every incarnation a conversation had. Each function works within the caller's transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select, update

from app.sessions.entry import EndReason, SessionId, SessionKey
from app.sessions.errors import TitleTakenError
from app.sessions.transcript import Kind, PastSession
from app.state.prepared import Prepared, Row, inserting
from app.state.tables import sessions, transcript
from memory.text import storable

OPENING_CHARS = 200

_INCARNATION = select(sessions.c.session_id, sessions.c.session_key, sessions.c.created_at, sessions.c.ended_at)
_ONE = Prepared(_INCARNATION.where(sessions.c.session_id == bindparam("session_id")))
_LATEST_OPEN = Prepared(
    _INCARNATION.where(sessions.c.session_key == bindparam("key"), sessions.c.ended_at.is_(None))
    .order_by(sessions.c.last_active_at.desc(), sessions.c.session_id.desc())
    .limit(1)
)
_CREATE = inserting(sessions, lambda insert: insert.on_conflict_do_nothing(index_elements=["session_id"]))
_CHANGE = update(sessions).where(sessions.c.session_id == bindparam("id_"))
_END = _CHANGE.values(ended_at=bindparam("moment"), end_reason=bindparam("reason"))
_REOPEN = _CHANGE.values(ended_at=None, end_reason=None, last_active_at=bindparam("moment"))
_ACTIVE = Prepared(
    _CHANGE.where(sessions.c.last_active_at < bindparam("moment")).values(last_active_at=bindparam("moment"))
)
_OPENING = (
    select(func.substr(transcript.c.content, 1, OPENING_CHARS))
    .where(
        transcript.c.session_id == sessions.c.session_id,
        transcript.c.role == "user",
        transcript.c.kind == Kind.SAID.value,
        transcript.c.is_active | transcript.c.is_compacted,
    )
    .order_by(transcript.c.id)
    .limit(1)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One incarnation."""

    session_id: SessionId
    session_key: SessionKey
    created_at: datetime
    ended_at: datetime | None


def get(connection: Connection, session_id: SessionId) -> SessionRow | None:
    return _row(_ONE.row(connection, {"session_id": storable(session_id)}))


def latest_open(connection: Connection, key: SessionKey) -> SessionRow | None:
    """The incarnation of the key that was active last and has not ended."""
    return _row(_LATEST_OPEN.row(connection, {"key": key}))


def exists_any(connection: Connection) -> bool:
    return connection.execute(select(sessions.c.session_id).limit(1)).one_or_none() is not None


def create(
    connection: Connection,
    session_id: SessionId,
    key: SessionKey,
    now: datetime,
    *,
    parent: SessionId | None = None,
    title: str | None = None,
) -> bool:
    """``False`` when there is a session of that id already. Raises ``TitleTakenError``."""
    name = None if title is None else _free_title(connection, session_id, key, title)
    row = {
        "session_id": session_id,
        "session_key": key,
        "parent_session_id": parent,
        "title": name,
        "created_at": now,
        "last_active_at": now,
    }
    return _CREATE.changed(connection, row) > 0


def end(connection: Connection, session_id: SessionId, reason: EndReason, now: datetime) -> None:
    connection.execute(_END, {"id_": session_id, "moment": now, "reason": reason.value})


def reopen(connection: Connection, session_id: SessionId, now: datetime) -> None:
    connection.execute(_REOPEN, {"id_": session_id, "moment": now})


def set_active(connection: Connection, session_id: SessionId, at: datetime) -> None:
    """Activity is never taken back."""
    _ACTIVE.rows(connection, {"id_": session_id, "moment": at})


def set_title(connection: Connection, session_id: SessionId, title: str) -> None:
    """Does nothing for a session that does not exist. Raises ``TitleTakenError``."""
    row = get(connection, session_id)
    if row is not None:
        name = _free_title(connection, session_id, row.session_key, title)
        connection.execute(_CHANGE.values(title=name), {"id_": session_id})


def past(connection: Connection, keys: Collection[SessionKey], limit: int) -> Sequence[PastSession]:
    """Latest activity first."""
    rows = connection.execute(
        select(sessions, _OPENING.label("opening"))
        .where(sessions.c.session_key.in_(keys))
        .order_by(sessions.c.last_active_at.desc(), sessions.c.session_id.desc())
        .limit(limit)
    )
    return [
        PastSession(
            session_id=row.session_id,
            session_key=row.session_key,
            title=row.title,
            created_at=row.created_at,
            last_active_at=row.last_active_at,
            ended_at=row.ended_at,
            opening=row.opening or "",
        )
        for row in rows
    ]


def keys_within(connection: Connection, stem: str, speaker: str | None = None) -> Sequence[SessionKey]:
    """Compared character by character: LIKE knows no case in SQLite, and PostgreSQL's order is not that of bytes."""
    key, inner = sessions.c.session_key, f"{stem}:"
    wanted = select(key).distinct().where((key == stem) | (func.substr(key, 1, len(inner)) == inner)).order_by(key)
    if speaker is not None:
        said = select(transcript.c.id).where(
            transcript.c.session_id == sessions.c.session_id,
            transcript.c.user_id == storable(speaker),
            transcript.c.kind == Kind.SAID.value,
        )
        wanted = wanted.where(said.exists())
    return [SessionKey(row) for row in connection.execute(wanted).scalars()]


def _free_title(connection: Connection, session_id: SessionId, key: SessionKey, title: str) -> str:
    name = storable(title)
    taken = select(sessions.c.session_id).where(
        sessions.c.session_key == key, sessions.c.title == name, sessions.c.session_id != session_id
    )
    if connection.execute(taken).one_or_none() is not None:
        raise TitleTakenError("another session of the conversation has this title")
    return name


def _row(row: Row | None) -> SessionRow | None:
    return None if row is None else SessionRow(*row)
