"""Rows of ``overrides``: one for each slot; a cleared one stays and counts on. Within the caller's transaction."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.state.prepared import Prepared
from app.state.tables import overrides
from commands.preferences import Clearing, Layer, Name, Setting, Slot, Subjects

_SUBJECTS = Prepared(select(overrides.c.layer, overrides.c.subject).distinct())


def settings(connection: Connection, subjects: Subjects) -> list[Setting]:
    """Names that this version does not know are passed over: a newer one may have written them."""
    if not subjects:
        return []
    whose = {layer.value: subject for layer, subject in subjects.items()}
    rows = _query(tuple(subjects)).rows(connection, whose)
    return [
        Setting(Slot(Layer(layer), subject, Name(name)), value, version)
        for layer, subject, name, value, version in rows
    ]


def subjects(connection: Connection) -> frozenset[tuple[Layer, str]]:
    """Who has settings; layers that this version does not know are passed over."""
    known = {layer.value: layer for layer in Layer}
    rows = _SUBJECTS.rows(connection, {})
    return frozenset((known[layer], subject) for layer, subject in rows if layer in known)


def put(connection: Connection, slot: Slot, expected_version: int, content: dict[str, Any]) -> bool:
    """One statement decides and writes, so that two processes cannot both be the first."""
    if expected_version == 0:
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        inserted = dialect.insert(overrides).values(_key(slot) | content).on_conflict_do_nothing()
        return connection.scalar(inserted.returning(overrides.c.version)) is not None
    is_it = and_(*_is(slot), overrides.c.version == expected_version)
    return connection.scalar(update(overrides).where(is_it).values(content).returning(overrides.c.version)) is not None


def clear(connection: Connection, clearing: Clearing, now: datetime) -> tuple[Name, ...]:
    """What has no value stays at its version; which had one."""
    columns = overrides.c
    cleared = {"value": None, "version": columns.version + 1, "updated_by": clearing.by, "updated_at": now}
    those = [
        update(overrides).where(*_is(slot), columns.value.is_not(None)).values(cleared).returning(columns.name)
        for slot in clearing.slots
    ]
    return tuple(Name(name) for each in those for name in connection.execute(each).scalars())


@cache
def _query(layers: tuple[Layer, ...]) -> Prepared:
    """Takes the subject of each layer by the layer's name. Every turn asks it, so it is made once."""
    columns = overrides.c
    pairs = [and_(columns.layer == layer.value, columns.subject == bindparam(layer.value)) for layer in layers]
    names = or_(*(columns.name == name.value for name in Name))
    return Prepared(
        select(columns.layer, columns.subject, columns.name, columns.value, columns.version)
        .where(or_(*pairs), names)
        .order_by(columns.layer, columns.subject, columns.name)
    )


def _key(slot: Slot) -> dict[str, str]:
    return {"layer": slot.layer.value, "subject": slot.subject, "name": slot.name.value}


def _is(slot: Slot) -> list[ColumnElement[bool]]:
    return [overrides.c[name] == value for name, value in _key(slot).items()]
