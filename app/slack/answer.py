"""One answer on its way into a thread: what has been shown, and which call comes next.

Theory of operation. The answer is shown in segments, one Slack message each. A segment starts as a streamed
message; once streaming is refused or dies it is an edited one, rewritten whole by chat.update. Text moves from
*pending* (written by the model) to *outgoing* (the piece the next call carries) to *shown* (the call succeeded).
A call whose outcome is unknown makes its segment *doubtful*: it is stopped and rewritten whole before anything else
happens to it, which is idempotent, so no text is lost or doubled whatever the platform had made of the lost call.

This module decides; ``app.slack.reply`` makes the calls and reports how they went.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.slack.format import held_back, without_crowd_mentions
from app.slack.outcome import Refusal
from app.slack.splitting import cut, open_fence
from app.slack.steps import Append, Call, Done, Failed, Post, Start, Step, Stop, Update, Wait

SEGMENT_CHARS = 11_000
"""Below the 12,000 of ``markdown_text`` (chat.startStream, chat.postMessage), with room for Slack's own overhead."""
STREAM_LIFE_S = 240.0
"""A streamed message is closed by Slack after about five minutes."""
STREAM_FLUSH_S = 0.7
"""Keeps one stream inside chat.appendStream's 100 calls a minute."""
EDIT_FLUSH_S = 1.5
"""chat.update allows about 50 calls a minute for the whole workspace."""
HOLD_S = 3.0
"""How long an answer that is complete waits for its end at most, before it begins to stream all the same. Long enough
for a burst, in which every call that can be saved is missed most; only records that are locked take longer."""
UNCERTAIN_LIMIT = 4
"""Lost calls in a row before the platform counts as unreachable."""
_LONG_AGO = float("-inf")


class Mode(StrEnum):
    STREAMED = "streamed"
    EDITED = "edited"


@dataclass(slots=True)
class Segment:
    """The message that is being written."""

    ts: str
    mode: Mode
    shown: str
    opened_at: float
    flushed_at: float
    is_full: bool = False
    doubtful_from: int | None = None
    """Where in ``shown`` the text begins of which the platform may or may not have heard."""


