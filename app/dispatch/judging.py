"""Whether a message speaks to the bot: an unmentioned reply does where the bot takes part in its thread."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import structlog

from app.channel import Address
from app.clock import Clock
from app.dispatch.entrance import Entrance
from app.dispatch.redelivery import Redelivery
from app.dispatch.work import Work
from app.errors import ChannelUnavailableError

THREAD_UNREADABLE = "thread_unreadable"

LOOK_AGAIN_S = 30.0
LOOKED_AT_FOR = timedelta(minutes=10)
UNREAD_MOST = 100
"""How long a reply waits for its thread to be readable, and how many do: where none is, every reply comes here."""

_log = structlog.stdlib.get_logger(__name__)


class Judging:
    def __init__(self, entrance: Entrance, redelivery: Redelivery, clock: Clock) -> None:
        self._entrance = entrance
        self._redelivery = redelivery
        self._clock = clock

    async def is_meant(self, work: Work) -> bool:
        """Raises ``ChannelUnavailableError``."""
        if work.message.address is not Address.FOLLOW_UP:
            return True
        async with self._entrance:
            return await work.chat.takes_part()

    def look_later(
        self, work: Work, fault: ChannelUnavailableError, look: Callable[[], Coroutine[Any, Any, object]]
    ) -> bool:
        """Whether there is another ``look`` at what could not be read.

        Most unmentioned replies are not for the bot, so nobody is told; one that is gets its answer later.
        """
        age = self._clock.now() - work.accepted.accepted_at
        _log.warning(THREAD_UNREADABLE, reference=work.message.reference, reason=str(fault))
        if age > LOOKED_AT_FOR or len(self._redelivery) >= UNREAD_MOST:
            return False
        # Ever more rarely: where threads cannot be read because too much is read, this must not add to it.
        self._redelivery.after(max(LOOK_AGAIN_S, 4 * age.total_seconds()), look)
        return True
