"""What people set, kept in the state database, and at hand for a moment."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from app.reaching import reaching_records
from app.state import override_rows
from app.state.engine import Database
from commands.errors import ConflictError
from commands.preferences import Layer, Setting, Slot, Subjects

FRESH = timedelta(seconds=2)
REMEMBERED = 2_000
_CHANGED = "this was changed meanwhile; look at it with `config show`, then say it again"
_UNREACHABLE = "settings could not be reached; try again in a moment"

_Subject = tuple[Layer, str]


class StatePreferences:
    """Implements ``commands.ports.Preferences`` over the table ``overrides``."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now
        self._whose: tuple[datetime, frozenset[_Subject]] | None = None
        self._read: OrderedDict[tuple[_Subject, ...], tuple[datetime, Sequence[Setting]]] = OrderedDict()
        self._changes = 0

    async def get(self, subjects: Subjects) -> Sequence[Setting]:
        """Asked at every turn, and changed hardly ever: what another process changes shows after ``FRESH``.

        Hardly anybody has settings, so that most turns need not look for any: who has them is known.
        """
        with reaching_records(_UNREACHABLE):
            whose = await self._subjects()
            return await self._settings({layer: each for layer, each in subjects.items() if (layer, each) in whose})

    async def _subjects(self) -> frozenset[_Subject]:
        now, changes = self._now(), self._changes
        if self._whose is not None and _is_fresh(self._whose[0], now):
            return self._whose[1]
        found = await self._database.read(override_rows.subjects)
        if changes == self._changes:
            self._whose = (now, found)
        return found

    async def _settings(self, subjects: Subjects) -> Sequence[Setting]:
        if not subjects:
            return []
        name, now, changes = tuple(subjects.items()), self._now(), self._changes
        known = self._read.get(name)
        if known is not None and _is_fresh(known[0], now):
            return known[1]
        found = await self._database.read(lambda connection: override_rows.settings(connection, subjects))
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

    def forget(self) -> None:
        self._changes += 1
        self._whose = None
        self._read.clear()

    async def _put(self, slot: Slot, value: str | None, expected_version: int, by: str) -> Setting:
        content = {
            "value": value,
            "version": expected_version + 1,
            "updated_by": by,
            "updated_at": self._now(),
        }
        try:
            with reaching_records(_UNREACHABLE):
                is_done = await self._database.write(
                    lambda connection: override_rows.put(connection, slot, expected_version, content)
                )
        finally:
            self.forget()
        if not is_done:
            raise ConflictError(_CHANGED)
        return Setting(slot, value, expected_version + 1)


def _is_fresh(read_at: datetime, now: datetime) -> bool:
    return timedelta() <= now - read_at < FRESH
