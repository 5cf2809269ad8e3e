"""When a conversation is compressed and which part of it, decided over its transcript without asking anybody.

The first and the last messages stay as they are, and a summary stands for those between. A turn is never split: the
summary begins before a question and ends after an answer. An earlier summary becomes part of the new one. A person
may have it all summarised but for the last turns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

from app.sessions.transcript import Kind, TranscriptMessage, turn_starts
from memory.scorer import estimated_tokens

Lines = tuple[TranscriptMessage, ...]

MIN_MESSAGES = 4
SUMMARY_SHARE, SUMMARY_TOKENS = 0.05, 12_000
"""A summary is at most this share of the window, and this long."""
HEAD_SHARE, TAIL_SHARE = 0.10, 0.20
"""What stays as it was is at most this share of the window, except for the last turn."""
MOST_SCALE = 4.0
"""Of a token for four characters, real ones can be four at most: one for each character."""
COOL_DOWNS_S = (60.0, 300.0, 900.0)
FORGOTTEN_S = 86_400.0
PATIENCE = 2
"""Failures in a row after which a summary is made without a model."""


class Cause(StrEnum):
    """Why a conversation is to be compressed."""

    THRESHOLD = "threshold"
    """Its last prompt came near the window."""
    OVERFLOW = "overflow"
    """The provider refused its prompt as too long."""
    COMMAND = "command"
    """A person wants it."""


class Step(StrEnum):
    """What to do."""

    NOTHING = "nothing"
    WAIT = "wait"
    ASK = "ask"
    """Have the model summarise."""
    FALL_BACK = "fall_back"
    """Summarise without a model."""
    CUT = "cut"
    """Keep the first and last messages alone."""
    GIVE_UP = "give_up"
    """Leave everything as it is."""
    KEEP_FEWER = "keep_fewer"
    """Likewise: beside the turns that are to stay there is no room for a summary."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a conversation has to fit into."""

    window: int
    protect_first: int = 3
    protect_last: int = 20
    scale: float = 1.0
    """Real tokens for an estimated one."""
    keep_turns: int | None = None
    """How many of the last turns stay, in the place of first and last messages."""

    @property
    def summary_tokens(self) -> int:
        return max(1, min(int(self.window * SUMMARY_SHARE), SUMMARY_TOKENS))

    def share(self, share: float) -> int:
        """A share of the window in estimated tokens."""
        return int(self.window * share / self.scale)


@dataclass(frozen=True, slots=True)
class Plan:
    """A transcript in its parts, in their order; ``earlier`` summaries stood among ``middle``."""

    head: Lines
    earlier: Lines
    middle: Lines
    tail: Lines

    def __len__(self) -> int:
        return len(self.head) + len(self.earlier) + len(self.middle) + len(self.tail)

    def gone(self) -> Lines:
        """What a summary takes the place of."""
        return (*self.earlier, *self.middle)

    def with_summary(self, summary: TranscriptMessage) -> Lines:
        return (*self.head, summary, *self.tail)

    def ends(self) -> Lines:
        return (*self.head, *self.tail)


@dataclass(frozen=True, slots=True)
class CoolDown:
    """How long a conversation's model is left alone after it could not summarise. Times are a clock's seconds."""

    failures: int = 0
    until_s: float = 0.0
    is_bypassed: bool = False
    """Whether an overflow was let through since the last success."""

    def failed(self, now_s: float) -> "CoolDown":
        wait_s = COOL_DOWNS_S[min(self.failures, len(COOL_DOWNS_S) - 1)]
        return replace(self, failures=self.failures + 1, until_s=now_s + wait_s)

    def asked(self, cause: Cause, now_s: float) -> "CoolDown":
        return replace(self, is_bypassed=True) if cause is Cause.OVERFLOW and now_s < self.until_s else self

    def is_stale(self, now_s: float) -> bool:
        """Whether it ended so long ago that its failures say nothing about the next attempt."""
        return now_s >= self.until_s + FORGOTTEN_S

    def lets_through(self, cause: Cause, now_s: float) -> bool:
        """A person is always let through; a prompt that the provider refused, once."""
        return now_s >= self.until_s or cause is Cause.COMMAND or (cause is Cause.OVERFLOW and not self.is_bypassed)


def should_compress(last_prompt_tokens: int, window: int, threshold: float, message_count: int) -> bool:
    """Whether the next turn is preceded by a compression. ``last_prompt_tokens`` is what the provider counted."""
    return message_count >= MIN_MESSAGES and last_prompt_tokens >= window * threshold


def tokens_in(messages: Sequence[TranscriptMessage]) -> int:
    """Estimated."""
    return sum(estimated_tokens(message.content) for message in messages)


def scale_of(messages: Sequence[TranscriptMessage], last_prompt_tokens: int, window: int, cause: Cause) -> float:
    """Real tokens for an estimated one, as far as the provider's count tells; a refusal proves a window's worth.

    The prompt has other parts, too, so this is rather too much than too little.
    """
    counted = max(last_prompt_tokens, window if cause is Cause.OVERFLOW else 0)
    return min(MOST_SCALE, max(1.0, counted / max(1, tokens_in(messages))))


