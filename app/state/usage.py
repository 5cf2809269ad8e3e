"""The usage port over the state database."""

from collections.abc import Sequence

from app.sessions.usage import By, Run, Share, Spent, Which
from app.state import run_rows
from app.state.engine import Database


class StateUsage:
    """Implements ``Usage``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, run: Run) -> None:
        await self._database.write(lambda connection: run_rows.insert(connection, run))

    async def total(self, which: Which) -> Spent:
        return await self._database.read(lambda connection: run_rows.total(connection, which))

    async def shares(self, by: By, which: Which, *, limit: int = 100) -> Sequence[Share]:
        return await self._database.read(lambda connection: run_rows.shares(connection, by, which, limit))
