"""What goes wrong with the bot's calls to Slack during a soak: answers are lost, calls are put off, calls fail."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from app.clock import Clock
from app.playground.calls import ApiCall
from app.playground.faults import Fault, FaultKind, Faults

METHODS = (
    "chat.postMessage",
    "chat.postMessage",
    "chat.startStream",
    "chat.appendStream",
    "chat.stopStream",
    "chat.update",
    "conversations.replies",
)
"""Most of the calls make a message, and a lost one of those is the easiest to double."""
KINDS = (FaultKind.DROP_AFTER, FaultKind.DROP_AFTER, FaultKind.RATE_LIMITED, FaultKind.SERVER_ERROR)
"""Handled by Slack and never answered, twice as often as 429 and 5xx."""
STATUSES = (500, 502, 503)
RETRY_AFTER_S = 1
PAUSE_S = (0.1, 0.7)
WAITING_MOST = 6
"""Ordered at one time: a method that is rarely called would collect them, and then fail until nobody tries again."""


async def order_now_and_then(faults: Faults, chance: random.Random, clock: Clock) -> None:
    """Until cancelled; what has met no call by then is taken back."""
    try:
        while True:
            await clock.sleep(chance.uniform(*PAUSE_S))
            fault = _fault(chance)
            if faults.pending < WAITING_MOST:
                faults.inject(fault)
    finally:
        faults.clear()


def _fault(chance: random.Random) -> Fault:
    method, kind, status = chance.choice(METHODS), chance.choice(KINDS), chance.choice(STATUSES)
    return Fault(method, kind, retry_after_s=RETRY_AFTER_S, status=status)


@dataclass(frozen=True, slots=True)
class Mishaps:
    """Calls of the bot, by what became of them."""

    lost: int = 0
    """Handled, and their answer lost."""
    limited: int = 0
    """Answered with 429."""
    failed: int = 0
    """Answered with 5xx."""


def met(calls: Sequence[ApiCall]) -> Mishaps:
    """What the calls met; those of a bot that was killed count as well."""
    return Mishaps(
        lost=sum(call.status == 0 and call.ok for call in calls),
        limited=sum(call.status == 429 for call in calls),  # noqa: PLR2004 - HTTP's own number
        failed=sum(call.status >= 500 for call in calls),  # noqa: PLR2004 - HTTP's own number
    )
