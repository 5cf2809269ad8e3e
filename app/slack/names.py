"""Members' names, asked once an hour."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, cast

from app.clock import Clock
from app.slack.calls import SlackCalls, SlackLostError, SlackRefusalError

FRESH_S = 3600.0
UNKNOWN_S = 60.0
"""How long a name that Slack did not tell is not asked for again."""
ASK_S = 3.0
"""An answer does not wait longer for a name."""
CAPACITY = 5000


class Names:
    """Display names by user id. Strangers of shared channels, whom Slack does not tell about, keep their id."""

    def __init__(self, calls: SlackCalls, clock: Clock) -> None:
        self._calls = calls
        self._clock = clock
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()

    async def of(self, user_id: str) -> str:
        known = self._fresh(user_id)
        if known is not None:
            return known
        name = await self._ask(user_id)
        fresh_s = UNKNOWN_S if name is None else FRESH_S
        self._known[user_id] = (name or user_id, self._clock.monotonic() + fresh_s)
        self._known.move_to_end(user_id)
        while len(self._known) > CAPACITY:
            self._known.popitem(last=False)
        return name or user_id

    def has(self, user_id: str) -> bool:
        """Whether ``of`` waits for nobody now."""
        return self._fresh(user_id) is not None

    def _fresh(self, user_id: str) -> str | None:
        known = self._known.get(user_id)
        return known[0] if known is not None and self._clock.monotonic() < known[1] else None

    async def _ask(self, user_id: str) -> str | None:
        try:
            async with asyncio.timeout(ASK_S):
                answer = await self._calls.call("users.info", {"user": user_id}, as_query=True)
        except (SlackRefusalError, SlackLostError, TimeoutError):
            return None
        user = cast("Mapping[str, Any]", answer.get("user") or {})
        profile = cast("Mapping[str, Any]", user.get("profile") or {})
        names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
        # One line: names stand at the head of transcript lines and must not be able to fake another one.
        return " ".join(str(next((name for name in names if name), user_id)).split())
