"""Receipts of commands in the state database, the newest ``MOST_RECEIPTS`` of them."""

from collections.abc import Sequence

import structlog
from sqlalchemy import Connection, delete, func, insert, select

from app.state.engine import Database
from app.state.errors import StateError
from app.state.tables import receipts
from commands.ports import Receipt

RECEIPT_LOST = "receipt_lost"
MOST_RECEIPTS = 100_000

_log = structlog.stdlib.get_logger(__name__)


class StateReceipts:
    """Implements ``commands.ports.Receipts`` over the table ``receipts``."""

    def __init__(self, database: Database, most: int = MOST_RECEIPTS) -> None:
        self._database = database
        self._most = most

    async def keep(self, receipt: Receipt) -> None:
        """A receipt that cannot be kept is logged: its command has been carried out, and its caller gets an answer."""
        try:
            await self._database.write(lambda connection: _keep(connection, receipt, self._most))
        except StateError as fault:
            _log.error(
                RECEIPT_LOST, command=receipt.command_id, caller=receipt.caller_id, ok=receipt.is_ok, reason=str(fault)
            )

    async def latest(self, limit: int) -> Sequence[Receipt]:
        """Raises ``StateError``'s tree."""
        return await self._database.read(lambda connection: _latest(connection, limit))


def _keep(connection: Connection, receipt: Receipt, most: int) -> None:
    values = {
        "command_id": receipt.command_id,
        "caller_id": receipt.caller_id,
        "is_ok": receipt.is_ok,
        "summary": receipt.summary,
        "at": receipt.at,
    }
    connection.execute(insert(receipts).values(values))
    newest = select(func.max(receipts.c.id)).scalar_subquery()
    connection.execute(delete(receipts).where(receipts.c.id <= newest - most))


def _latest(connection: Connection, limit: int) -> list[Receipt]:
    columns = receipts.c
    query = select(columns.command_id, columns.caller_id, columns.is_ok, columns.summary, columns.at)
    rows = connection.execute(query.order_by(columns.id.desc()).limit(max(0, limit)))
    return [Receipt(row.command_id, row.caller_id, row.is_ok, row.summary, row.at) for row in rows]
