"""Rows of accepted messages. Every function works within the caller's transaction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, bindparam, delete, exists, func, select, update

from app.channel import IncomingMessage, Place
from app.dispatch.journal import Accepted, MessageId, Promise, TurnRecord, Unfinished, Waiting
from app.sessions.entry import SessionKey
from app.state import delivery_rows
from app.state.json_text import json_text
from app.state.prepared import Prepared, inserting
from app.state.tables import deliveries, inbox, posts

WAITING, BEGUN, COMMAND, ENDED = "waiting", "begun", "command", "ended"
KEPT = timedelta(hours=24)
"""How long an ended message keeps its names, so that a late redelivery is recognised."""

_MESSAGES = TypeAdapter(IncomingMessage)
_ONE = update(inbox).where(inbox.c.id == bindparam("id_"))
_BEGIN = Prepared(
    _ONE.values(state=bindparam("to"), begins=inbox.c.begins + 1, begun_at=bindparam("now")).returning(inbox.c.begins)
)
_END = Prepared(_ONE.values(state=ENDED, outcome=bindparam("how"), payload="", address=None, ended_at=bindparam("now")))
_CLAIM = inserting(inbox, lambda insert: insert.on_conflict_do_nothing())
_NOTE = inserting(posts, lambda insert: insert.on_conflict_do_nothing())
_UNFINISHED = (
    select(inbox, deliveries.c.text, deliveries.c.turn, deliveries.c.attempts, deliveries.c.created_at)
    .join(
        deliveries,
        (deliveries.c.inbox_id == inbox.c.id) & (deliveries.c.state == delivery_rows.PENDING),
        isouter=True,
    )
    .where(inbox.c.state != ENDED)
    .order_by(func.coalesce(inbox.c.stands_at, inbox.c.id), inbox.c.id)
)
_IS_OWED = exists().where(deliveries.c.inbox_id == inbox.c.id, deliveries.c.state == delivery_rows.PENDING)
_UNANSWERED = inbox.c.state.in_([WAITING, BEGUN]) & ~_IS_OWED
_FATE = Prepared(
    select(inbox.c.state, deliveries.c.turn, deliveries.c.attempts)
    .join(deliveries, deliveries.c.inbox_id == inbox.c.id, isouter=True)
    .where(inbox.c.id == bindparam("id_"))
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A message that wants to be accepted."""

    message: IncomingMessage
    key: SessionKey
    address: str | None
    accepted_at: datetime
    stands_at: MessageId | None = None


def claim(connection: Connection, wanted: Claim) -> MessageId | None:
    """``None`` when either of the message's names is taken."""
    message = wanted.message
    row = {
        "event_id": f"{message.event_id}{message.part}",
        "place": _name(message.place, message.part),
        "session_key": wanted.key,
        "thread_key": message.thread_key,
        "payload": json_text(_MESSAGES, message),
        "address": wanted.address,
        "state": WAITING,
        "begins": 0,
        "accepted_at": wanted.accepted_at,
        "stands_at": wanted.stands_at,
    }
    claimed = _CLAIM.inserted(connection, row)
    return None if claimed is None else MessageId(claimed)


def withdraw(connection: Connection, place: Place, parts: Collection[str], now: datetime) -> Sequence[Waiting]:
    """End those parts of the message whose answer is not made."""
    names = [_name(place, part) for part in parts]
    found = select(inbox.c.id, inbox.c.session_key).where(inbox.c.place.in_(names), _UNANSWERED)
    gone = [Waiting(MessageId(row.id), SessionKey(row.session_key)) for row in connection.execute(found).all()]
    for each in gone:
        end(connection, each.id, "withdrawn", now)
    return gone


def reword(connection: Connection, place: Place, text: str) -> Waiting | None:
    """``None`` for a message whose answer is made, that is a command, or whose row makes no sense."""
    found = select(inbox.c.id, inbox.c.session_key, inbox.c.payload)
    row = connection.execute(found.where(inbox.c.place == _name(place), _UNANSWERED)).one_or_none()
    if row is None:
        return None
    try:
        message = _MESSAGES.validate_json(row.payload)
    except ValidationError:
        return None
    payload = json_text(_MESSAGES, replace(message, text=text))
    connection.execute(update(inbox).where(inbox.c.id == row.id).values(payload=payload))
    return Waiting(MessageId(row.id), SessionKey(row.session_key))


def begin(connection: Connection, message_id: MessageId, now: datetime, state: str = BEGUN) -> int:
    """How often it was begun, this time included."""
    (begun,) = _BEGIN.rows(connection, {"id_": message_id, "to": state, "now": now})
    return int(begun[0])


def end(connection: Connection, message_id: MessageId, outcome: str, now: datetime) -> None:
    """What was said is not kept here any longer."""
    _END.rows(connection, {"id_": message_id, "how": outcome, "now": now})
    delivery_rows.pay(connection, message_id, now)


def unkept(connection: Connection, message_id: MessageId, record: TurnRecord | None) -> TurnRecord | None:
    """What is still to be kept of the message's turn: ``record``, or what was promised with its answer.

    ``None`` once its end, or a delivery that failed, has kept it.
    """
    fate = _FATE.rows(connection, {"id_": message_id})
    if not fate or any(state == ENDED or attempts for state, _, attempts in fate):
        return None
    return record or delivery_rows.record_in(next((turn for _, turn, _ in fate if turn is not None), None))


def note_post(connection: Connection, message_id: MessageId, position: str) -> None:
    _NOTE.rows(connection, {"inbox_id": message_id, "position": position})


def foreign_posts(connection: Connection, accepted: Accepted) -> frozenset[str]:
    of_thread = select(posts.c.position).join(inbox, inbox.c.id == posts.c.inbox_id)
    others = of_thread.where(inbox.c.thread_key == accepted.message.thread_key, inbox.c.id != accepted.id)
    return frozenset(connection.execute(others).scalars())


def unfinished(connection: Connection, now: datetime) -> tuple[Sequence[Unfinished], Sequence[int]]:
    """In the order of their places in line; and the rows that make no sense.

    A message that does not ends here; of a turn that does not, the answer is still owed.
    """
    found: list[Unfinished] = []
    unreadable: list[int] = []
    for row in connection.execute(_UNFINISHED).all():
        try:
            found.append(_unfinished(row))
            promise = found[-1].promise
            if promise is not None and promise.record is None and row.turn is not None:
                unreadable.append(row.id)
        except ValidationError:
            unreadable.append(row.id)
            end(connection, MessageId(row.id), "unreadable", now)
    return found, unreadable


def prune(connection: Connection, now: datetime) -> int:
    """Forget the names of what ended long ago; how many."""
    return connection.execute(delete(inbox).where(inbox.c.state == ENDED, inbox.c.ended_at < now - KEPT)).rowcount


def _name(place: Place, part: str = "") -> str:
    return f"{place.workspace_id}|{place.channel_id}|{place.position}{part}"


def _unfinished(row: Row[Any]) -> Unfinished:
    message = _MESSAGES.validate_json(row.payload)
    accepted = Accepted(MessageId(row.id), message, SessionKey(row.session_key), row.accepted_at, row.address)
    promise = None
    if row.text is not None:
        promise = Promise(row.text, delivery_rows.record_in(row.turn), row.attempts, row.created_at)
    return Unfinished(accepted, row.begins, row.state == COMMAND, promise)
