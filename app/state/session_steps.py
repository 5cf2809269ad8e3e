"""The steps of a conversation's life as they are written: each within the caller's transaction."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection

from app.channel import ThreadKey
from app.sessions import lifecycle
from app.sessions.entry import EndReason, ResumeReason, SessionEntry, SessionId, SessionKey
from app.sessions.lifecycle import Opening
from app.sessions.source import SessionSource
from app.sessions.store import Renewed
from app.state import entry_rows, override_rows, session_rows, transcript_rows
from commands.preferences import NOTHING, Clearing


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step is taken, and where it gets eight new hex digits."""

    now: datetime
    suffix: Callable[[], str]

    def new_session(
        self, connection: Connection, key: SessionKey, *, parent: SessionId | None = None, title: str | None = None
    ) -> SessionId:
        """An incarnation that begins now. Raises ``TitleTakenError``."""
        while True:
            session_id = lifecycle.new_session_id(self.now, self.suffix())
            if session_rows.create(connection, session_id, key, self.now, parent=parent, title=title):
                return session_id


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message's claim to a session."""

    key: SessionKey
    source: SessionSource
    thread_key: ThreadKey
    force_new: bool = False
    touch: bool = True


def open_session(connection: Connection, arrival: Arrival, moment: Moment) -> SessionEntry:
    """The entry of the key (session lifecycle, section 2)."""
    kept = entry_rows.get(connection, arrival.key)
    entry = found(connection, arrival, moment, kept)
    if entry is kept and arrival.touch:
        entry = lifecycle.touched(entry, moment.now)
    entry_rows.save(connection, entry, kept)
    return entry


def found(connection: Connection, arrival: Arrival, moment: Moment, kept: SessionEntry | None) -> SessionEntry:
    """What a message finds where ``kept`` is the entry of its key; another one than ``kept`` is still to be saved.

    One that was pruned is found again by its last session.
    """
    entry = kept or _recovered(connection, arrival, moment.now)
    if entry is None:
        session_id = moment.new_session(connection, arrival.key)
        return lifecycle.fresh(arrival.key, session_id, arrival.source, arrival.thread_key, moment.now)
    match lifecycle.opening_of(entry, force_new=arrival.force_new):
        case Opening.CREATE:
            return _replaced(connection, entry, EndReason.RESET, moment, lifecycle.renewed)
        case Opening.REPLACE:
            return _replaced(connection, entry, EndReason.SUSPENDED, moment, lifecycle.auto_reset)
        case Opening.RESUME | Opening.CONTINUE:
            return entry


def reset(
    connection: Connection,
    key: SessionKey,
    moment: Moment,
    *,
    watermark: str | None = None,
    title: str | None = None,
    clearing: Clearing = NOTHING,
) -> Renewed | None:
    """Raises ``TitleTakenError``."""
    entry = entry_rows.get(connection, key)
    if entry is None:
        return None

    def renew(entry: SessionEntry, session_id: SessionId, now: datetime, *, had_activity: bool) -> SessionEntry:
        return lifecycle.reset(entry, session_id, now, had_activity=had_activity, watermark=watermark)

    changed = _replaced(connection, entry, EndReason.RESET, moment, renew, title)
    entry_rows.save(connection, changed, entry)
    return Renewed(changed, override_rows.clear(connection, clearing, moment.now))


def switch(
    connection: Connection,
    key: SessionKey,
    target: SessionId,
    now: datetime,
    *,
    expected: SessionId | None = None,
    watermark: str | None = None,
) -> SessionEntry | None:
    entry, wanted = entry_rows.get(connection, key), session_rows.get(connection, target)
    if entry is None or wanted is None or wanted.session_key != key or expected not in (None, entry.session_id):
        return None
    if target != entry.session_id:
        session_rows.end(connection, entry.session_id, EndReason.SWITCH, now)
        session_rows.reopen(connection, target, now)
    changed = lifecycle.switched(entry, target, now, created_at=wanted.created_at, watermark=watermark)
    entry_rows.save(connection, changed, entry)
    return changed


def fork(
    connection: Connection,
    key: SessionKey,
    origin: SessionId,
    moment: Moment,
    *,
    expected: SessionId | None = None,
    watermark: str | None = None,
) -> SessionEntry | None:
    """Raises ``TranscriptUnreadableError``."""
    entry, wanted = entry_rows.get(connection, key), session_rows.get(connection, origin)
    if entry is None or wanted is None or expected not in (None, entry.session_id):
        return None
    now, session_id = moment.now, moment.new_session(connection, key, parent=wanted.session_id)
    transcript_rows.append(connection, session_id, transcript_rows.load(connection, wanted.session_id))
    session_rows.end(connection, entry.session_id, EndReason.SWITCH, now)
    changed = lifecycle.switched(entry, session_id, now, created_at=now, watermark=watermark)
    entry_rows.save(connection, changed, entry)
    return changed


def change(
    connection: Connection, key: SessionKey, step: Callable[[SessionEntry], SessionEntry | None]
) -> SessionEntry | None:
    """Keep what ``step`` makes of the entry; ``None`` when there is none, or ``step`` makes nothing of it."""
    entry = entry_rows.get(connection, key)
    changed = None if entry is None else step(entry)
    if changed is not None:
        entry_rows.save(connection, changed, entry)
    return changed


def mark_recently_active(connection: Connection, now: datetime, max_age_s: float) -> int:
    entries = entry_rows.active_since(connection, now - timedelta(seconds=max_age_s))
    interrupted = lifecycle.recently_active(entries, now, max_age_s)
    for entry in interrupted:
        entry_rows.save(connection, lifecycle.marked(entry, ResumeReason.RESTART_INTERRUPTED, now), entry)
    return len(interrupted)


def prune(connection: Connection, now: datetime, max_age_days: int, keep: Collection[SessionKey]) -> int:
    quiet = entry_rows.quiet_since(connection, now - timedelta(days=max_age_days))
    doomed = lifecycle.prunable(quiet, now, max_age_days, keep)
    entry_rows.remove(connection, doomed)
    return len(doomed)


def _recovered(connection: Connection, arrival: Arrival, now: datetime) -> SessionEntry | None:
    """An entry for the session that was left open: nothing but a person, or a suspension, ends a conversation."""
    left = session_rows.latest_open(connection, arrival.key)
    if left is None:
        return None
    entry = lifecycle.fresh(arrival.key, left.session_id, arrival.source, arrival.thread_key, now)
    position = transcript_rows.last_position(connection, left.session_id)
    return replace(entry, created_at=left.created_at, watermark=position)


def _replaced(
    connection: Connection,
    entry: SessionEntry,
    reason: EndReason,
    moment: Moment,
    renew: Callable[..., SessionEntry],
    title: str | None = None,
) -> SessionEntry:
    """With a child of its session, which has ended."""
    old = entry.session_id
    session_id = moment.new_session(connection, entry.session_key, parent=old, title=title)
    session_rows.end(connection, old, reason, moment.now)
    return renew(entry, session_id, moment.now, had_activity=transcript_rows.has_lines(connection, old))
