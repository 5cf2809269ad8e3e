"""An embedder and a store of vectors that do what a test says."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory.embedder import EmbedderUnavailableError, TextsRefusedError
from memory.engine import mint_record
from memory.record import MemoryCandidate, MemoryRecord
from tests.fakes import EPOCH

MODEL = "fake/letters"


@dataclass(slots=True)
class FakeEmbedder:
    """Counts letters: texts that share words point the same way."""

    model: str = MODEL
    dimension: int | None = 26
    failure: Exception | None = None
    refused: set[str] = field(default_factory=set[str])
    most_texts: int = 1_000
    """More of them in one call are refused."""
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared while calls have to wait."""
    calls: list[list[str]] = field(default_factory=list[list[str]])

    def __post_init__(self) -> None:
        self.is_open.set()

    async def embed(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        self.calls.append(list(texts))
        await self.is_open.wait()
        if self.failure is not None:
            raise self.failure
        if len(texts) > self.most_texts or self.refused.intersection(texts):
            raise TextsRefusedError("too long")
        return [tuple(text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz") for text in texts]

    async def aclose(self) -> None:
        self.failure = EmbedderUnavailableError("closed")


@dataclass(slots=True)
class FakeKeeper:
    """Records of any scope and the vectors somebody kept for them."""

    records: dict[str, list[MemoryRecord]] = field(default_factory=dict[str, list[MemoryRecord]])
    vectors: dict[str, tuple[str, tuple[float, ...]]] = field(default_factory=dict[str, tuple[str, tuple[float, ...]]])
    looks: list[str] = field(default_factory=list[str])
    failure: Exception | None = None
    dimension: int = 26
    keeps: bool = True

    def add(self, scope_key: str, *texts: str) -> None:
        known = self.records.setdefault(scope_key, [])
        for text in texts:
            known.append(mint_record(scope_key, len(known) + 1, MemoryCandidate("fact", text, "slack:C1:1"), EPOCH))

    def bare(self, scope_key: str) -> list[str]:
        """Texts without a vector, oldest first."""
        return [record.text for record in self.records[scope_key] if record.id not in self.vectors]

    async def unembedded(self, scope_key: str, model: str, limit: int) -> Sequence[MemoryRecord]:
        self.looks.append(scope_key)
        if self.failure is not None:
            raise self.failure
        have = {each for each, (made_by, _) in self.vectors.items() if made_by == model}
        return [each for each in reversed(self.records.get(scope_key, [])) if each.id not in have][:limit]

    async def keep_vectors(self, scope_key: str, model: str, vectors: Mapping[str, tuple[float, ...]]) -> int:
        if any(len(values) != self.dimension for values in vectors.values()):
            raise ValueError("dimensions differ")
        active = {record.id for record in self.records[scope_key]} if self.keeps else set[str]()
        kept = {each: (model, values) for each, values in vectors.items() if each in active}
        self.vectors.update(kept)
        return len(kept)
