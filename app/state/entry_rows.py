"""Rows of ``routes``: where each conversation stands. Every function works within the caller's transaction."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, bindparam, delete, select, update

from app.channel import ThreadKey
from app.sessions.entry import Cost, ResumeReason, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.source import ChatType, SessionSource
from app.state.errors import StateValueError
from app.state.prepared import Prepared, Row, inserting
from app.state.tables import routes
from memory.text import storable

ORIGINS = 2_000
"""Remembered in both forms: an entry is read and written several times in a turn, and its origin stays what it is.
Twice as many as a thousand turns under way have, or each would be forgotten before its turn ends."""
CHANGES = 100
"""Statements kept for what changes at once: turns have about a dozen."""

_OBJECT = TypeAdapter(dict[str, Any])
_ALL = select(routes)
_FIELDS = tuple(field.name for field in fields(SessionEntry))
_of_fields = attrgetter(*_FIELDS)
_BY_KEY = Prepared(_ALL.where(routes.c.session_key == bindparam("key")))
_BY_SESSION = _ALL.where(routes.c.session_id == bindparam("session_id"))
_BY_THREAD = _ALL.where(routes.c.thread_key == bindparam("thread_key")).order_by(routes.c.session_key)
_LATEST_FIRST = _ALL.order_by(routes.c.updated_at.desc(), routes.c.session_key)
_SINCE = _ALL.where(routes.c.updated_at >= bindparam("moment"))
_BEFORE = _ALL.where(routes.c.updated_at < bindparam("moment"))
_CHANGE = update(routes).where(routes.c.session_key == bindparam("key"))
_SAVE = inserting(
    routes,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["session_key"],
        set_={column.name: insert.excluded[column.name] for column in routes.c if not column.primary_key},
    ),
)
_REMOVE = delete(routes).where(routes.c.session_key == bindparam("key"))
_COLUMNS_OF = {
    "tokens": ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    "cost": ("cost_microusd", "cost_status"),
}
"""Those of an entry's fields that are not a column of their name."""


def get(connection: Connection, key: SessionKey) -> SessionEntry | None:
    row = _BY_KEY.row(connection, {"key": key})
    return None if row is None else _entry(row)


def at_session(connection: Connection, session_id: SessionId) -> SessionEntry | None:
    """The entry that stands at the session."""
    row = connection.execute(_BY_SESSION, {"session_id": storable(session_id)}).one_or_none()
    return None if row is None else _entry(row)


def in_thread(connection: Connection, thread_key: ThreadKey) -> Sequence[SessionEntry]:
    return [_entry(row) for row in connection.execute(_BY_THREAD, {"thread_key": thread_key})]


def latest(connection: Connection, limit: int, *, active_since: datetime | None = None) -> Sequence[SessionEntry]:
    """Latest activity first."""
    wanted = _LATEST_FIRST if active_since is None else _LATEST_FIRST.where(routes.c.updated_at >= active_since)
    return [_entry(row) for row in connection.execute(wanted.limit(limit))]


def active_since(connection: Connection, moment: datetime) -> Sequence[SessionEntry]:
    return [_entry(row) for row in connection.execute(_SINCE, {"moment": moment})]


def quiet_since(connection: Connection, moment: datetime) -> Sequence[SessionEntry]:
    return [_entry(row) for row in connection.execute(_BEFORE, {"moment": moment})]


def save(connection: Connection, entry: SessionEntry, kept: SessionEntry | None = None) -> None:
    """Keep the entry in place of what was there. Its session has a row already.

    ``kept``: what was there, as this transaction has read it; then only what differs is written, which is little.
    """
    values = _values(entry)
    if kept is None:
        _SAVE.rows(connection, values)
        return
    both = zip(_FIELDS, _of_fields(entry), _of_fields(kept), strict=True)
    changed = [name for name, value, before in both if value is not before and value != before]
    if changed:
        columns = [column for name in changed for column in _COLUMNS_OF.get(name, (name,))]
        written = {column: values[column] for column in columns}
        _changing(tuple(columns)).rows(connection, {"key": entry.session_key, **written})


def remove(connection: Connection, keys: Iterable[SessionKey]) -> None:
    """Sessions and what was said in them stay."""
    doomed = [{"key": key} for key in keys]
    if doomed:
        connection.execute(_REMOVE, doomed)


def _values(entry: SessionEntry) -> dict[str, Any]:
    tokens, origin = entry.tokens, entry.origin
    return {
        "session_key": entry.session_key,
        "session_id": entry.session_id,
        "thread_key": entry.thread_key,
        "created_at": entry.created_at,
        "updated_at": entry.updated_at,
        "origin": None if origin is None else _origin_text(origin),
        "display_name": None if entry.display_name is None else storable(entry.display_name),
        "platform": entry.platform,
        "chat_type": entry.chat_type.value,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "cost_microusd": entry.cost.microusd,
        "cost_status": entry.cost.status,
        "last_prompt_tokens": entry.last_prompt_tokens,
        "was_auto_reset": entry.was_auto_reset,
        "auto_reset_reason": entry.auto_reset_reason,
        "reset_had_activity": entry.reset_had_activity,
        "is_fresh_reset": entry.is_fresh_reset,
        "expiry_finalized": entry.expiry_finalized,
        "suspended": entry.suspended,
        "resume_pending": entry.resume_pending,
        "resume_reason": entry.resume_reason,
        "last_resume_marked_at": entry.last_resume_marked_at,
        "active_turn_token": entry.active_turn_token,
        "active_turn_started_at": entry.active_turn_started_at,
        "interrupted_boots": entry.interrupted_boots,
        "watermark": entry.watermark,
    }


def _entry(row: Row) -> SessionEntry:
    """Raises ``StateValueError``, without the value."""
    try:
        return _read(*row)
    except ValueError:
        raise StateValueError("a conversation's entry in the state database makes no sense") from None


def _read(*kept: Any) -> SessionEntry:
    """Its columns are in the order of an entry's fields."""
    key, session_id, thread_key, created_at, updated_at, origin, name, platform, chat_type, *counts = kept
    fresh, output, read, written, microusd, status, prompt, *marks = counts
    was_reset, why_reset, had_activity, is_fresh, is_final, suspended, pending, reason, *rest = marks
    return SessionEntry(
        key,
        session_id,
        thread_key,
        created_at,
        updated_at,
        _origin(origin),
        name,
        platform,
        ChatType(chat_type),
        Tokens(fresh, output, read, written),
        Cost(microusd, status),
        prompt,
        was_reset,
        why_reset,
        had_activity,
        is_fresh,
        is_final,
        suspended,
        pending,
        None if reason is None else ResumeReason(reason),
        *rest,
    )


@lru_cache(maxsize=CHANGES)
def _changing(_names: tuple[str, ...]) -> Prepared:
    """Of the columns of those names: each set of them is a statement of its own."""
    return Prepared(_CHANGE)


@lru_cache(maxsize=ORIGINS)
def _origin_text(origin: SessionSource) -> str:
    return json.dumps(origin.to_dict())


@lru_cache(maxsize=ORIGINS)
def _origin(text: str | None) -> SessionSource | None:
    """``None`` also for what makes no source: whose the conversation is, the key tells."""
    if text is not None:
        with suppress(ValueError):  # of all three
            return SessionSource.from_dict(_OBJECT.validate_python(json.loads(text)))
    return None
