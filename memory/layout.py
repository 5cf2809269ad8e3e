"""How the records of a pool stand side by side: those of one conversation next to each other, in the order given."""

from collections.abc import Sequence

from memory.record import MemoryRecord

_GAP = 2
"""Between conversations; no neighbour is farther away."""


class Layout:
    """A slot for each record, and a gap of slots without one before and behind each conversation."""

    __slots__ = ("places", "size", "slots", "spans", "thread_of")

    def __init__(self, records: Sequence[MemoryRecord]) -> None:
        members: dict[str, list[int]] = {}
        for place, record in enumerate(records):
            members.setdefault(record.source_thread_key, []).append(place)
        self.slots = [0] * len(records)
        """Of each record."""
        self.thread_of = [0] * _GAP
        """Of each slot."""
        self.places = [-1] * _GAP
        """The record of each slot; -1 in gaps."""
        self.spans: list[range] = []
        """The slots of each conversation."""
        for thread, places in enumerate(members.values()):
            span = range(len(self.thread_of), len(self.thread_of) + len(places))
            for slot, place in zip(span, places, strict=True):
                self.slots[place] = slot
            self.places += [*places, *([-1] * _GAP)]
            self.thread_of += [thread] * (len(places) + _GAP)
            self.spans.append(span)
        self.size = len(self.thread_of)
