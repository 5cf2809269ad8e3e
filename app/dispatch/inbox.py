"""Accepting a message exactly once, whatever the platform delivers."""

from collections import OrderedDict
from typing import Protocol

from app.channel import IncomingMessage
from app.clock import Clock

KEPT_S = 3600.0
"""Slack redelivers within about five minutes; an hour covers held-up retries."""
CAPACITY = 50_000


class Inbox(Protocol):
    """Adapters: in process."""

    async def accept(self, message: IncomingMessage) -> bool:
        """Claim the message; ``False`` when it was claimed before.

        One message has two names: its delivery's event id, and its place (workspace, channel, position), because a
        mention arrives as two events. Returns before the platform is acknowledged.
        """
        ...


class InProcessInbox:
    """Remembers claims for an hour, at most ``CAPACITY``; a restart forgets them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._claims: OrderedDict[str, float] = OrderedDict()

    async def accept(self, message: IncomingMessage) -> bool:
        self._forget_old()
        names = (message.event_id, f"{message.workspace_id}|{message.channel_id}|{message.position}")
        is_new = not any(name in self._claims for name in names)
        for name in names:
            self._claims.setdefault(name, self._clock.monotonic())
        return is_new

    def _forget_old(self) -> None:
        oldest_kept = self._clock.monotonic() - KEPT_S
        while self._claims and (len(self._claims) > CAPACITY or next(iter(self._claims.values())) < oldest_kept):
            self._claims.popitem(last=False)
