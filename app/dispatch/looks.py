"""Looks at finished turns that are under way: waited for, or brought to nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from memory.turn import FinishedTurn


class LookWithdrawnError(Exception):
    """Nobody is to learn from the turn any more."""


@dataclass(eq=False, slots=True)
class Look:
    """At one turn, under way or waiting for its model."""

    turn: FinishedTurn
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    is_withdrawn: bool = False
    is_writing: bool = False

    def goes_on(self, *, to_write: bool = False) -> None:
        """Raises ``LookWithdrawnError``. Once it writes it is not withdrawn any more, but waited for."""
        if self.is_withdrawn:
            raise LookWithdrawnError
        self.is_writing = self.is_writing or to_write


class Looks:
    """Those of this process."""

    def __init__(self) -> None:
        self._looks: set[Look] = set()

    def begin(self, turn: FinishedTurn) -> Look:
        look = Look(turn)
        self._looks.add(look)
        return look

    def end(self, look: Look) -> None:
        self._looks.discard(look)
        look.is_over.set()

    async def over(self, is_meant: Callable[[FinishedTurn], bool]) -> None:
        """Wait for those that are under way."""
        await asyncio.gather(*(look.is_over.wait() for look in self._meant(is_meant)))

    async def withdraw(self, is_meant: Callable[[FinishedTurn], bool]) -> None:
        """None of these writes anything once this returns. A model is not waited for, only what writes already."""
        meant = self._meant(is_meant)
        for look in meant:
            look.is_withdrawn = not look.is_writing
        await asyncio.gather(*(look.is_over.wait() for look in meant if look.is_writing))

    def _meant(self, is_meant: Callable[[FinishedTurn], bool]) -> list[Look]:
        return [look for look in self._looks if is_meant(look.turn)]
