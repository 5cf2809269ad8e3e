"""How much of the evidence a ranker finds: recall, hits and reciprocal rank over conversations."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Protocol

from benchmarks.figures import percentile
from benchmarks.locomo_reading import Conversation, Question, Statement
from memory.engine import mint_record
from memory.ranker import NO_SIMILARITY
from memory.record import MemoryCandidate, MemoryRecord
from memory.store import Hit

DEPTHS = (5, 8, 10, 20)
HIT_DEPTH = 10
_SCOPE = "org:locomo"
_ONE_DAY = datetime(2024, 1, 1, tzinfo=UTC)


class Corpus(StrEnum):
    """What is remembered: every turn of a dialogue as it was said, or the facts distilled from it."""

    TURNS = "turns"
    FACTS = "facts"


class Dates(StrEnum):
    """When it was remembered: all of it at once, or each session on its day."""

    EQUAL = "equal"
    REAL = "real"


class Ranks(Protocol):
    """The part of ``memory.ranker.Ranker`` that is measured."""

    def rank(
        self, records: Sequence[MemoryRecord], query: str, now: datetime, similarity: Mapping[str, float]
    ) -> list[Hit]: ...


Similarity = Callable[[str], Mapping[str, float]]
"""The cosine of a question and each record of one pool, by record id."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One conversation as one scope."""

    records: tuple[MemoryRecord, ...]
    evidence: Mapping[str, frozenset[str]]
    """The turns that a record is evidence of, by its id."""
    questions: tuple[Question, ...]
    asked_at: datetime


@dataclass(slots=True)
class Figures:
    """Sums over questions; recall is the share of a question's evidence among the first records."""

    questions: int = 0
    recalled: dict[int, float] = field(default_factory=lambda: dict.fromkeys(DEPTHS, 0.0))
    hits: int = 0
    reciprocal_ranks: float = 0.0
    times_s: list[float] = field(default_factory=list[float])

    def recall(self, depth: int) -> float:
        return self.recalled[depth] / self.questions

    def hit_rate(self) -> float:
        """How many questions have any of their evidence among the first ten."""
        return self.hits / self.questions

    def mean_reciprocal_rank(self) -> float:
        """Of the first record that is evidence, if it is among the first twenty."""
        return self.reciprocal_ranks / self.questions

    def time_s(self, percent: float) -> float:
        return percentile(self.times_s, percent)

    def count(self, found: Sequence[frozenset[str]], evidence: frozenset[str]) -> None:
        """Add a question: the turns that each record found stands for, best first."""
        self.questions += 1
        covered: set[str] = set()
        for rank, turns in enumerate(found[: max(DEPTHS)], 1):
            news = (turns & evidence) - covered
            if news and not covered:
                self.reciprocal_ranks += 1 / rank
                self.hits += rank <= HIT_DEPTH
            covered |= news
            for depth in DEPTHS:
                if rank <= depth:
                    self.recalled[depth] += len(news) / len(evidence)


def pool_of(conversation: Conversation, corpus: Corpus, dates: Dates) -> Pool:
    """Minted as the product does: who said it is the author, the session is the thread."""
    statements = conversation.turns if corpus is Corpus.TURNS else conversation.facts
    records = tuple(
        mint_record(_SCOPE, number, _candidate(statement), statement.said_at if dates is Dates.REAL else _ONE_DAY)
        for number, statement in enumerate(statements, 1)
    )
    evidence = {record.id: statement.turns for record, statement in zip(records, statements, strict=True)}
    asked_at = max((record.created_at for record in records), default=_ONE_DAY) + timedelta(days=1)
    return Pool(records, evidence, conversation.questions, asked_at)


def _candidate(statement: Statement) -> MemoryCandidate:
    thread = f"locomo:session:{statement.session}"
    return MemoryCandidate("fact", statement.text, thread, author=statement.speaker)


def measure(figures: Figures, pool: Pool, ranker: Ranks, similarity: Similarity | None = None) -> None:
    """Ask everything that is asked of ``pool``. A question's own vector is not part of the time."""
    for question in pool.questions:
        close = similarity(question.text) if similarity else NO_SIMILARITY
        began_s = time.perf_counter()
        hits = ranker.rank(pool.records, question.text, pool.asked_at, close)
        figures.times_s.append(time.perf_counter() - began_s)
        figures.count([pool.evidence[hit.record.id] for hit in hits], question.evidence)
