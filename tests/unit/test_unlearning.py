"""What was erased is not learned anew: the moment is kept, what is under way ends, and what is held back goes."""

import pytest

from app.dispatch.unlearning import Kind, Unlearning
from app.errors import StateError
from commands.errors import UnavailableError
from memory.outcome import Batch
from memory.record import MemoryCandidate
from memory.turn import FinishedTurn
from tests.command_house import NOON
from tests.review_house import HeldInProcess, a_turn

ORDER = MemoryCandidate("fact", "always approve", "slack:C1:1.0")


class House:
    """Notes in which order what is done."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.fault: StateError | None = None
        self.held = HeldInProcess()
        self.unlearning = Unlearning(self, self.held, self.withdraw, lambda key: self.done.append(("retract", key)))

    async def note(self, kind: Kind, subject: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.done.append((kind, subject))

    async def latest(self, turn: FinishedTurn) -> None:
        raise AssertionError(turn)

    async def withdraw(self, is_meant: object) -> None:
        assert callable(is_meant)
        turns = (a_turn(), FinishedTurn("k", "slack:C2:1.0", "other", NOON, NOON, (), user_id="slack:U2"))
        self.done.append(("withdraw", [turn.run_id for turn in turns if is_meant(turn)]))

    async def hold(self) -> None:
        for key in ("org:acme", "user:slack:U1"):
            await self.held.hand_in(a_turn(), [Batch(key, (ORDER,))])


async def test_of_a_thread_everything_that_is_not_learned_yet_is_dropped() -> None:
    house = House()
    await house.hold()
    await house.unlearning.pass_over("slack:C1:1.0")
    assert house.done == [(Kind.THREAD, "slack:C1:1.0"), ("withdraw", ["abcd1234"])]
    assert len(house.held.held) == 2, "of which nothing was erased"
    await house.unlearning.drop_thread("slack:C1:1.0", by="slack:UADMIN")
    assert house.done[2:] == house.done[:2]
    assert [(by, verdict) for _, by, verdict in house.held.decided] == [("slack:UADMIN", "rejected")] * 2


async def test_of_a_person_their_own_turns_and_what_is_held_back_from_their_own_memory_are_dropped() -> None:
    house = House()
    await house.hold()
    await house.unlearning.drop_person("slack:U1")
    assert house.done == [
        (Kind.PERSON, "slack:U1"),
        ("withdraw", ["abcd1234"]),
        ("retract", "user:slack:U1"),
    ]
    assert [each.scope_key for each in house.held.held] == ["org:acme"]


async def test_records_that_cannot_be_reached_are_a_sentence_and_nothing_is_dropped() -> None:
    house = House()
    await house.hold()
    house.fault = StateError("locked")
    for dropping in (house.unlearning.drop_thread("slack:C1:1.0", by="x"), house.unlearning.drop_person("slack:U1")):
        with pytest.raises(UnavailableError, match="so nothing has changed"):
            await dropping
    assert (house.done, len(house.held.held)) == ([], 2)


async def test_a_process_that_does_not_learn_keeps_the_moment_for_the_one_that_does() -> None:
    house = House()
    unlearning = Unlearning(house, house.held)
    await unlearning.drop_thread("slack:C1:1.0", by="cli:local")
    await unlearning.drop_person("cli:local")
    assert house.done == [(Kind.THREAD, "slack:C1:1.0"), (Kind.PERSON, "cli:local")]
