"""Trigger ids: a person's click entitles the app to open one modal within three seconds."""

import secrets

from app.clock import Clock
from app.playground.refusal import SlackRefusal

TRIGGER_LIFETIME_S = 3.0


class Triggers:
    """Each trigger works once and for ``TRIGGER_LIFETIME_S``."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._issued: dict[str, tuple[str, float]] = {}
        self._exchanged: set[str] = set()

    def issue(self, user: str) -> str:
        trigger_id = f"{len(self._issued) + 1}.{secrets.randbelow(10**12):012d}.{secrets.token_hex(16)}"
        self._issued[trigger_id] = (user, self._clock.monotonic())
        return trigger_id

    def redeem(self, trigger_id: str) -> str:
        """The user who clicked. Refuses ``invalid_trigger_id``, ``exchanged_…`` and ``expired_trigger_id``."""
        if trigger_id in self._exchanged:
            raise SlackRefusal("exchanged_trigger_id")
        if trigger_id not in self._issued:
            raise SlackRefusal("invalid_trigger_id")
        user, issued_at = self._issued[trigger_id]
        if self._clock.monotonic() - issued_at > TRIGGER_LIFETIME_S:
            raise SlackRefusal("expired_trigger_id")
        self._exchanged.add(trigger_id)
        return user
