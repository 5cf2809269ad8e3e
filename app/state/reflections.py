"""What is still to be learned, over the state database."""

from collections.abc import Sequence
from datetime import datetime

from app.clock import Clock
from app.dispatch.reflecting import Pending, ReflectionId
from app.state import reflection_rows
from app.state.engine import Database
from memory.outcome import Batch
from memory.turn import FinishedTurn


class StateReflections:
    """Implements ``app.dispatch.reflecting.PendingReflections``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def take(self, limit: int) -> Sequence[Pending]:
        now = self._clock.now()
        return await self._database.write(lambda connection: reflection_rows.take(connection, now, limit))

    async def keep(self, pending: Pending) -> None:
        await self._database.write(lambda connection: reflection_rows.keep(connection, pending))

    async def done(self, reflection_id: ReflectionId) -> None:
        await self._database.write(lambda connection: reflection_rows.remove(connection, reflection_id))

    async def again(
        self, reflection_id: ReflectionId, turn: FinishedTurn, unwritten: Sequence[Batch], not_before_at: datetime
    ) -> None:
        await self._database.write(
            lambda connection: reflection_rows.again(connection, reflection_id, turn, unwritten, not_before_at)
        )

    async def interrupted(self) -> Sequence[Pending]:
        return await self._database.write(reflection_rows.interrupted)