def fits(messages: Sequence[TranscriptMessage], limits: Limits) -> bool:
    return tokens_in(messages) * limits.scale <= limits.window


def planned(messages: Sequence[TranscriptMessage], limits: Limits) -> Plan:
    """Which part is to be summarised: the middle, empty when there is nothing between what stays."""
    end, start = (
        _ends(messages, limits) if limits.keep_turns is None else (0, _turns_start(messages, limits.keep_turns))
    )
    between = messages[end:start]
    return Plan(
        tuple(messages[:end]),
        tuple(message for message in between if message.kind is Kind.SUMMARY),
        tuple(message for message in between if message.kind is not Kind.SUMMARY),
        tuple(messages[start:]),
    )


def first_step(plan: Plan, cause: Cause, cool_down: CoolDown, now_s: float, limits: Limits) -> Step:
    if not plan.middle:
        # The summary is all that is left to give up when a provider refuses what was compressed before.
        return Step.CUT if cause is Cause.OVERFLOW and plan.earlier else Step.NOTHING
    if cause is Cause.COMMAND and len(plan) < MIN_MESSAGES:
        return Step.NOTHING
    if limits.keep_turns is not None and not _has_room(plan.tail, limits):
        return Step.KEEP_FEWER
    if cause is Cause.THRESHOLD and tokens_in(plan.middle) * limits.scale <= limits.summary_tokens:
        return Step.NOTHING
    if cool_down.lets_through(cause, now_s):
        return Step.ASK
    return Step.FALL_BACK if cause is Cause.OVERFLOW else Step.WAIT


def step_after_failure(cause: Cause, cool_down: CoolDown, *, was_too_long: bool) -> Step:
    """While there is room the conversation is left whole for the next attempt; otherwise it goes on without one."""
    is_hopeless = was_too_long or cool_down.failures >= PATIENCE
    return Step.FALL_BACK if cause is Cause.OVERFLOW or is_hopeless else Step.GIVE_UP


def added_since(before: Sequence[TranscriptMessage], now: Sequence[TranscriptMessage]) -> Lines | None:
    """What was said while the model summarised; ``None`` when the transcript is not the same one any more."""
    return tuple(now[len(before) :]) if tuple(now[: len(before)]) == tuple(before) else None


def _has_room(tail: Lines, limits: Limits) -> bool:
    """Whether the longest summary and what stays behind it fit into the window."""
    return (tokens_in(tail) + limits.summary_tokens) * limits.scale <= limits.window


def _ends(messages: Sequence[TranscriptMessage], limits: Limits) -> tuple[int, int]:
    """Where the first messages end, and where the last ones begin."""
    cuts = _cuts(messages)
    sums = [0, *accumulate(estimated_tokens(message.content) for message in messages)]
    summaries = [index for index, message in enumerate(messages) if message.kind is Kind.SUMMARY]
    asked = _last_question(messages, after=summaries[-1] + 1 if summaries else 0)
    start = _tail_start([cut for cut in cuts if cut <= asked], sums, limits)
    end = _head_end(cuts, sums, limits)
    if summaries:
        start, end = max(start, summaries[-1] + 1), min(end, summaries[0])
    return min(end, start), start


def _turns_start(messages: Sequence[TranscriptMessage], turns: int) -> int:
    """Where the last ``turns`` turns begin; at the very beginning when there are not so many."""
    starts = turn_starts(messages)
    return starts[-turns] if len(starts) >= turns else 0


def _cuts(messages: Sequence[TranscriptMessage]) -> list[int]:
    """Where a transcript can be parted: before a person's line while no question waits, and around a summary."""
    cuts = {0}
    is_waiting = False
    for index, message in enumerate(messages):
        is_summary = message.kind is Kind.SUMMARY
        follows_summary = index > 0 and messages[index - 1].kind is Kind.SUMMARY
        if is_summary or follows_summary or (message.role == "user" and not is_waiting):
            cuts.add(index)
        is_question = message.role == "user" and message.kind is Kind.SAID
        is_waiting = not is_summary and (is_question or (is_waiting and message.role == "user"))
    return sorted(cuts if is_waiting else {*cuts, len(messages)})


def _head_end(cuts: Sequence[int], sums: Sequence[int], limits: Limits) -> int:
    wished = next((cut for cut in cuts if cut >= limits.protect_first), cuts[-1])
    most = limits.share(HEAD_SHARE)
    return max(cut for cut in cuts if cut <= wished and (cut == 0 or sums[cut] <= most))


def _tail_start(cuts: Sequence[int], sums: Sequence[int], limits: Limits) -> int:
    """Of ``cuts``, all before the last question: so it stays, and its whole turn however long that is."""
    count = len(sums) - 1
    wished = max(cut for cut in cuts if cut == 0 or cut <= count - limits.protect_last)
    most = limits.share(TAIL_SHARE)
    return next((cut for cut in cuts if cut >= wished and sums[-1] - sums[cut] <= most), cuts[-1])


def _last_question(messages: Sequence[TranscriptMessage], after: int) -> int:
    """What a person said to the bot last or, if nobody did, what somebody said."""
    people = [index for index in range(after, len(messages)) if messages[index].role == "user"]
    said = [index for index in people if messages[index].kind is Kind.SAID]
    return (said or people or [after])[-1]
