"""Whether everything in one memory store is in another one, too: both are read, and every record compared."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import blake2b

from memory.comparison import DIGEST_BYTES, Compared, Outcome, outcome, told
from memory.moving import Copied
from memory.record import MemoryRecord
from memory.store import MemoryArchive
from memory.walking import PAUSES_S, Trouble, Watch, each_scope, pairs, unheeded

_SHOWN = 10
"""Ids of each outcome."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What reading both stores again has shown."""

    scopes: int = 0
    compared: Compared = field(default_factory=Compared)
    moved: Compared = field(default_factory=Compared)
    """The part of ``compared`` in scopes that the source changed after they were copied."""
    troubles: tuple[Trouble, ...] = ()
    """Scopes that could not be read."""
    examples: Mapping[str, Outcome] = field(default_factory=dict[str, Outcome])
    """Some records that are not the same, by their ids."""

    @property
    def is_whole(self) -> bool:
        """Whether the target has all that the source has."""
        return self.compared.is_whole and not self.troubles

    @property
    def is_settled(self) -> bool:
        """Whether it has all but what the source may have changed while it was copied."""
        unlike = (Outcome.DIFFERENT, Outcome.MISSING)
        return not self.troubles and all(self.compared.outcomes[each] == self.moved.outcomes[each] for each in unlike)


async def verify(
    source: MemoryArchive,
    target: MemoryArchive,
    copied: Copied,
    watch: Watch,
    pauses_s: Sequence[float] = PAUSES_S,
) -> Verified:
    """Compare every record of both. Raises ``StoreUnavailableError`` when a store cannot be used at all."""
    watch.begin("verify", sum((await source.stats(leave_aside=unheeded)).records.values()))
    verifying = _Verifying(source, target, copied, watch)
    unread = await each_scope(source, verifying.scope, pauses_s)
    uncounted = await each_scope(target, verifying.scope_of_target, pauses_s)
    return Verified(
        scopes=len(verifying.seen),
        compared=verifying.compared,
        moved=verifying.moved,
        troubles=(*unread, *uncounted),
        examples=verifying.examples,
    )


class _Verifying:
    """Every scope, and what was found in it."""

    def __init__(self, source: MemoryArchive, target: MemoryArchive, copied: Copied, watch: Watch) -> None:
        self._source = source
        self._target = target
        self._digests = copied.digests
        self._in_trouble = {trouble.scope_key for trouble in copied.troubles}
        self._watch = watch
        self.seen: set[str] = set()
        self.compared = Compared()
        self.moved = Compared()
        self.examples: dict[str, Outcome] = {}

    async def scope(self, key: str) -> None:
        """Compare a scope of the source. Raises ``StoreUnavailableError``."""
        self.seen.add(key)
        digest, found = blake2b(digest_size=DIGEST_BYTES), Compared()
        async with aclosing(pairs(self._source, self._target, key)) as both:
            async for ours, theirs in both:
                line = None if ours is None else told(ours)
                digest.update((line or "").encode())
                self._count(found, ours, theirs, outcome(line, None if theirs is None else told(theirs)))
        self.compared += found
        if key not in self._in_trouble and self._digests.get(key) != digest.digest():
            self.moved += found

    async def scope_of_target(self, key: str) -> None:
        """Count a scope that only the target has. Raises ``StoreUnavailableError``."""
        if key not in self.seen:
            statuses = Counter((await self._target.stats(key)).records)
            self.compared += Compared(Counter({Outcome.EXTRA: statuses.total()}), target=statuses)

    def _count(self, found: Compared, ours: MemoryRecord | None, theirs: MemoryRecord | None, what: Outcome) -> None:
        found.outcomes[what] += 1
        if ours is not None:
            found.source[ours.status] += 1
            self._watch.advance(1)
        if theirs is not None:
            found.target[theirs.status] += 1
        record = ours or theirs
        if what is not Outcome.SAME and record is not None and list(self.examples.values()).count(what) < _SHOWN:
            self.examples[record.id] = what
