"""What keeps conversations going over the end of the process: recovery at the start, an orderly stop, housekeeping."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog

from app.background import Background, beside
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Journal
from app.dispatch.recovering import Recovering
from app.errors import StateError

APPLICATION_DRAINED = "application_drained"

LAST_WRITES_S = 3.0
"""For what is not written down when the turns have ended: little, because the process is waited for no longer."""

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Continuity:
    dispatcher: Dispatcher
    journal: Journal
    recovering: Recovering
    background: Background
    drain_s: float
    housekeeping: Callable[[], Coroutine[Any, Any, None]] | None = None
    learning: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Takes up what the last process did not come to learn."""

    @asynccontextmanager
    async def kept(self) -> AsyncGenerator[None]:
        """Around the time in which messages come in.

        Before it what is unfinished is taken up; after it what still runs may end, and what does not is left to the
        next process.
        """
        await self.recovering.run(self.background.spawn)
        if self.learning is not None:
            await self.learning()
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(beside(self.dispatcher.redelivery.run(), name="redelivery"))
            if self.housekeeping is not None:
                await stack.enter_async_context(beside(self.housekeeping(), name="housekeeping"))
            try:
                yield
            finally:
                await self._stop()

    async def _stop(self) -> None:
        """Turns, reflections and deliveries are all tasks of the background, and are counted together.

        So is writing down what could not be written before; what is still missing after them gets a last moment.
        """
        unwritten = self.dispatcher.outbox.unwritten
        self.dispatcher.hold()
        if len(unwritten):
            self.background.spawn(unwritten.write(), name="unwritten")
        cut_short = await self.background.drain(self.drain_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WRITES_S):
                await unwritten.write()
        _log.info(APPLICATION_DRAINED, cut_short=cut_short, unwritten=len(unwritten))
        try:
            await self.journal.stopped(is_clean=cut_short + len(unwritten) == 0)
        except StateError as fault:
            _log.error(APPLICATION_DRAINED, reason=str(fault))
