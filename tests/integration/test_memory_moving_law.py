"""A law of moving house: after a copy the target is the source, whatever happened before."""

import asyncio
from dataclasses import replace
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.moving import copy
from memory.store import Query
from memory.stores.inprocess import InProcessStore
from memory.verification import verify
from tests.memory_records import ORG, RANKERS, USER, StoppedClock, fact
from tests.moving_house import Watched, everything

Verb = Literal["write", "correct", "forget", "sweep", "search"]
Change = tuple[Verb, str, int, str]
"""What happens, in which scope, to which record, with which words."""

changes = st.tuples(
    st.sampled_from(("write", "write", "correct", "forget", "sweep", "search")),
    st.sampled_from((ORG, USER)),
    st.integers(0, 6),
    st.sampled_from(("one", "two", "three", "four", "The PR is merged")),
)


async def happen(store: InProcessStore, change: Change) -> None:
    verb, key, number, words = change
    match verb:
        case "write":
            await store.write(key, [fact(words)], cap=1 + number)
        case "correct":
            await store.write(key, [replace(fact(words), supersedes=f"mem:{key}:{number}")])
        case "forget":
            await store.forget(key, f"mem:{key}:{number}")
        case "sweep":
            await store.sweep(key)
        case "search":
            await store.retrieve(key, Query(words, 2))


@given(st.lists(st.lists(changes, max_size=12), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_after_a_copy_the_target_is_the_source_whatever_happened_before_it(histories: list[list[Change]]) -> None:
    """Each history is followed by a copy; nothing of the source is erased, or the target had more."""

    async def live_through() -> None:
        clock = StoppedClock()
        ours = InProcessStore(ranker=RANKERS["keyword"], now=clock.now)
        theirs = InProcessStore(ranker=RANKERS["relevance"], now=clock.now, cap=1)
        for history in histories:
            for change in history:
                await happen(ours, change)
                clock.pass_by()
            copied = await copy(ours, theirs, Watched())
            verified = await verify(ours, theirs, copied, Watched())
            assert (copied.troubles, verified.is_whole) == ((), True)
            assert await everything(theirs) == await everything(ours)
            assert await theirs.stats() == await ours.stats()

    asyncio.run(live_through())
