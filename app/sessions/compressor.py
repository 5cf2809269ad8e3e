"""Compresses conversations in place: a summary takes the place of their middle, under the same session id."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import structlog

from app.background import Background
from app.clock import Clock
from app.sessions.compression import (
    Cause,
    CoolDown,
    Limits,
    Lines,
    Plan,
    Step,
    added_since,
    first_step,
    fits,
    planned,
    scale_of,
    step_after_failure,
    tokens_in,
)
from app.sessions.compression_outcome import Foreseen, Outcome, Result
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.summariser import Conversation, NoSummary, Summariser
from app.sessions.summary import capped, fallback, summary_request
from app.sessions.transcript import Kind, TranscriptMessage

COMPRESSION_ENDED = "compression_ended"

_log = structlog.stdlib.get_logger(__name__)


class Transcripts(Protocol):
    """What a compression needs of the session store."""

    async def get(self, key: SessionKey) -> SessionEntry | None: ...

    async def update(self, key: SessionKey, *, last_prompt_tokens: int | None = None) -> None: ...

    async def load(self, session_id: SessionId) -> Sequence[TranscriptMessage]: ...

    async def rewrite(self, session_id: SessionId, messages: Sequence[TranscriptMessage]) -> None: ...


class BeforeLoss(Protocol):
    """Is offered what a compression takes out of sight. Its failing, or its taking long, stops nothing."""

    def __call__(self, key: SessionKey, messages: Sequence[TranscriptMessage], /) -> Coroutine[Any, Any, None]: ...


async def nobody(_key: SessionKey, _messages: Sequence[TranscriptMessage], /) -> None:
    """Implements ``BeforeLoss`` for a bot that learns nothing from what it compresses."""


@dataclass(frozen=True, slots=True)
class Ports:
    store: Transcripts
    summariser: Summariser
    background: Background
    clock: Clock
    before_loss: BeforeLoss = nobody


@dataclass(frozen=True, slots=True)
class Policy:
    protect_first: int = 3
    protect_last: int = 20
    before_loss_s: float = 10.0
    """How long a rewrite waits for ``BeforeLoss``, which goes on by itself after that."""


class Compressor:
    """One compression at a time for each session: who comes meanwhile waits, and then finds less to do.

    Cool-downs are kept in the process: after a restart a model that failed is asked again.
    """

    def __init__(self, ports: Ports, policy: Policy) -> None:
        self._ports = ports
        self._policy = policy
        self._places: dict[SessionId, _Place] = {}
        self._cool_downs: dict[SessionId, CoolDown] = {}

    async def compress(
        self,
        where: Conversation,
        *,
        focus: str | None = None,
        cause: Cause = Cause.THRESHOLD,
        keep_turns: int | None = None,
    ) -> Outcome:
        """Summarise what stands between the first and last messages, if there is something and the model can.

        ``focus`` is what the person cares about most. With ``keep_turns`` all is summarised but for so many turns at
        the end. A model that fails is an outcome. Raises
        ``ConfigurationError``, ``TranscriptUnreadableError`` and ``StateError``'s tree.
        """
        async with self._alone(where.session_id):
            work = await self._work(where, focus, cause, keep_turns)
            outcome = await self._carried_out(work)
        _log.info(
            COMPRESSION_ENDED,
            result=outcome.result.value,
            cause=cause.value,
            model=where.model,
            messages_before=outcome.messages_before,
            messages_after=outcome.messages_after,
            tokens_before=outcome.tokens_before,
            tokens_after=outcome.tokens_after,
        )
        return outcome

    async def foreseen(self, where: Conversation, *, keep_turns: int | None = None) -> Foreseen | None:
        """What ``compress`` would do for a person who asks now; ``None``: what is to stay leaves no room for it.

        Nothing is changed, and no model asked. Raises as ``compress`` does.
        """
        work = await self._work(where, None, Cause.COMMAND, keep_turns)
        match first_step(work.plan, work.cause, CoolDown(), self._ports.clock.monotonic(), work.limits):
            case Step.KEEP_FEWER:
                return None
            case Step.NOTHING:
                return work.foreseen((), work.messages)
            case _:
                return work.foreseen(work.plan.gone(), work.plan.ends())

    @asynccontextmanager
    async def _alone(self, session_id: SessionId) -> AsyncGenerator[None]:
        place = self._places.setdefault(session_id, _Place())
        place.members += 1
        try:
            async with place.turn:
                yield
        finally:
            place.members -= 1
            if place.members == 0:
                del self._places[session_id]

    async def _work(self, where: Conversation, focus: str | None, cause: Cause, keep_turns: int | None) -> "_Work":
        messages = tuple(await self._ports.store.load(where.session_id))
        entry = await self._entry(where)
        counted = 0 if entry is None else entry.last_prompt_tokens
        scale = scale_of(messages, counted, where.window, cause)
        limits = Limits(where.window, self._policy.protect_first, self._policy.protect_last, scale, keep_turns)
        return _Work(where, cause, focus, messages, limits, planned(messages, limits))

    async def _entry(self, where: Conversation) -> SessionEntry | None:
        """The conversation's, while it still stands at this session."""
        entry = await self._ports.store.get(where.session_key)
        return entry if entry is not None and entry.session_id == where.session_id else None

    async def _carried_out(self, work: "_Work") -> Outcome:
        now_s = self._ports.clock.monotonic()
        cool_down = self._cool_downs.get(work.where.session_id, CoolDown())
        match first_step(work.plan, work.cause, cool_down, now_s, work.limits):
            case Step.ASK:
                return await self._summarised(work, cool_down.asked(work.cause, now_s))
            case Step.FALL_BACK:
                return await self._shortened(work)
            case Step.CUT:
                return await self._rewritten(work, None, Result.CUT)
            case Step.KEEP_FEWER:
                return work.outcome(Result.TOO_MUCH_KEPT)
            case Step.WAIT:
                return replace(work.outcome(Result.COOLING_DOWN), retry_in_s=cool_down.until_s - now_s)
            case _:
                return work.outcome(Result.NOTHING)

    async def _summarised(self, work: "_Work", cool_down: CoolDown) -> Outcome:
        where, summariser = work.where, self._ports.summariser
        model = summariser.resolve(where.model)
        request = summary_request(work.plan, work.limits, model.model, work.focus)
        found = await summariser.summarise(model, request, where)
        if not isinstance(found, NoSummary):
            self._cool_downs.pop(where.session_id, None)
            return await self._rewritten(work, capped(found, work.limits.summary_tokens), Result.SUMMARISED)
        failed = self._fail(where.session_id, cool_down)
        if step_after_failure(work.cause, failed, was_too_long=found.was_too_long) is Step.FALL_BACK:
            return await self._shortened(work)
        return work.outcome(Result.FAILED)

    def _fail(self, session_id: SessionId, cool_down: CoolDown) -> CoolDown:
        """The cool-down that begins now; those that ended long ago are forgotten."""
        now_s = self._ports.clock.monotonic()
        self._cool_downs = {key: each for key, each in self._cool_downs.items() if not each.is_stale(now_s)}
        self._cool_downs[session_id] = cool_down.failed(now_s)
        return self._cool_downs[session_id]

    async def _shortened(self, work: "_Work") -> Outcome:
        return await self._rewritten(work, fallback(work.plan, work.limits), Result.SHORTENED)

    async def _rewritten(self, work: "_Work", summary: str | None, result: Result) -> Outcome:
        """The transcript with ``summary``, or without one when there is none or no room for it."""
        store, where = self._ports.store, work.where
        after = work.after(summary, self._ports.clock)
        if summary is not None and not fits(after, work.limits):
            after, result = work.plan.ends(), Result.CUT
        await self._offer(work)
        newer = added_since(work.messages, await store.load(where.session_id))
        if newer is None:
            return work.outcome(Result.OVERTAKEN)
        await store.rewrite(where.session_id, [*after, *newer])
        if await self._entry(where) is not None:
            # Until a provider has counted anew: the old count would have the next turn compress again.
            await store.update(where.session_key, last_prompt_tokens=work.estimate([*after, *newer]))
        return work.outcome(result, after)

    async def _offer(self, work: "_Work") -> None:
        """In a task of its own, which survives both its failure and its being waited for no longer."""
        offering = self._ports.before_loss(work.where.session_key, work.plan.gone())
        task = self._ports.background.spawn(offering, name="before_loss")
        await asyncio.wait({task}, timeout=self._policy.before_loss_s)


@dataclass(slots=True)
class _Place:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    members: int = 0


@dataclass(frozen=True, slots=True)
class _Work:
    where: Conversation
    cause: Cause
    focus: str | None
    messages: Lines
    limits: Limits
    plan: Plan

    def after(self, summary: str | None, clock: Clock) -> Lines:
        if summary is None:
            return self.plan.ends()
        return self.plan.with_summary(TranscriptMessage("user", summary, clock.now(), Kind.SUMMARY))

    def estimate(self, messages: Sequence[TranscriptMessage]) -> int:
        return round(tokens_in(messages) * self.limits.scale)

    def foreseen(self, gone: Lines, left: Lines) -> Foreseen:
        return Foreseen(len(gone), self.estimate(gone), len(left), self.estimate(left))

    def outcome(self, result: Result, after: Lines | None = None) -> Outcome:
        """``after`` is what became of the messages; without it they stayed."""
        left = self.messages if after is None else after
        before_tokens, left_tokens = self.estimate(self.messages), self.estimate(left)
        return Outcome(result, len(self.messages), len(left), before_tokens, left_tokens, fits(left, self.limits))
