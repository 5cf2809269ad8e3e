"""An answer written into a Slack thread: makes the calls that ``Answer`` decides on, and tells it how they went."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import getrandbits

import structlog

from app.background import Spawn
from app.channel import nobody_listens
from app.clock import Clock
from app.errors import DeliveryError, StoppedByUserError, SwitchboardError
from app.slack.answer import HOLD_S, Answer
from app.slack.calls import SlackLostError, SlackRefusalError
from app.slack.outcome import Refusal
from app.slack.posting import Posting
from app.slack.steps import Call, Done, Failed, Start, Wait

CALL_REFUSED = "slack_call_refused"
CALL_LOST = "slack_call_lost"

_log = structlog.stdlib.get_logger(__name__)


class SlackReply:
    """Implements ``app.channel.Reply``. Its writer starts with the first text and ends with the answer.

    An answer that is held before it has started is given to it whole: it starts with the end.
    """

    def __init__(
        self,
        posting: Posting,
        clock: Clock,
        spawn: Spawn,
        on_visible: Callable[[], None],
        *,
        on_posted: Callable[[str], None] = nobody_listens,
        reusing: Sequence[str] = (),
    ) -> None:
        """``reusing``: messages of an earlier attempt; the answer takes their place, and what it does not need goes."""
        self._posting = posting
        self._clock = clock
        self._spawn = spawn
        self._on_visible = on_visible
        self._on_posted = on_posted
        self._still_open = list(reusing)
        self._answer = Answer(reusing, may_stream=posting.can_stream)
        self._more = asyncio.Event()
        self._heeds_text = True
        self._starting: asyncio.Handle | None = None
        self._writer: asyncio.Task[None] | None = None
        self._failure: SwitchboardError | None = None
        self._is_whole = True
        """Whether everything that was written is visible, as far as the writer knows."""

    def write(self, text: str) -> None:
        """Raises what ended the writer, so that a producer stops at its next word."""
        if self._failure is not None:
            raise self._failure
        self._answer.write(text)
        if self._heeds_text:
            self._more.set()
        self._is_whole = False
        if self._starting is None and (self._writer is None or self._writer.done()):
            self._starting = asyncio.get_running_loop().call_soon(self._start)

    def hold(self) -> None:
        self._answer.hold(self._clock.monotonic())
        if self._starting is not None:
            self._starting.cancel()
            self._starting = asyncio.get_running_loop().call_later(HOLD_S, self._start)

    async def finish(self) -> None:
        await self._end(is_whole=True)

    async def abandon(self) -> None:
        try:
            await self._end(is_whole=False)
        except (DeliveryError, StoppedByUserError):
            return

    async def _end(self, *, is_whole: bool) -> None:
        self._answer.end(is_whole=is_whole)
        self._more.set()
        if self._starting is not None:
            self._starting.cancel()
            self._start()
        if self._writer is not None:
            await asyncio.shield(self._writer)
        if self._failure is None and not self._is_whole:
            self._failure = DeliveryError("the writer broke off")
        if self._failure is not None:
            raise self._failure

    def _start(self) -> None:
        self._starting = None
        self._writer = self._spawn(self._run(), name="reply_writer", last=True)

    async def _run(self) -> None:
        await self._close_earlier()
        while True:
            self._more.clear()
            match self._answer.next_step(self._clock.monotonic()):
                case Done():
                    self._is_whole = True
                    await self._take_away(self._answer.leftovers)
                    return
                case Failed(reason):
                    self._failure = DeliveryError(reason)
                    return
                case Wait() as wait:
                    await self._pause(wait)
                case call:
                    await self._make(call)
            if self._failure is not None:
                return

    async def _close_earlier(self) -> None:
        """A message that is still streamed cannot be rewritten; whether it is will show when it is tried."""
        while self._still_open:
            with suppress(SlackLostError):
                await self._posting.close(self._still_open[0])
            self._still_open.pop(0)

    async def _take_away(self, positions: Sequence[str]) -> None:
        for ts in positions:
            try:
                await self._posting.delete(ts)
            except (SlackRefusalError, SlackLostError) as fault:
                _log.info(CALL_REFUSED, call="delete", error=str(fault))

    async def _pause(self, wait: Wait) -> None:
        """Until the moment ``wait`` names, the end of the answer, or text that matters."""
        self._heeds_text = wait.heeds_text
        if wait.until_s is None:
            await self._more.wait()
            return
        left_s = max(0.0, wait.until_s - self._clock.monotonic())
        # An answer waits again and again, and this is half the work of a timeout.
        timer = asyncio.get_running_loop().call_later(left_s, self._more.set)
        try:
            await self._more.wait()
        finally:
            timer.cancel()

    async def _make(self, call: Call) -> None:
        nonce = f"{getrandbits(128):032x}"
        try:
            ts = await self._posting.make(call, nonce)
        except SlackRefusalError as fault:
            self._refused(call, fault)
        except SlackLostError as fault:
            _log.warning(CALL_LOST, call=type(call).__name__, reason=str(fault))
            await self._look_for(call, nonce)
        else:
            self._answer.succeeded(call, self._clock.monotonic(), ts)
            self._show()
            self._note(call, ts)

    def _refused(self, call: Call, fault: SlackRefusalError) -> None:
        if fault.refusal is Refusal.STOPPED_BY_USER:
            self._failure = StoppedByUserError()
            return
        _log.info(CALL_REFUSED, call=type(call).__name__, error=fault.error)
        now = self._clock.monotonic()
        self._answer.refused(call, fault.refusal, now, retry_after_s=fault.retry_after_s, reason=fault.error)

    async def _look_for(self, call: Call, nonce: str) -> None:
        """Settle what became of a lost call, where the thread can tell."""
        try:
            found_ts = await self._posting.find(call, nonce)
        except (SlackRefusalError, SlackLostError):
            # Sending again could double what is there already, so an unanswerable question ends the answer.
            self._failure = DeliveryError("outcome of a post unknown")
            return
        self._answer.lost(call, self._clock.monotonic(), found_ts)
        if found_ts is not None:
            self._show()
            self._note(call, found_ts)

    def _note(self, call: Call, ts: str | None) -> None:
        """A post tells by its mark whose it is; a stream has none before it ends."""
        if ts is not None and isinstance(call, Start):
            self._on_posted(ts)

    def _show(self) -> None:
        if self._answer.is_visible:
            self._on_visible()
