"""A reflector with everything around it: stores, extractors that follow a script, turns as they end."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.agents.providers.base import ModelRequest, Turn
from app.agents.providers.offline_extraction import extraction_answer, is_extraction
from memory.extracted import Answer
from memory.extraction import Prompt
from memory.gate import is_noise, looks_like_instruction
from memory.learning import Rules
from memory.outcome import Batch
from memory.record import MemoryCandidate, MemoryRecord, WriteCounts
from memory.redact import redact
from memory.reflector import ExtractionError, Reflector, Review
from memory.relevance import RelevanceRanker
from memory.store import MemoryStore, StoreUnavailableError
from memory.stores.inprocess import InProcessStore
from memory.turn import FinishedTurn, Line, Role, Source

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ORG, REPO, CHANNEL, USER = "org:acme", "repo:acme/api", "channel:slack:C1", "user:slack:U1"
THREAD = "slack:C1:1.0"
SECRET = "sk-live-4f9a8b7c6d5e4f3a2b1c"


RULES = Rules(redact, is_noise, looks_like_instruction)


def said(text: str, who: str = "U1", *, at: datetime = NOON, source: Source = "said") -> Line:
    names = {"U1": "Alice", "U2": "Bob"}
    return Line("user", text, at, names[who], f"slack:{who}", source)


def answered(text: str, *, at: datetime = NOON, source: Source = "said") -> Line:
    return Line("assistant", text, at, source=source)


def a_turn(*lines: Line, **changes: Any) -> FinishedTurn:
    """A turn of Alice's in a public channel, in which a tool was used."""
    turn = FinishedTurn(
        session_key="agent:main:slack:C1",
        thread_key=THREAD,
        run_id="run-1",
        started_at=NOON,
        ended_at=NOON + timedelta(minutes=1),
        lines=lines,
        organization="acme",
        user_id="slack:U1",
        user_name="Alice",
        channel_id="slack:C1",
        visibility="public",
        tool_calls=1,
    )
    return replace(turn, **changes)


def line_of(role: Role, text: str) -> Line:
    return said(text) if role == "user" else answered(text)


def a_fact(text: str, **more: object) -> dict[str, object]:
    return {"text": text, "confidence": 0.9, **more}


def answer_of(*facts: Mapping[str, object], summary: object = None) -> str:
    return json.dumps({"facts": facts, "summary": summary})


@dataclass(slots=True)
class Scripted:
    """Answers in turn, the last one again and again; keeps what it was asked."""

    answers: Sequence[str | Answer | Exception]
    prompts: list[Prompt] = field(default_factory=list[Prompt])

    async def __call__(self, prompt: Prompt) -> Answer:
        self.prompts.append(prompt)
        answer = self.answers[min(len(self.prompts), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer) if isinstance(answer, str) else answer


class Offline:
    """The demo model's own extraction."""

    async def __call__(self, prompt: Prompt) -> Answer:
        request = ModelRequest("demo", (prompt.system,), (Turn("user", prompt.text),), 1_024)
        assert is_extraction(request)
        return Answer(extraction_answer(request))


class Never:
    """A model that does not answer."""

    async def __call__(self, prompt: Prompt) -> Answer:
        await asyncio.Event().wait()
        raise ExtractionError


class KeptReview:
    def __init__(self, *, is_down: bool = False) -> None:
        self.batches: list[Batch] = []
        self._is_down = is_down

    async def hand_in(self, turn: FinishedTurn, batches: Sequence[Batch]) -> None:
        if self._is_down:
            raise StoreUnavailableError("down")
        self.batches.extend(batches)


class Faulty(InProcessStore):
    """A store whose named scopes cannot be written, or read, for as long as they are named."""

    def __init__(self, *, unwritable: set[str] | None = None, unreadable: set[str] | None = None) -> None:
        super().__init__(ranker=RelevanceRanker(), now=lambda: NOON)
        self.unwritable = unwritable or set()
        self.unreadable = unreadable or set()
        self.picky: set[str] = set()
        """Scopes whose batches are refused for what they are."""
        self.batches: list[str] = []

    async def write(self, scope_key: str, candidates: Sequence[MemoryCandidate], **more: Any) -> WriteCounts:
        if scope_key in self.unwritable:
            raise StoreUnavailableError("down")
        if scope_key in self.picky:
            raise ValueError("the memory service refused /write")
        self.batches.append(scope_key)
        return await super().write(scope_key, candidates, **more)

    async def list(self, scope_key: str, limit: int, **narrowing: Any) -> Sequence[MemoryRecord]:
        if scope_key in self.unreadable:
            raise StoreUnavailableError("down")
        return await super().list(scope_key, limit, **narrowing)


class Before:
    """What a thread had said before."""

    def __init__(self, *lines: Line) -> None:
        self._lines = lines

    async def before(self, turn: FinishedTurn) -> Sequence[Line]:
        return self._lines


def a_reflector(
    store: MemoryStore,
    extractor: Any,
    *,
    thread: Before | None = None,
    review: Review | None = None,
    rules: Rules = RULES,
) -> Reflector:
    return Reflector(store, extractor, RelevanceRanker(), rules, thread=thread, review=review)


def a_store() -> Faulty:
    return Faulty()


async def active(store: MemoryStore, key: str) -> list[str]:
    """The texts of a scope's active records, oldest first."""
    return [record.text for record in reversed(await store.list(key, 100_000))]
