"""The write path: one look at a finished turn, one call of a model, one write for each scope (sections 9 to 14)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import structlog
from structlog.contextvars import bound_contextvars

from memory.existing import Existence, Existing
from memory.extracted import Answer, Unusable, read_answer
from memory.extraction import Prompt, prompt_of, recent
from memory.grounding import ground_of
from memory.idempotency import key_of
from memory.learning import Known, Plan, Rules, plan_learning, recalled_among
from memory.occasion import unfit
from memory.outcome import Batch, Ending, Outcome, Remembered
from memory.ranker import Ranker
from memory.record import MemoryRecord, WriteCounts
from memory.scope import kind_of
from memory.store import MemoryStore, StoreUnavailableError
from memory.turn import FinishedTurn, Line

REFLECTION_FINISHED = "reflection_finished"

UNREADABLE = "store_unreadable"
"""No scope could be looked into, so no model was asked: the turn may be looked at again at no double cost."""
UNTAKEN = "store_refused"
"""What was to be written is nothing the store takes."""
LATEST = 20
"""Others may write while the new records are looked for by their run."""

_log = structlog.stdlib.get_logger(__name__)


class ExtractionError(Exception):
    """The model brought no answer. Its text names no words of the conversation."""


class Extractor(Protocol):
    """Asks the extracting model, once. Adapters: a model provider of the bot, a script in tests."""

    async def __call__(self, prompt: Prompt) -> Answer:
        """The whole answer. Raises ``ExtractionError`` when there is none; makes no retry of its own."""
        ...


class Thread(Protocol):
    """What a conversation had said before a turn. Adapters: the bot's transcripts, a list in tests."""

    async def before(self, turn: FinishedTurn) -> Sequence[Line]:
        """Oldest first, as far as it can be told; its end is what counts. Never raises."""
        ...


class Review(Protocol):
    """Takes in what looks like an instruction, for a person to decide about."""

    async def hand_in(self, turn: FinishedTurn, batches: Sequence[Batch]) -> None:
        """Keep what would have been written where. Raises ``StoreUnavailableError`` when it cannot."""
        ...


class Course(Protocol):
    """Hears how far a look has come, so that whoever finds it broken off knows what is left to do.

    Adapters: rows of the bot's own database, nobody. What it raises ends the look.
    """

    async def asking(self) -> None:
        """The model is asked next."""
        ...

    async def learned(self, batches: Sequence[Batch]) -> None:
        """These are written next, and are all that is left to write; what waits for a person is handed in before."""
        ...


