"""The steps of a turn as they are written: each within the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from app.agents.pricing import UNCOUNTED, added
from app.dispatch.journal import Accepted, MessageId, TurnRecord
from app.sessions import lifecycle
from app.sessions.entry import Cost, SessionEntry, SessionId
from app.sessions.usage import Run
from app.state import delivery_rows, entry_rows, message_rows, reflection_rows, run_rows, session_steps, transcript_rows
from app.state.delivery_rows import Delivery
from app.state.message_rows import Claim
from app.state.session_steps import Arrival, Moment
from commands.spec import Replaced


def begin(connection: Connection, message_id: MessageId, arrival: Arrival, moment: Moment) -> SessionEntry:
    """The session's entry, marked with a turn under way."""
    begins = message_rows.begin(connection, message_id, moment.now)
    kept = entry_rows.get(connection, arrival.key)
    entry = session_steps.found(connection, arrival, moment, kept)
    begun = lifecycle.begun(entry, _token(message_id, begins), moment.now)
    entry_rows.save(connection, begun, kept)
    return begun


def promise(connection: Connection, delivery: Delivery, carried: Sequence[MessageId], now: datetime) -> None:
    delivery_rows.owe(connection, delivery, now)
    for each in carried:
        message_rows.end(connection, each, "carried", now)


def lead_on(
    connection: Connection, delivery: Delivery, then: Claim, replaced: Replaced | None = None
) -> MessageId | None:
    """A command's answer is owed, and what it has answered is a message of its own, in the place of another turn."""
    delivery_rows.owe(connection, delivery, then.accepted_at)
    claimed = message_rows.claim(connection, then)
    if claimed is not None and replaced is not None:
        transcript_rows.replace_last(connection, SessionId(replaced.session_id), replaced.opening)
    return claimed


def end(connection: Connection, accepted: Accepted, outcome: str, record: TurnRecord | None, now: datetime) -> None:
    """The turn is kept, once for each message, however often it ends."""
    _keep(connection, accepted, message_rows.unkept(connection, accepted.id, record), now)
    message_rows.end(connection, accepted.id, outcome, now)


def undelivered(connection: Connection, accepted: Accepted, record: TurnRecord | None, now: datetime) -> int:
    """The turn is kept, its answer still owed; how often that was tried."""
    _keep(connection, accepted, message_rows.unkept(connection, accepted.id, record), now)
    return delivery_rows.tried(connection, accepted.id, now)


def _keep(connection: Connection, accepted: Accepted, record: TurnRecord | None, now: datetime) -> None:
    entry = entry_rows.get(connection, accepted.session_key)
    if record is not None:
        transcript_rows.append(connection, record.run.session_id, record.lines)
        run_rows.insert(connection, record.run)
        if record.reflection is not None:
            reflection_rows.add(connection, record.reflection, now)
    if entry is None:
        return
    changed = _without_turn(entry, accepted.id)
    if record is not None and record.run.session_id == entry.session_id:
        changed = _with_turn(changed, record, now)
    entry_rows.save(connection, changed, entry)


def _with_turn(entry: SessionEntry, record: TurnRecord, now: datetime) -> SessionEntry:
    kept = lifecycle.answered(
        entry,
        now,
        used=record.run.tokens,
        cost=_cost(entry, record.run) if record.run.calls else entry.cost,
        prompt_tokens=record.prompt_tokens,
        watermark=record.watermark,
    )
    return lifecycle.cleared(kept) if record.is_success else kept


def _cost(entry: SessionEntry, run: Run) -> Cost:
    """Of the session with one more run. An entry that no run has changed yet has no cost, which is no unknown one."""
    is_first = not entry.tokens.total and entry.cost == Cost()
    is_uncounted = not run.tokens.total and run.cost.microusd is None
    return added(None if is_first else entry.cost, UNCOUNTED if is_uncounted else run.cost)


def _without_turn(entry: SessionEntry, message_id: MessageId) -> SessionEntry:
    """The mark of the message's turn taken away; another message's mark stays."""
    token = entry.active_turn_token
    if token is None or not token.startswith(_token(message_id, "")):
        return entry
    return lifecycle.ended(entry, token) or entry


def _token(message_id: MessageId, begins: object) -> str:
    """Names one attempt at one message's turn."""
    return f"{message_id}.{begins}"
