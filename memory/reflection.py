"""The write path's port: what a finished turn may teach."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """A turn whose answer has been delivered."""

    thread_key: str
    request: str
    answer: str


class Reflection(Protocol):
    """Adapters: null."""

    def schedule(self, turn: FinishedTurn) -> None:
        """Look at the turn later, off its path. Returns at once and never raises."""
        ...


class NullReflection:
    """Learns nothing."""

    def schedule(self, turn: FinishedTurn) -> None:
        """Nothing to do while memory is off."""
