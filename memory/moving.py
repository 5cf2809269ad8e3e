"""Moving house: everything in one memory store brought into another one.

A copy that was cut off goes on where it stood, and one that is made again heals what has changed since: only what
the target lacks, or has differently, is written. What only the target has is left alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import blake2b

from memory.comparison import DIGEST_BYTES, Batch, Outcome, outcome, told
from memory.record import MemoryRecord
from memory.store import MemoryArchive
from memory.walking import PAUSES_S, Trouble, Watch, each_scope, pairs, unheeded

_SHOWN = 5
"""Ids that a scope's trouble names."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did."""

    scopes: int = 0
    copied: int = 0
    """Records that were missing or different."""
    present: int = 0
    """Records that were there already."""
    troubles: tuple[Trouble, ...] = ()
    """Scopes that were not copied, or not whole."""
    digests: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """What was read of each scope that was read to its end."""


async def copy(
    source: MemoryArchive, target: MemoryArchive, watch: Watch, pauses_s: Sequence[float] = PAUSES_S
) -> Copied:
    """Raises ``StoreUnavailableError`` when a store cannot be used at all; what was copied by then stays.

    ``pauses_s``: before a scope that failed is tried again.
    """
    watch.begin("copy", sum((await source.stats(leave_aside=unheeded)).records.values()))
    copying = _Copying(source, target, watch)
    unusable = await each_scope(source, copying.scope, pauses_s)
    refusals = [trouble for each in copying.refusals.values() for trouble in each]
    copied = sum(copying.copied.values())
    return Copied(len(copying.copied), copied, copying.present(), (*unusable, *refusals), copying.digests)


class _Copying:
    """Every scope, and what came of it; a scope may be tried more than once."""

    def __init__(self, source: MemoryArchive, target: MemoryArchive, watch: Watch) -> None:
        self._source = source
        self._target = target
        self._watch = watch
        self.copied: dict[str, int] = {}
        self._present: dict[str, int] = {}
        self.refusals: dict[str, list[Trouble]] = {}
        self.digests: dict[str, bytes] = {}

    async def scope(self, key: str) -> None:
        """Bring what the target has not, or not so. Raises ``StoreUnavailableError``."""
        earlier = self.copied.setdefault(key, 0)
        shelf = _Shelf(self._target, key, self._watch)
        digest = blake2b(digest_size=DIGEST_BYTES)
        try:
            async with aclosing(pairs(self._source, self._target, key)) as both:
                async for ours, theirs in both:
                    if ours is not None:
                        line = told(ours)
                        digest.update(line.encode())
                        await shelf.take(ours, line, None if theirs is None else told(theirs))
            await shelf.put()
            self.digests[key] = digest.digest()
        finally:
            self.copied[key] = earlier + shelf.copied
            self._present[key] = max(0, shelf.present - earlier)
            self.refusals[key] = shelf.refusals()

    def present(self) -> int:
        """Records that no try had to write."""
        return sum(self._present.values())


class _Shelf:
    """One scope of the target, and the batch that goes into it next."""

    def __init__(self, target: MemoryArchive, scope_key: str, watch: Watch) -> None:
        self._target = target
        self._scope_key = scope_key
        self._watch = watch
        self._batch = Batch()
        self._refused: Counter[str] = Counter()
        self._examples: list[str] = []
        self.copied = 0
        self.present = 0

    async def take(self, record: MemoryRecord, line: str, theirs: str | None) -> None:
        """``line`` and ``theirs``: the record, and what the target has in its place, as ``told``."""
        if outcome(line, theirs) is Outcome.SAME:
            self.present += 1
            self._watch.advance(1)
            return
        if not self._batch.has_room_for(line):
            await self.put()
        self._batch.add(record, line)

    async def put(self) -> None:
        """Write the batch or, where the target refuses it, as much of it as it takes."""
        records = self._batch.taken()
        if records and await self._refusal(records) is not None:
            for record in records:
                reason = await self._refusal([record])
                if reason is not None:
                    self._refused[reason] += 1
                    self._examples.extend([record.id][: _SHOWN - len(self._examples)])
        self._watch.advance(len(records))

    def refusals(self) -> list[Trouble]:
        named = ", ".join(self._examples)
        return [
            Trouble(self._scope_key, f"{count} records are refused: {reason} (such as {named})")
            for reason, count in self._refused.items()
        ]

    async def _refusal(self, records: Sequence[MemoryRecord]) -> str | None:
        """Why the target does not take them; ``None`` when it has."""
        try:
            await self._target.restore(self._scope_key, records)
        except ValueError as exc:  # A ``RecordConflictError`` is one, too.
            return str(exc)
        self.copied += len(records)
        return None
