"""What the tests of reviews share: one that keeps what is held back in a list, and a turn to hand it in from."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from commands.errors import UnavailableError
from commands.reviews import HeldFact, Verdict, held_id
from memory.outcome import Batch
from memory.turn import FinishedTurn
from tests.command_house import NOON


def a_turn(run_id: str = "abcd1234") -> FinishedTurn:
    return FinishedTurn("agent:main:slack:channel:C1:1.0", "slack:C1:1.0", run_id, NOON, NOON, (), user_id="slack:U1")


@dataclass(slots=True)
class HeldInProcess:
    """Implements ``memory.reflector.Review`` and ``commands.ports.Reviews`` over a list, oldest first."""

    most: int = 500
    held: list[HeldFact] = field(default_factory=list[HeldFact])
    decided: list[tuple[str, str, Verdict]] = field(default_factory=list[tuple[str, str, Verdict]])
    is_down: bool = False
    handed_in: int = 0

    async def hand_in(self, turn: FinishedTurn, batches: Sequence[Batch]) -> None:
        for batch in batches:
            for candidate in batch.candidates:
                self.handed_in += 1
                self.held.append(HeldFact(held_id(batch.scope_key, self.handed_in), batch.scope_key, candidate, NOON))
            for surplus in [each for each in self.held if each.scope_key == batch.scope_key][: -self.most]:
                self.held.remove(surplus)

    async def scopes(self) -> Sequence[str]:
        self._reach()
        return list(dict.fromkeys(each.scope_key for each in self.held))

    async def waiting(self, scopes: Sequence[str], limit: int) -> Sequence[HeldFact]:
        self._reach()
        return [each for each in reversed(self.held) if each.scope_key in scopes][:limit]

    async def take(self, review_id: str, *, by: str, verdict: Verdict) -> HeldFact | None:
        self._reach()
        found = next((each for each in self.held if each.id == review_id), None)
        if found is not None:
            self.held.remove(found)
            self.decided.append((found.id, by, verdict))
        return found

    async def reject_thread(self, thread_key: str, *, by: str) -> None:
        await self._reject([each for each in self.held if each.candidate.source_thread_key == thread_key], by)

    async def reject_scope(self, scope_key: str, *, by: str) -> None:
        await self._reject([each for each in self.held if each.scope_key == scope_key], by)

    async def _reject(self, facts: Sequence[HeldFact], by: str) -> None:
        self._reach()
        for each in facts:
            await self.take(each.id, by=by, verdict="rejected")

    async def give_back(self, fact: HeldFact) -> None:
        self._reach()
        self.held = sorted([*self.held, fact], key=lambda each: int(each.id.rpartition(":")[2]))
        self.decided = [each for each in self.decided if each[0] != fact.id]

    def _reach(self) -> None:
        if self.is_down:
            raise UnavailableError("what waits could not be reached")
