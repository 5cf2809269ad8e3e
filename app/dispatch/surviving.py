"""The boundary of a message: whatever goes wrong below it, its author hears of it and the bot goes on."""

from collections.abc import Awaitable, Callable

import structlog

from app.background import unforeseen_in
from app.channel import Chat, IncomingMessage
from app.dispatch import wording
from app.dispatch.journal import Accepted
from app.dispatch.outbox import Outbox
from app.errors import DeliveryError

TURN_CRASHED = "turn_crashed"

_log = structlog.stdlib.get_logger(__name__)


async def surviving(
    accepted: Accepted, chat: Chat, act: Callable[[], Awaitable[object]], outbox: Outbox, outcome: str
) -> None:
    """``act`` on the message. What fails in it unforeseen is told its author, and the message ends with ``outcome``.

    Below an answer that is shown nothing is said: whoever reads it has it, and its message ends as it was to.
    """
    message = accepted.message
    with outbox.watching(accepted) as shown:
        fault = await unforeseen_in(act)
        if fault is None:
            return
        _log.error(TURN_CRASHED, reference=message.reference, thread=message.thread_key, exc_info=fault)
        if not shown:
            await apologise(chat, message, fault)
        await outbox.end(accepted, shown[-1] if shown else outcome)


async def apologise(chat: Chat, message: IncomingMessage, fault: Exception) -> None:
    """Tell the message's author that there will be no answer. Where that cannot be shown, the log says so."""
    try:
        await chat.say(wording.apology(fault, message.reference))
    except DeliveryError:
        _log.warning(TURN_CRASHED, reference=message.reference, told="no")
