"""The journal over the state database."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from hashlib import sha256

import structlog
from sqlalchemy import Connection

from app.channel import IncomingMessage, Place
from app.clock import Clock
from app.dispatch.journal import Accepted, Boot, TurnRecord, Unfinished, Waiting
from app.sessions.entry import SessionEntry, SessionKey
from app.sessions.source import SessionSource
from app.state import boot_rows, message_rows, turn_steps
from app.state.delivery_rows import Delivery
from app.state.engine import Database
from app.state.session_steps import Arrival, Moment
from app.state.sessions import eight_hex_digits
from commands.spec import Replaced

MESSAGE_UNREADABLE = "message_unreadable"
STEP_CHARS = 8_000
"""Of what a turn said: the full-text index takes half a millisecond for them, and other messages wait meanwhile."""

_log = structlog.stdlib.get_logger(__name__)


class StateJournal:
    """``app.dispatch.journal.Journal``: every step is one transaction."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        now = self._clock.now()
        claim = message_rows.Claim(message, key, address, now)
        claimed = await self._database.step(lambda connection: message_rows.claim(connection, claim))
        return None if claimed is None else Accepted(claimed, message, key, now, address)

    async def withdraw(self, place: Place, parts: Collection[str]) -> Sequence[Waiting]:
        now = self._clock.now()
        return await self._database.write(lambda connection: message_rows.withdraw(connection, place, parts, now))

    async def reword(self, place: Place, text: str) -> Waiting | None:
        return await self._database.write(lambda connection: message_rows.reword(connection, place, text))

    async def begin(self, accepted: Accepted, source: SessionSource) -> SessionEntry:
        arrival = Arrival(accepted.session_key, source, accepted.message.thread_key)
        moment = Moment(self._clock.now(), eight_hex_digits)

        return await self._database.step(lambda connection: turn_steps.begin(connection, accepted.id, arrival, moment))

    async def begin_command(self, accepted: Accepted) -> None:
        now = self._clock.now()
        await self._database.step(
            lambda connection: message_rows.begin(connection, accepted.id, now, message_rows.COMMAND)
        )

    async def posted(self, accepted: Accepted, position: str) -> None:
        await self._database.step(lambda connection: message_rows.note_post(connection, accepted.id, position))

    async def foreign(self, accepted: Accepted) -> frozenset[str]:
        return await self._database.read(lambda connection: message_rows.foreign_posts(connection, accepted))

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        now, delivery = self._clock.now(), _delivery(accepted, text, record)
        others = [each.id for each in carried]
        await self._database.step(lambda connection: turn_steps.promise(connection, delivery, others, now))

    async def lead_on(
        self, accepted: Accepted, text: str, then: IncomingMessage, replaced: Replaced | None = None
    ) -> Accepted | None:
        now, key, address = self._clock.now(), accepted.session_key, accepted.address
        claim = message_rows.Claim(then, key, address, now, stands_at=accepted.id)
        delivery = _delivery(accepted, text, None)
        claimed = await self._database.write(
            lambda connection: turn_steps.lead_on(connection, delivery, claim, replaced)
        )
        return None if claimed is None else Accepted(claimed, then, key, now, address)

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        now = self._clock.now()
        await self._for(record)(lambda connection: turn_steps.end(connection, accepted, outcome, record, now))

    async def undelivered(self, accepted: Accepted, record: TurnRecord | None) -> int:
        now = self._clock.now()
        return await self._database.write(lambda connection: turn_steps.undelivered(connection, accepted, record, now))

    def _for(self, record: TurnRecord | None) -> Callable[[Callable[[Connection], None]], Awaitable[None]]:
        chars = 0 if record is None else sum(len(line.content) for line in record.lines)
        return self._database.step if chars <= STEP_CHARS else self._database.write

    async def unfinished(self) -> Sequence[Unfinished]:
        now = self._clock.now()
        found, unreadable = await self._database.write(lambda connection: message_rows.unfinished(connection, now))
        for row in unreadable:
            _log.error(MESSAGE_UNREADABLE, row=row)
        return found

    async def began(self) -> Boot:
        now = self._clock.now()
        return await self._database.write(lambda connection: boot_rows.began(connection, now))

    async def stopped(self, *, is_clean: bool) -> None:
        now = self._clock.now()
        await self._database.write(lambda connection: boot_rows.stopped(connection, now, is_clean=is_clean))

    async def prune(self) -> int:
        """Forget what ended long ago; how many messages."""
        now = self._clock.now()
        return await self._database.write(lambda connection: message_rows.prune(connection, now))


def _delivery(accepted: Accepted, text: str, record: TurnRecord | None) -> Delivery:
    return Delivery(delivery_id(accepted, text), accepted.id, accepted.session_key, text, record)


def delivery_id(accepted: Accepted, text: str) -> str:
    """One answer of one message has one id, however often it is promised."""
    return sha256(f"{accepted.session_key}\0{accepted.id}\0{text}".encode("utf-8", "replace")).hexdigest()
