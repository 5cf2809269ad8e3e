"""A bot in a process of its own that kills itself (SIGKILL) at one step of a turn.

``python -m tests.mortal_bot STEP LATER_S``: its clock is ``LATER_S`` seconds ahead. Whoever sees the first words of an
answer says so by a line to its standard input. With ``no promises`` for a step it lives, and promises are not written.

Its settings come from the environment. Nothing of it is cleaned up, flushed or said: what the next process finds is
what a power cut would leave.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from app.agents.providers.base import Completed, ModelEvent, ModelRequest, StopReason, TextDelta, Usage
from app.bootstrap import build
from app.bootstrap_state import open_state
from app.channel import IncomingMessage, Place
from app.clock import SystemClock
from app.dispatch.journal import Accepted, Boot, Journal, TurnRecord, Unfinished, Waiting
from app.errors import StateError
from app.logs import configure
from app.sessions.entry import SessionEntry, SessionKey
from app.sessions.source import SessionSource
from commands.spec import Replaced
from config.loading import load

NO_PROMISES = "no promises"
PIECES = ("The port ", "is 5433.")


@dataclass(frozen=True, slots=True)
class Fate:
    """Where the process ends."""

    step: str
    is_seen: asyncio.Event = field(default_factory=asyncio.Event)
    """Something of an answer is visible."""

    def at(self, step: str) -> None:
        if step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)


class MortalJournal:
    """Implements ``Journal`` over another one; the process may end before and after each of its steps."""

    def __init__(self, journal: Journal, fate: Fate) -> None:
        self._journal = journal
        self._fate = fate

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        self._fate.at("before accept")
        accepted = await self._journal.accept(message, key, address)
        self._fate.at("after accept")
        return accepted

    async def withdraw(self, place: Place, parts: Collection[str]) -> Sequence[Waiting]:
        return await self._journal.withdraw(place, parts)

    async def reword(self, place: Place, text: str) -> Waiting | None:
        return await self._journal.reword(place, text)

    async def begin(self, accepted: Accepted, source: SessionSource) -> SessionEntry:
        self._fate.at("before begin")
        entry = await self._journal.begin(accepted, source)
        self._fate.at("after begin")
        return entry

    async def begin_command(self, accepted: Accepted) -> None:
        await self._journal.begin_command(accepted)
        self._fate.at("after begin command")

    async def posted(self, accepted: Accepted, position: str) -> None:
        await self._journal.posted(accepted, position)

    async def foreign(self, accepted: Accepted) -> frozenset[str]:
        return await self._journal.foreign(accepted)

    async def promise(
        self, accepted: Accepted, text: str, record: TurnRecord | None = None, carried: Sequence[Accepted] = ()
    ) -> None:
        self._fate.at("before promise")
        if self._fate.step == NO_PROMISES:
            raise StateError("disk full")
        await self._journal.promise(accepted, text, record, carried)
        self._fate.at("after promise")

    async def lead_on(
        self, accepted: Accepted, text: str, then: IncomingMessage, replaced: Replaced | None = None
    ) -> Accepted | None:
        self._fate.at("before promise")
        followed = await self._journal.lead_on(accepted, text, then, replaced)
        self._fate.at("after promise")
        return followed

    async def end(self, accepted: Accepted, outcome: str, record: TurnRecord | None = None) -> None:
        self._fate.at("before end")
        await self._journal.end(accepted, outcome, record)
        self._fate.at("after end")

    async def undelivered(self, accepted: Accepted, record: TurnRecord | None) -> int:
        return await self._journal.undelivered(accepted, record)

    async def unfinished(self) -> Sequence[Unfinished]:
        return await self._journal.unfinished()

    async def began(self) -> Boot:
        return await self._journal.began()

    async def prune(self) -> int:
        return await self._journal.prune()

    async def stopped(self, *, is_clean: bool) -> None:
        await self._journal.stopped(is_clean=is_clean)


@dataclass(frozen=True, slots=True)
class MortalModel:
    """Says its second piece once the first one is visible."""

    fate: Fate
    model: str = "mortal"

    @property
    def provider(self) -> "MortalModel":
        return self

    def resolve(self, reference: str) -> "MortalModel":
        return self

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.fate.at("before the first word")
        for piece in PIECES:
            yield TextDelta(piece)
            await self.fate.is_seen.wait()
            self.fate.at("after the first words are visible")
        self.fate.at("after the last word")
        yield Completed(StopReason.END, Usage(input_tokens=3, output_tokens=5))

    async def aclose(self) -> None:
        """Nothing is open."""


class LaterClock(SystemClock):
    """The clock of a machine that was off for a while."""

    def __init__(self, later_s: float) -> None:
        self._later = timedelta(seconds=later_s)

    def now(self) -> datetime:
        return super().now() + self._later


async def main(fate: Fate, later_s: float) -> None:
    configure("json", "info", stream=sys.stderr)
    asyncio.get_running_loop().add_reader(sys.stdin, fate.is_seen.set)
    settings, clock = load(), LaterClock(later_s)
    async with open_state(settings, clock, is_bot=True) as state:
        mortal = replace(state, journal=MortalJournal(state.journal, fate))
        async with (
            build(settings, models=MortalModel(fate), state=mortal, clock=clock) as application,
            application.serving(),
        ):
            await application.connected()
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Fate(sys.argv[1]), float(sys.argv[2])))
