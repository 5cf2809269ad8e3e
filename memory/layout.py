"""How the records of a pool stand side by side: those of one conversation next to each other, in the order given."""

from collections.abc import Sequence

_GAP = 2
"""Between conversations; no neighbour is farther away."""
_NOBODY = [-1] * _GAP


class Layout:
    """A slot for each record, and a gap of slots without one before and behind each conversation."""

    __slots__ = ("places", "size", "slots", "spans", "thread_of")

    def __init__(self, threads: Sequence[str]) -> None:
        members: dict[str, list[int]] = {}
        for place, thread in enumerate(threads):
            if thread in members:
                members[thread].append(place)
            else:
                members[thread] = [place]
        self.slots = [0] * len(threads)
        """Of each record."""
        self.thread_of = [0] * _GAP
        """Of each slot."""
        self.places = [-1] * _GAP
        """The record of each slot; -1 in gaps."""
        self.spans: list[range] = []
        """The slots of each conversation."""
        for thread, places in enumerate(members.values()):
            slot = len(self.places)
            self.spans.append(range(slot, slot + len(places)))
            for place in places:
                self.slots[place] = slot
                slot += 1
            self.places += places
            self.places += _NOBODY
            self.thread_of += [thread] * (len(places) + _GAP)
        self.size = len(self.places)
