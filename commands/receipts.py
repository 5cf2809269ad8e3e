"""Receipts kept in this process: a restart forgets them."""

from collections import deque
from collections.abc import Sequence

from commands.ports import Receipt

MOST_RECEIPTS = 1_000


class InProcessReceipts:
    """Over a bounded queue; the oldest receipt makes room for the newest."""

    def __init__(self, most: int = MOST_RECEIPTS) -> None:
        self._receipts: deque[Receipt] = deque(maxlen=most)

    async def keep(self, receipt: Receipt) -> None:
        self._receipts.append(receipt)

    async def latest(self, limit: int) -> Sequence[Receipt]:
        """At most ``limit``, newest first."""
        return list(reversed(self._receipts))[: max(0, limit)]
