"""What people set, kept in the state database, and at hand for a moment."""

from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from app.state import override_rows
from app.state.engine import Database
from app.state.errors import StateError
from commands.errors import ConflictError, UnavailableError
from commands.preferences import Layer, Setting, Slot, Subjects

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
        self._read.clear()

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
                    lambda connection: override_rows.put(connection, slot, expected_version, content)
                )
        finally:
            self.forget()
        if not is_done:
            raise ConflictError(_CHANGED)
        return Setting(slot, value, expected_version + 1)


@contextmanager
def _reaching() -> Generator[None]:
    try:
        yield
    except StateError as fault:
        raise UnavailableError(_UNREACHABLE) from fault
