"""How messages ended that could not be written down: kept in memory, and written again until it is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from app.channel import Place
from app.dispatch.journal import Accepted
from app.dispatch.redelivery import Redelivery
from app.errors import StateError
from app.sessions.entry import SessionKey

END_UNWRITTEN = "end_unwritten"
END_WRITTEN_LATE = "end_written_late"

AGAIN_S = 30.0
"""A database that is locked or full for a moment is asked again soon, one that is gone is not asked all the time."""

Write = Callable[[], Awaitable[object]]
"""Raises ``StateError``'s tree; doing it again adds nothing to what is there."""

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, eq=False, slots=True)
class _Owed:
    accepted: Accepted
    write: Write


class Unwritten:
    """What the journal does not have of the ends of messages, in the order in which they came about.

    It is written before its conversation goes on, by whoever loads it; else after a while; at last when the process
    ends in order. A process that is killed before takes along what was not even promised; of what was promised the
    next one finds the promise.
    """

    def __init__(self, redelivery: Redelivery) -> None:
        self._redelivery = redelivery
        self._owed: list[_Owed] = []
        self._writing = asyncio.Lock()
        self._is_due = False

    def __len__(self) -> int:
        return len(self._owed)

    def add(self, accepted: Accepted, fault: BaseException, write: Write) -> None:
        """Call ``write`` later; ``fault``: why nobody knows whether it is written already."""
        _tell(accepted, fault)
        self._owed.append(_Owed(accepted, write))
        self._come_back()

    def of(self, accepted: Accepted) -> Write | None:
        """What writes all that is missing of the message's end; ``None`` when nothing is."""
        return (lambda: self._write(self._all_of(accepted))) if self._all_of(accepted) else None

    def has(self, place: Place) -> bool:
        """Whether the message at ``place`` has ended, which is not written down."""
        return any(owed.accepted.message.place == place for owed in self._owed)

    async def write(self) -> int:
        """Write what can be written; how much is left. Nothing goes before what its conversation had earlier."""
        stuck: set[SessionKey] = set()
        for owed in list(self._owed):
            if owed.accepted.session_key in stuck:
                continue
            try:
                await self._write([owed])
            except StateError as fault:
                stuck.add(owed.accepted.session_key)
                _tell(owed.accepted, fault)
        return len(self._owed)

    def _all_of(self, accepted: Accepted) -> list[_Owed]:
        return [owed for owed in self._owed if owed.accepted.id == accepted.id]

    async def _write(self, wanted: list[_Owed]) -> None:
        for owed in wanted:
            async with self._writing:
                # Whoever else was about to may have been faster.
                if owed in self._owed:
                    await owed.write()
                    self._owed.remove(owed)
                    _log.info(END_WRITTEN_LATE, reference=owed.accepted.message.reference)

    def _come_back(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._redelivery.after(AGAIN_S, self._again)

    async def _again(self) -> None:
        self._is_due = False
        if await self.write():
            self._come_back()


def _tell(accepted: Accepted, fault: BaseException) -> None:
    reference = accepted.message.reference
    _log.error(END_UNWRITTEN, reference=reference, error=type(fault).__name__, reason=str(fault))