class Reflector:
    """Looks at finished turns. Makes one call of ``extractor`` for each, and never raises for what it cannot do."""

    def __init__(
        self,
        store: MemoryStore,
        extractor: Extractor,
        ranker: Ranker,
        rules: Rules,
        *,
        thread: Thread | None = None,
        review: Review | None = None,
    ) -> None:
        """Without ``review`` what looks like an instruction is counted and not kept."""
        self._store = store
        self._extractor = extractor
        self._existence = Existence(store, ranker)
        self._rules = rules
        self._thread = thread
        self._review = review

    async def reflect(self, turn: FinishedTurn, course: Course | None = None) -> Outcome:
        """Learn from ``turn``. Ends in one line of the log, with counts and reasons and no words."""
        with bound_contextvars(reference=turn.run_id):
            outcome = await self._reflected(turn, course)
            _tell(turn.run_id, outcome)
        return outcome

    async def write_again(self, turn: FinishedTurn, unwritten: Sequence[Batch]) -> Outcome:
        """Write what an earlier look at ``turn`` could not. Asks no model, and ends in one line of the log too."""
        with bound_contextvars(reference=turn.run_id):
            outcome = await self._written(turn.run_id, unwritten)
            _tell(turn.run_id, outcome)
        return outcome

    async def _reflected(self, turn: FinishedTurn, course: Course | None) -> Outcome:
        reason = unfit(turn)
        if reason is not None:
            return Outcome(Ending.SKIPPED, reason)
        earlier = await self._thread.before(turn) if self._thread is not None else ()
        lines = await asyncio.to_thread(recent, [*earlier, *turn.lines], self._rules.redact)
        existing = await self._existence.of(turn, lines)
        if existing.scopes == 0:
            return Outcome(Ending.SKIPPED, "no_scope")
        if existing.unread == existing.scopes:
            return Outcome(Ending.FAILED, UNREADABLE)
        prompt = await asyncio.to_thread(prompt_of, turn, lines, existing.records, self._rules.redact)
        if course is not None:
            await course.asking()
        try:
            async with asyncio.timeout(self._rules.extraction_s):
                answer = await self._extractor(prompt)
        except (ExtractionError, TimeoutError) as fault:
            return Outcome(Ending.FAILED, "timeout" if isinstance(fault, TimeoutError) else "model")
        decided = await asyncio.to_thread(self._decide, turn, lines, existing, answer)
        if isinstance(decided, Unusable):
            return Outcome(Ending.REJECTED, decided)
        return await self._learned(turn, *decided, course)

    async def _learned(self, turn: FinishedTurn, offered: int, plan: Plan, course: Course | None) -> Outcome:
        batches, held = plan.batches(), plan.held_batches()
        if (batches or held) and course is not None:
            await course.learned(batches)
        # Before the stores, which may take their time and come again.
        unreviewed = await self._handed_in(turn, held)
        written = await self._written(turn.run_id, batches)
        return replace(
            written,
            offered=offered,
            refused=dict(plan.refused),
            restated=plan.restated + written.restated,
            review=len(plan.held),
            narrowed=dict(plan.narrowed),
            unreviewed=unreviewed,
        )

    def _decide(
        self, turn: FinishedTurn, lines: Sequence[Line], existing: Existing, answer: Answer
    ) -> tuple[int, Plan] | Unusable:
        extracted = read_answer(answer, {record.id for record in existing.records}, self._rules.redact)
        if isinstance(extracted, Unusable):
            return extracted
        ground = ground_of(lines, recalled_among(existing.records, turn), turn.ended_at)
        known = Known(turn, ground, existing.records, existing.summaries)
        return extracted.offered, plan_learning(extracted, known, self._rules)

    async def _written(self, run_id: str, batches: Sequence[Batch]) -> Outcome:
        """Each scope by itself: one that cannot be written takes nothing from the others.

        Its key makes a batch count once whose first writing has ended without anybody knowing how. A store that says
        that a batch is none it can take would say so every time: that batch is counted, and not tried again.
        """
        remembered: list[Remembered] = []
        unwritten: list[Batch] = []
        untaken = 0
        for batch in batches:
            try:
                key = key_of(run_id, batch.scope_key, batch.candidates)
                counts = await self._store.write(batch.scope_key, batch.candidates, idempotency_key=key)
            except StoreUnavailableError:
                unwritten.append(batch)
            except ValueError:
                untaken += 1
            else:
                remembered.append(await self._remembered(run_id, batch, counts))
        again = sum(each.counts.restated + each.counts.deduped for each in remembered)
        ending = Ending.WRITTEN if remembered else Ending.FAILED if unwritten or untaken else Ending.NOTHING
        return Outcome(
            ending,
            "store" if unwritten else UNTAKEN if untaken else None,
            restated=again,
            remembered=tuple(remembered),
            unwritten=tuple(unwritten),
            untaken=untaken,
        )

    async def _remembered(self, run_id: str, batch: Batch, counts: WriteCounts) -> Remembered:
        new = await self._new_records(run_id, batch, counts.inserted) if counts.inserted else []
        return Remembered(
            batch.scope_key,
            kind_of(batch.scope_key),
            counts,
            tuple(record.id for record in new),
            tuple(record.id for record in new if record.is_standing),
        )

    async def _new_records(self, run_id: str, batch: Batch, inserted: int) -> list[MemoryRecord]:
        """The records this batch made, oldest first; none when the store cannot tell any more."""
        texts = {candidate.text for candidate in batch.candidates}
        try:
            latest = await self._store.list(batch.scope_key, inserted + LATEST)
        except StoreUnavailableError:
            return []
        own = [record for record in latest if record.source_run_id == run_id and record.text in texts]
        return own[:inserted][::-1]

    async def _handed_in(self, turn: FinishedTurn, held: Sequence[Batch]) -> tuple[Batch, ...]:
        """What waits for a person and could not be handed to anybody."""
        if not held or self._review is None:
            return ()
        try:
            await self._review.hand_in(turn, held)
        except StoreUnavailableError:
            return tuple(held)
        return ()


def _tell(run_id: str, outcome: Outcome) -> None:
    _log.info(
        REFLECTION_FINISHED,
        run=run_id,
        ending=outcome.ending,
        reason=outcome.reason,
        offered=outcome.offered,
        inserted=outcome.learned,
        restated=outcome.restated,
        superseded=sum(each.counts.superseded for each in outcome.remembered),
        evicted=sum(each.counts.evicted for each in outcome.remembered),
        refused=dict(outcome.refused),
        narrowed=dict(outcome.narrowed),
        review=outcome.review,
        unwritten_scopes=len(outcome.unwritten),
        untaken_scopes=outcome.untaken,
    )
