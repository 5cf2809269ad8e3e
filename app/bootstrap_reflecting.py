"""The part of the composition root that has memory learn from finished turns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.agents.extractor import Extracting, ModelExtractor
from app.background import Background
from app.bootstrap_memory import ranker_of
from app.bootstrap_state import State
from app.bootstrap_talking import defaults_of, prices_of
from app.clock import Clock
from app.dispatch.notices import NoticeMode, Notices
from app.dispatch.ports import Models
from app.dispatch.reflecting import Reflecting
from app.dispatch.thread_before import TranscriptThread
from app.dispatch.unlearning import Unlearning
from app.sessions.housekeeping import PASS_S, Job
from config.settings import Settings
from memory.gate import is_noise, looks_like_instruction
from memory.learning import Rules
from memory.outcome import Batch, Outcome
from memory.ranker import Ranker
from memory.redact import redact
from memory.reflector import Course, Reflector, Review, Thread
from memory.store import MemoryStore
from memory.turn import FinishedTurn


@dataclass(frozen=True, slots=True)
class Learning:
    """What looks at finished turns, and what tells people about it."""

    reflecting: Reflecting
    notices: Notices

    def unlearning(self, state: State) -> Unlearning:
        return Unlearning(state.erasures, state.reviews, self.reflecting.withdraw, self.notices.retract)

    def job(self) -> Job:
        """What could not be written at once is tried again now and then."""
        return Job("reflections_tried_again", PASS_S, self.reflecting.work_off)


@dataclass(frozen=True, slots=True)
class TurnReflector:
    """Implements ``app.dispatch.reflecting.Reflects``: every turn is accounted for on its own."""

    store: MemoryStore
    ranker: Ranker
    extracting: Extracting
    thread: Thread
    review: Review
    model: str | None = None
    """Looks at every turn; ``None`` is the model that answered it."""

    async def reflect(self, turn: FinishedTurn, course: Course) -> Outcome:
        return await self._reflector(turn).reflect(turn, course)

    async def write_again(self, turn: FinishedTurn, unwritten: Sequence[Batch]) -> Outcome:
        return await self._reflector(turn).write_again(turn, unwritten)

    def _reflector(self, turn: FinishedTurn) -> Reflector:
        reference = self.model or turn.model or self.extracting.reference
        extractor = ModelExtractor(replace(self.extracting, reference=reference), turn)
        rules = Rules(redact, is_noise, looks_like_instruction)
        return Reflector(self.store, extractor, self.ranker, rules, thread=self.thread, review=self.review)


def learning_of(
    settings: Settings, state: State, store: MemoryStore, models: Models, clock: Clock, background: Background
) -> Learning | None:
    """``None`` where nothing is learned from turns: memory is off, or learns only what it is told."""
    memory = settings.memory
    if not memory.enabled or memory.mode != "passive":
        return None
    extracting = Extracting(models, defaults_of(settings).model, state.usage, clock, prices_of(settings))
    thread = TranscriptThread(state.sessions, state.erasures)
    reflector = TurnReflector(store, ranker_of(settings), extracting, thread, state.reviews, memory.model)
    notices = Notices(store, NoticeMode(memory.notice), clock, state.erasures)
    reflecting = Reflecting(state.reflections, reflector, clock, background.spawn, notices.tell)
    return Learning(reflecting, notices)
