"""What looks like an instruction and waits for a person, over the state database."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement

from app.clock import Clock
from app.reaching import reaching_records
from app.state import review_rows
from app.state.engine import Database
from app.state.errors import StateError
from commands.reviews import HeldFact, Verdict
from memory.outcome import Batch
from memory.store import StoreUnavailableError
from memory.turn import FinishedTurn

MOST_WAITING = 500
"""Per scope; the oldest go, so that nobody fills the disk with orders."""
_UNREACHABLE = "what waits for review could not be reached; try again in a moment"


class StateReviews:
    """Implements ``memory.reflector.Review``, ``commands.ports.Reviews`` and ``app.dispatch.unlearning.Held``.

    Over the table ``reviews``.
    """

    def __init__(self, database: Database, clock: Clock, most: int = MOST_WAITING) -> None:
        self._database = database
        self._clock = clock
        self._most = most

    async def hand_in(self, turn: FinishedTurn, batches: Sequence[Batch]) -> None:
        now, most = self._clock.now(), self._most
        try:
            await self._database.write(lambda connection: review_rows.add(connection, turn, batches, now, most))
        except StateError as fault:
            raise StoreUnavailableError("what waits for review could not be kept") from fault

    async def scopes(self) -> Sequence[str]:
        with reaching_records(_UNREACHABLE):
            return await self._database.read(review_rows.scopes)

    async def waiting(self, scopes: Sequence[str], limit: int) -> Sequence[HeldFact]:
        with reaching_records(_UNREACHABLE):
            return await self._database.read(lambda connection: review_rows.waiting(connection, scopes, limit))

    async def take(self, review_id: str, *, by: str, verdict: Verdict) -> HeldFact | None:
        now = self._clock.now()
        with reaching_records(_UNREACHABLE):
            return await self._database.write(
                lambda connection: review_rows.take(connection, review_id, now, by, verdict)
            )

    async def reject_thread(self, thread_key: str, *, by: str) -> None:
        await self._reject(review_rows.in_thread(thread_key), by)

    async def reject_scope(self, scope_key: str, *, by: str) -> None:
        await self._reject(review_rows.in_scope(scope_key), by)

    async def give_back(self, fact: HeldFact) -> None:
        with reaching_records(_UNREACHABLE):
            await self._database.write(lambda connection: review_rows.give_back(connection, fact))

    async def _reject(self, waiting: ColumnElement[bool], by: str) -> None:
        now = self._clock.now()
        with reaching_records(_UNREACHABLE):
            await self._database.write(lambda connection: review_rows.reject_all(connection, waiting, now, by))
