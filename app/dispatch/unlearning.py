"""What was erased or forgotten is not learned anew: what was said before that teaches nothing any more."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from app.reaching import reaching_records
from memory.scope import ScopeKind, scope_key
from memory.turn import FinishedTurn

_UNREACHABLE = "what is still to be learned could not be reached, so nothing has changed; try again in a moment"


class Kind(StrEnum):
    """Whose words they are."""

    THREAD = "thread"
    """Of one conversation, whoever said them."""
    PERSON = "person"
    """Of one person's turns, in whatever conversation."""


class Erasures(Protocol):
    """Keeps until when nothing is learned any more. Adapters: over the state database. Raises ``StateError``'s tree."""

    async def note(self, kind: Kind, subject: str) -> None:
        """What was said up to now."""
        ...

    async def latest(self, turn: FinishedTurn) -> datetime | None:
        """What was said by then teaches ``turn`` nothing; ``None`` where nothing was erased."""
        ...


class Held(Protocol):
    """What is held back until a person decides. Adapters: over the state database. Raises ``UnavailableError``."""

    async def reject_thread(self, thread_key: str, *, by: str) -> None: ...

    async def reject_scope(self, scope_key: str, *, by: str) -> None: ...


Withdraw = Callable[[Callable[[FinishedTurn], bool]], Awaitable[None]]
"""Ends looks under way at such turns; what they were writing is written when it returns."""
Retract = Callable[[str], None]
"""Takes the offers back that were made about records of a scope."""


async def nothing_under_way(_is_meant: Callable[[FinishedTurn], bool], /) -> None:
    """Of a process that does not learn."""


def nothing_offered(_scope_key: str, /) -> None:
    """Of a process that shows nobody what was learned."""


class Unlearning:
    """Implements ``commands.ports.Lessons``.

    The moment is kept first: whatever is looked at from then on leaves out what was said before it.
    """

    def __init__(
        self,
        erasures: Erasures,
        held: Held,
        withdraw: Withdraw = nothing_under_way,
        retract: Retract = nothing_offered,
    ) -> None:
        self._erasures = erasures
        self._held = held
        self._withdraw = withdraw
        self._retract = retract

    async def pass_over(self, thread_key: str) -> None:
        with reaching_records(_UNREACHABLE):
            await self._erasures.note(Kind.THREAD, thread_key)
        await self._withdraw(lambda turn: turn.thread_key == thread_key)

    async def drop_thread(self, thread_key: str, *, by: str) -> None:
        await self.pass_over(thread_key)
        await self._held.reject_thread(thread_key, by=by)

    async def drop_person(self, person_id: str) -> None:
        own = scope_key(ScopeKind.USER, person_id)
        with reaching_records(_UNREACHABLE):
            await self._erasures.note(Kind.PERSON, person_id)
        await self._withdraw(lambda turn: turn.user_id == person_id)
        await self._held.reject_scope(own, by=person_id)
        # A scope that was erased begins with the same numbers again.
        self._retract(own)
