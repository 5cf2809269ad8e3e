"""What becomes of a conversation's record: every change as a function from entry to entry.

Nothing here asks how long a conversation was quiet before its session is replaced: inactivity never ends one
(session lifecycle, section 6).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from app.channel import ThreadKey
from app.sessions.entry import Cost, EndReason, ResumeReason, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.source import SessionSource


class Opening(StrEnum):
    """What a message finds (session lifecycle, section 2)."""

    CREATE = "create"
    REPLACE = "replace"
    """The entry is suspended: a new session takes its place."""
    RESUME = "resume"
    """Same session; the mark stays until a turn has succeeded."""
    CONTINUE = "continue"


def opening_of(entry: SessionEntry | None, *, force_new: bool = False) -> Opening:
    """Suspension goes before the wish to resume, and that before what is simply there."""
    if entry is None or force_new:
        return Opening.CREATE
    if entry.suspended:
        return Opening.REPLACE
    return Opening.RESUME if entry.resume_pending else Opening.CONTINUE


def new_session_id(now: datetime, hex8: str) -> SessionId:
    """``YYYYMMDD_HHMMSS_<8 hex digits>``, in UTC like every moment here."""
    moment = now.isoformat("_", "seconds").partition("+")[0]  # strftime takes several times as long
    return SessionId(f"{moment.replace('-', '').replace(':', '')}_{hex8}")


def fresh(
    key: SessionKey, session_id: SessionId, source: SessionSource, thread_key: ThreadKey, now: datetime
) -> SessionEntry:
    return SessionEntry(
        session_key=key,
        session_id=session_id,
        thread_key=thread_key,
        created_at=now,
        updated_at=now,
        origin=source,
        display_name=source.chat_name,
        platform=source.platform,
        chat_type=source.chat_type,
    )


def touched(entry: SessionEntry, now: datetime, last_prompt_tokens: int | None = None) -> SessionEntry:
    """Activity; a clock that was set back takes nothing of it away."""
    prompt_tokens = entry.last_prompt_tokens if last_prompt_tokens is None else last_prompt_tokens
    return replace(entry, updated_at=max(entry.updated_at, now), last_prompt_tokens=prompt_tokens)


def answered(
    entry: SessionEntry, now: datetime, *, used: Tokens, cost: Cost, prompt_tokens: int | None, watermark: str | None
) -> SessionEntry:
    """Activity, too. ``used`` by this turn; ``cost`` is the session's by now. What is not known stays as it was."""
    return replace(
        entry,
        updated_at=max(entry.updated_at, now),
        tokens=entry.tokens + used,
        cost=cost,
        last_prompt_tokens=entry.last_prompt_tokens if prompt_tokens is None else prompt_tokens,
        watermark=watermark or entry.watermark,
    )


def renewed(entry: SessionEntry, session_id: SessionId, now: datetime, *, had_activity: bool = False) -> SessionEntry:
    """Another session under the same key, its counts and marks at their beginning.

    What the thread's watermark covers stays covered, and a turn under way stays marked.
    """
    return replace(
        entry,
        session_id=session_id,
        created_at=now,
        updated_at=max(entry.updated_at, now),
        tokens=Tokens(),
        cost=Cost(),
        last_prompt_tokens=0,
        was_auto_reset=False,
        auto_reset_reason=None,
        reset_had_activity=had_activity,
        is_fresh_reset=False,
        expiry_finalized=False,
        suspended=False,
        resume_pending=False,
        resume_reason=None,
        last_resume_marked_at=None,
        interrupted_boots=0,
    )


def auto_reset(entry: SessionEntry, session_id: SessionId, now: datetime, *, had_activity: bool) -> SessionEntry:
    """After a suspension."""
    renewal = renewed(entry, session_id, now, had_activity=had_activity)
    return replace(renewal, was_auto_reset=True, auto_reset_reason=EndReason.SUSPENDED.value)


def reset(
    entry: SessionEntry, session_id: SessionId, now: datetime, *, had_activity: bool, watermark: str | None = None
) -> SessionEntry:
    """As a person asked for."""
    renewal = renewed(entry, session_id, now, had_activity=had_activity)
    return replace(renewal, is_fresh_reset=True, watermark=watermark or entry.watermark)


def switched(
    entry: SessionEntry, target: SessionId, now: datetime, *, created_at: datetime, watermark: str | None = None
) -> SessionEntry:
    """At ``target``, which began at ``created_at``. To switch to where it stands only lifts what is in the way."""
    if target == entry.session_id:
        return replace(touched(cleared(entry), now), suspended=False, watermark=watermark or entry.watermark)
    renewal = renewed(entry, target, now)
    return replace(renewal, created_at=created_at, watermark=watermark or entry.watermark)


def suspended(entry: SessionEntry) -> SessionEntry:
    return replace(entry, suspended=True)


def marked(entry: SessionEntry, reason: ResumeReason, now: datetime) -> SessionEntry:
    """To be resumed, unless it is suspended."""
    if entry.suspended:
        return entry
    return replace(entry, resume_pending=True, resume_reason=reason, last_resume_marked_at=now)


def cleared(entry: SessionEntry) -> SessionEntry:
    """Nothing is left to resume; when it was marked last stays known."""
    is_marked = entry.resume_pending or entry.resume_reason is not None
    return replace(entry, resume_pending=False, resume_reason=None) if is_marked else entry


def begun(entry: SessionEntry, token: str, now: datetime) -> SessionEntry:
    """Activity, too."""
    updated_at = max(entry.updated_at, now)
    return replace(entry, updated_at=updated_at, active_turn_token=token, active_turn_started_at=now)


def ended(entry: SessionEntry, token: str) -> SessionEntry | None:
    """``None`` when another turn is under way, or none. A turn that ends breaks a row of interrupted restarts."""
    if entry.active_turn_token != token:
        return None
    return replace(
        entry, active_turn_token=None, active_turn_started_at=None, interrupted_boots=0, is_fresh_reset=False
    )


def recently_active(entries: Iterable[SessionEntry], now: datetime, max_age_s: float) -> Sequence[SessionEntry]:
    """Those that a crash may have interrupted, but for those that are marked or suspended already (section 7)."""
    since = now - timedelta(seconds=max_age_s)
    return [entry for entry in entries if entry.updated_at >= since and not (entry.resume_pending or entry.suspended)]


def prunable(
    entries: Iterable[SessionEntry], now: datetime, max_age_days: int, keep: Collection[SessionKey] = ()
) -> Sequence[SessionKey]:
    """Keys whose entries are older than that. Suspended ones stay, as do those at work; 0 days drop nothing."""
    if max_age_days <= 0:
        return []
    before = now - timedelta(days=max_age_days)
    return [
        entry.session_key
        for entry in entries
        if entry.updated_at < before
        and not (entry.suspended or entry.active_turn_token)
        and entry.session_key not in keep
    ]
