"""How often a source that changes is copied into a backup."""

from collections import Counter

import pytest

from app.moving import ROUNDS, Moved, repeated
from memory.comparison import Compared, Outcome
from memory.moving import Copied
from memory.verification import Verified

CHANGED = Compared(Counter({Outcome.DIFFERENT: 1}))
WHOLE, MOVED, FAILED = Verified(), Verified(compared=CHANGED, moved=CHANGED), Verified(compared=CHANGED)


@pytest.mark.parametrize(
    ("found", "rounds"),
    [([WHOLE], 1), ([MOVED, WHOLE], 2), ([MOVED] * 9, ROUNDS), ([FAILED], 1), ([MOVED, FAILED], 2)],
)
async def test_only_a_source_that_changed_is_copied_again(found: list[Verified], rounds: int) -> None:
    made: list[Verified] = []

    async def moving() -> Moved:
        made.append(found[len(made)])
        return Copied(), made[-1]

    _, last = await repeated(moving)
    assert (len(made), last) == (rounds, found[rounds - 1])
