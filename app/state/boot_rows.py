"""Starts and stops of the process. Every function works within the caller's transaction."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select, update

from app.dispatch.journal import Boot
from app.sessions import lifecycle
from app.sessions.entry import ResumeReason, SessionEntry
from app.sessions.restart import BEGINS_MOST
from app.state import entry_rows
from app.state.errors import StateValueError
from app.state.tables import boots, routes

REMEMBERED = 50

_LATEST = select(boots.c.id, boots.c.started_at, boots.c.ended_at).order_by(boots.c.id.desc()).limit(REMEMBERED)
_END = update(boots).where(boots.c.id == bindparam("id_")).values(ended_at=bindparam("now"))
_ACTIVE = select(routes.c.session_key).where(routes.c.active_turn_token.is_not(None))


def began(connection: Connection, now: datetime) -> Boot:
    """What was active when the last process ended is marked to be resumed; too often in a row, it is suspended."""
    earlier = connection.execute(_LATEST).all()
    was_clean = not earlier or earlier[0].ended_at is not None
    for entry in _active(connection):
        counted = replace(entry, active_turn_token=None, interrupted_boots=entry.interrupted_boots + 1)
        if counted.interrupted_boots >= BEGINS_MOST:
            entry_rows.save(connection, lifecycle.suspended(counted), entry)
        elif counted.resume_pending:
            entry_rows.save(connection, counted, entry)
        else:
            entry_rows.save(connection, lifecycle.marked(counted, ResumeReason.RESTART_INTERRUPTED, now), entry)
    connection.execute(insert(boots), {"started_at": now})
    return Boot(was_clean, (now, *(row.started_at for row in earlier)))


def stopped(connection: Connection, now: datetime, *, is_clean: bool) -> None:
    """An orderly stop. What it cut short is marked to be resumed; the mark of a clean one is set only without that."""
    for entry in _active(connection):
        entry_rows.save(connection, lifecycle.marked(entry, ResumeReason.SHUTDOWN_TIMEOUT, now), entry)
    latest = connection.execute(_LATEST).first()
    if is_clean and latest is not None:
        connection.execute(_END, {"id_": latest.id, "now": now})


def _active(connection: Connection) -> Iterator[SessionEntry]:
    """One that makes no sense keeps nobody else from going on; its own people are told when they say something."""
    for key in connection.execute(_ACTIVE).scalars().all():
        with suppress(StateValueError):
            entry = entry_rows.get(connection, key)
            if entry is not None:
                yield entry
