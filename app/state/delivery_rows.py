"""Rows of answers that are owed. Every function works within the caller's transaction."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, update

from app.dispatch.journal import MessageId, TurnRecord
from app.sessions.entry import SessionKey
from app.state.json_text import json_text
from app.state.prepared import Prepared, inserting
from app.state.tables import deliveries
from memory.text import storable

PENDING, DELIVERED = "pending", "delivered"

_RECORDS = TypeAdapter(TurnRecord)
_OWE = inserting(deliveries, lambda insert: insert.on_conflict_do_nothing(index_elements=["id"]))
_OWED = update(deliveries).where(deliveries.c.inbox_id == bindparam("message_id"), deliveries.c.state == PENDING)
_PAY = _OWED.values(state=DELIVERED, text="", turn=None, updated_at=bindparam("now"))
_PAID = Prepared(_PAY)
_REPLACED = Prepared(_PAY.where(deliveries.c.id != bindparam("id_")))
_TRIED = _OWED.values(attempts=deliveries.c.attempts + 1, turn=None, updated_at=bindparam("now")).returning(
    deliveries.c.attempts
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An answer, and the turn that is kept once it is delivered."""

    id: str
    message_id: MessageId
    session_key: SessionKey
    text: str
    record: TurnRecord | None


def owe(connection: Connection, delivery: Delivery, now: datetime) -> None:
    """Once for each answer: owing it again changes nothing. A new answer takes the place of one that is owed."""
    row = {
        "id": delivery.id,
        "inbox_id": delivery.message_id,
        "session_key": delivery.session_key,
        "text": storable(delivery.text),
        "turn": None if delivery.record is None else json_text(_RECORDS, delivery.record),
        "state": PENDING,
        "attempts": 0,
        "created_at": now,
        "updated_at": now,
    }
    if _OWE.changed(connection, row):
        _REPLACED.rows(connection, {"message_id": delivery.message_id, "id_": delivery.id, "now": now})


def pay(connection: Connection, message_id: MessageId, now: datetime) -> None:
    """What was owed for the message is delivered; its text is not kept here any longer."""
    _PAID.rows(connection, {"message_id": message_id, "now": now})


def tried(connection: Connection, message_id: MessageId, now: datetime) -> int:
    """A delivery failed, and its turn has been kept; how often it was tried."""
    return int(connection.execute(_TRIED, {"message_id": message_id, "now": now}).scalar() or 0)


def record_in(turn: str | None) -> TurnRecord | None:
    """``None`` also for what makes no sense (any more): the answer is delivered, though its turn cannot be kept."""
    try:
        return None if turn is None else _RECORDS.validate_json(turn)
    except ValidationError:
        return None
