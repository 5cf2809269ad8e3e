"""Until when nothing is learned any more, over the state database."""

from datetime import datetime

from app.clock import Clock
from app.dispatch.unlearning import Kind
from app.state import erasure_rows
from app.state.engine import Database
from memory.turn import FinishedTurn


class StateErasures:
    """Implements ``app.dispatch.unlearning.Erasures`` over the table ``erasures``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def note(self, kind: Kind, subject: str) -> None:
        now = self._clock.now()
        await self._database.write(lambda connection: erasure_rows.note(connection, kind, subject, now))

    async def latest(self, turn: FinishedTurn) -> datetime | None:
        return await self._database.read(lambda connection: erasure_rows.latest(connection, turn))
