"""What people set, kept in the state database, one row for each slot; a cleared one stays and counts on."""

from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, bindparam, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.state.engine import Database
from app.state.errors import StateError
from app.state.prepared import Prepared
from app.state.tables import overrides
from commands.errors import ConflictError, UnavailableError
from commands.preferences import Layer, Name, Setting, Slot, Subjects

FRESH = timedelta(seconds=2)
REMEMBERED = 2_000
_CHANGED = "this was changed meanwhile; look at it with `config show`, then say it again"
_UNREACHABLE = "settings could not be reached; try again in a moment"


class StatePreferences:
    """Implements ``commands.ports.Preferences`` over the table ``overrides``."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._read: OrderedDict[tuple[tuple[Layer, str], ...], tuple[datetime, Sequence[Setting]]] = OrderedDict()
        self._changes = 0

    async def get(self, subjects: Subjects) -> Sequence[Setting]:
        """Asked at every turn, and changed hardly ever: what another process changes shows after ``FRESH``."""
        name, now = tuple(subjects.items()), self._now()
        known = self._read.get(name)
        if known is not None and timedelta() <= now - known[0] < FRESH:
            return known[1]
        changes = self._changes
        with _reaching():
            found = await self._database.read(lambda connection: _settings(connection, subjects))
        if changes != self._changes:
            return found  # read before the change or after it: nobody can tell, so nobody is told it again
        self._read[name] = (now, found)
        while len(self._read) > REMEMBERED:
            self._read.popitem(last=False)
        return found

    async def set(self, slot: Slot, value: str, *, expected_version: int, by: str) -> Setting:
        return await self._put(slot, value, expected_version, by)

    async def clear(self, slot: Slot, *, expected_version: int, by: str) -> Setting:
        return await self._put(slot, None, expected_version, by)

    async def _put(self, slot: Slot, value: str | None, expected_version: int, by: str) -> Setting:
        content = {
            "value": value,
            "version": expected_version + 1,
            "updated_by": by,
            "updated_at": self._now(),
        }
        try:
            with _reaching():
                is_done = await self._database.write(
                    lambda connection: _put(connection, slot, expected_version, content)
                )
        finally:
            self._changes += 1
            self._read.clear()
        if not is_done:
            raise ConflictError(_CHANGED)
        return Setting(slot, value, expected_version + 1)


@contextmanager
def _reaching() -> Generator[None]:
    try:
        yield
    except StateError as fault:
        raise UnavailableError(_UNREACHABLE) from fault


def _settings(connection: Connection, subjects: Subjects) -> list[Setting]:
    """Names that this version does not know are passed over: a newer one may have written them."""
    if not subjects:
        return []
    whose = {layer.value: subject for layer, subject in subjects.items()}
    rows = _query(tuple(subjects)).rows(connection, whose)
    return [
        Setting(Slot(Layer(layer), subject, Name(name)), value, version)
        for layer, subject, name, value, version in rows
    ]


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


def _put(connection: Connection, slot: Slot, expected_version: int, content: dict[str, Any]) -> bool:
    """One statement decides and writes, so that two processes cannot both be the first."""
    key = {"layer": slot.layer.value, "subject": slot.subject, "name": slot.name.value}
    if expected_version == 0:
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        inserted = dialect.insert(overrides).values(key | content).on_conflict_do_nothing()
        return connection.scalar(inserted.returning(overrides.c.version)) is not None
    columns = overrides.c
    is_it = and_(*(columns[name] == value for name, value in key.items()), columns.version == expected_version)
    return connection.scalar(update(overrides).where(is_it).values(content).returning(columns.version)) is not None