class Answer:
    """The state machine. Times are monotonic seconds given by the caller."""

    def __init__(self, reusing: Sequence[str] = (), *, may_stream: bool = True) -> None:
        """``reusing``: messages of an earlier attempt, streamed no more, rewritten before new ones are made.

        Without ``may_stream`` its messages are posted and edited from the start.
        """
        self._reusable = list(reusing)
        self._pending = ""
        self._outgoing = ""
        self._fills_segment = False
        """Whether the outgoing piece is the last one of its segment."""
        self._segment: Segment | None = None
        self._has_ended = False
        self._is_whole = True
        self._may_stream = may_stream
        self._not_before = 0.0
        self._held_until = _LONG_AGO
        self._lost_in_a_row = 0
        self._failure: str | None = None
        self.is_visible = False
        """Whether any of it has reached the thread."""

    @property
    def leftovers(self) -> Sequence[str]:
        """Messages of the earlier attempt that this answer did not need."""
        return tuple(self._reusable)

    def write(self, text: str) -> None:
        self._pending += text

    def hold(self, now: float) -> None:
        """All is written, and the end comes soon: what is begun until then would only be two calls in place of one."""
        self._held_until = now + HOLD_S

    def end(self, *, is_whole: bool = True) -> None:
        """Nothing more will be written. An answer that is not whole is not marked as the end of its turn."""
        self._has_ended, self._is_whole = True, is_whole

    def next_step(self, now: float) -> Step:
        """What to do now. Asking twice without reporting an outcome gives the same answer."""
        if self._failure is not None:
            return Failed(self._failure)
        segment = self._segment
        is_held = segment is None and not self._has_ended
        not_before = max(self._not_before, self._held_until) if is_held else self._not_before
        if now < not_before:
            return Wait(not_before, heeds_text=False)
        if segment is not None and segment.doubtful_from is not None:
            return self._settle(segment)
        self._choose_piece(now)
        if self._outgoing:
            return self._show_piece()
        if segment is not None and (segment.is_full or self._has_ended):
            return self._close(segment, now)
        return Done() if self._has_ended else self._wait(now)

    def succeeded(self, call: Call, now: float, ts: str | None = None) -> None:
        """``call`` was carried out; ``ts`` names the message that Start or Post made."""
        self._lost_in_a_row = 0
        if isinstance(call, Start | Post):
            self._open(ts or "", Mode.STREAMED if isinstance(call, Start) else Mode.EDITED, now)
            return
        segment = self._written()
        if isinstance(call, Stop):
            self._stopped(segment)
            return
        if isinstance(call, Update):
            segment.doubtful_from, self.is_visible = None, True
        self._piece_shown(segment, now)

    def refused(
        self, call: Call, refusal: Refusal, now: float, *, retry_after_s: float = 1.0, reason: str = ""
    ) -> None:
        """``call`` was definitely not carried out."""
        self._lost_in_a_row = 0
        match call:
            case Start():
                # Refused or scarce (20 new streams a minute): an ordinary message shows the same text.
                self._may_stream = False
            case _ if refusal is Refusal.RATE_LIMITED:
                self._not_before = now + retry_after_s
            case Stop():
                self._stopped(self._written())
            case Append():
                self._append_refused(self._written(), refusal)
            case Update():
                self._update_refused(self._written(), refusal)
            case _:
                self._failure = reason or refusal.value

    def lost(self, call: Call, now: float, found_ts: str | None = None) -> None:
        """Nobody knows whether ``call`` was carried out; ``found_ts`` names the message it turned out to have made.

        Stop, Update and a Post that left no trace are simply made again.
        """
        self._lost_in_a_row += 1
        if self._lost_in_a_row > UNCERTAIN_LIMIT:
            self._failure = "unreachable"
            return
        self._not_before = now + 0.25 * 2**self._lost_in_a_row
        if isinstance(call, Append):
            segment = self._written()
            segment.doubtful_from = len(segment.shown)
            self._piece_shown(segment, now)
        elif isinstance(call, Start | Post) and found_ts is not None:
            is_start = isinstance(call, Start)
            segment = self._open(found_ts, Mode.STREAMED if is_start else Mode.EDITED, now)
            segment.doubtful_from = 0 if is_start else None
        elif isinstance(call, Start):
            self._may_stream = False

    def _written(self) -> Segment:
        """The message being written; only an outcome nobody asked for finds none."""
        if self._segment is None:
            raise LookupError("no message is being written")
        return self._segment

    def _choose_piece(self, now: float) -> None:
        """Move what is due from pending to outgoing."""
        segment = self._segment
        if self._outgoing or (segment is not None and segment.is_full):
            return
        if segment is not None and self._is_over(segment, now):
            self._outgoing = self._fence_off(segment.shown)
            segment.is_full = True
            return
        if not self._pending or (segment is not None and not self._has_ended and now < self._flush_at(segment)):
            return
        shown = segment.shown if segment is not None else ""
        usable = self._pending if self._has_ended else self._pending[: len(self._pending) - held_back(self._pending)]
        # Slack refuses a message of spaces alone, so spaces travel with the word after them.
        usable = usable.rstrip()
        piece = cut(usable, SEGMENT_CHARS - len(shown))
        self._pending = self._pending[len(piece) :]
        self._outgoing = without_crowd_mentions(piece)
        if len(piece) < len(usable):
            self._outgoing += self._fence_off(shown + self._outgoing)
            self._fills_segment = bool(self._outgoing)
            if segment is not None and not self._outgoing:
                segment.is_full = True

    def _is_over(self, segment: Segment, now: float) -> bool:
        """Whether the segment's time as a stream is up while there is, or may be, more to say."""
        has_more = not self._has_ended or bool(self._pending.strip())
        return has_more and segment.mode is Mode.STREAMED and now >= segment.opened_at + STREAM_LIFE_S

    def _fence_off(self, text: str) -> str:
        """What closes ``text``'s open code fence, if it has one; the rest of the answer opens it again."""
        fence = open_fence(text)
        if fence is None:
            self._pending = self._pending.lstrip("\n")
            return ""
        self._pending = f"{fence.opening}\n{self._pending.removeprefix(chr(10))}"
        return f"\n{fence.closing}"

    def _show_piece(self) -> Call:
        segment = self._segment
        if segment is None and self._reusable:
            segment = self._segment = Segment(self._reusable.pop(0), Mode.EDITED, "", _LONG_AGO, _LONG_AGO)
        is_last = self._is_end()
        if segment is None:
            is_post = self._is_all_out() or not self._may_stream
            return Post(self._outgoing, is_last) if is_post else Start(self._outgoing)
        if segment.mode is Mode.STREAMED:
            return Append(segment.ts, self._outgoing)
        return Update(segment.ts, segment.shown + self._outgoing, is_last)

    def _is_all_out(self) -> bool:
        """Whether nothing is left to say beyond the piece that is on its way."""
        return self._has_ended and not self._pending.strip()

    def _is_end(self) -> bool:
        return self._is_whole and self._is_all_out()

    def _settle(self, segment: Segment) -> Call:
        if segment.mode is Mode.STREAMED:
            return Stop(segment.ts)
        return Update(segment.ts, segment.shown, is_last=self._is_end() and not self._outgoing)

    def _close(self, segment: Segment, now: float) -> Step:
        if segment.mode is Mode.STREAMED:
            return Stop(segment.ts, self._is_end())
        self._segment = None
        return self.next_step(now)

    def _wait(self, now: float) -> Wait:
        segment = self._segment
        if segment is None:
            return Wait(None, heeds_text=True)
        if self._pending.strip() and now < self._flush_at(segment):
            return Wait(self._flush_at(segment), heeds_text=False)
        until = segment.opened_at + STREAM_LIFE_S if segment.mode is Mode.STREAMED else None
        return Wait(until, heeds_text=True)

    def _flush_at(self, segment: Segment) -> float:
        return segment.flushed_at + (STREAM_FLUSH_S if segment.mode is Mode.STREAMED else EDIT_FLUSH_S)

    def _open(self, ts: str, mode: Mode, now: float) -> Segment:
        segment = self._segment = Segment(ts, mode, "", now, now)
        self._piece_shown(segment, now)
        self.is_visible = True
        return segment

    def _piece_shown(self, segment: Segment, now: float) -> None:
        segment.shown += self._outgoing
        segment.flushed_at = now
        segment.is_full = segment.is_full or self._fills_segment
        self._outgoing, self._fills_segment = "", False

    def _stopped(self, segment: Segment) -> None:
        """The stream is closed: the message can be rewritten if it is doubtful, and is finished if not."""
        if segment.doubtful_from is None:
            self._segment = None
        else:
            segment.mode = Mode.EDITED

    def _append_refused(self, segment: Segment, refusal: Refusal) -> None:
        if refusal is Refusal.NOT_STREAMING:
            segment.mode = Mode.EDITED
        else:
            # The stream takes no more; stop it and carry on by rewriting the message.
            segment.doubtful_from = len(segment.shown)

    def _update_refused(self, segment: Segment, refusal: Refusal) -> None:
        if refusal is Refusal.STILL_STREAMING:
            segment.mode = Mode.STREAMED
            segment.doubtful_from = len(segment.shown)
            return
        # The message cannot be rewritten (gone, or too old to edit): what is not surely in it goes into a new one.
        if segment.doubtful_from is not None:
            self._outgoing = segment.shown[segment.doubtful_from :] + self._outgoing
        self._segment, self._may_stream, self._fills_segment = None, False, False
