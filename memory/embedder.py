"""What turns texts into vectors: the embedder's port, what can go wrong with it, and what every adapter sees to."""

import math
from collections.abc import Sequence
from typing import Protocol

from memory.record import TEXT_CHARS, MemoryRecord
from memory.text import storable

MOST_DIMENSIONS = 16_384
"""More than any model has; what says more is broken, and would fill the store."""


class EmbedderMissingError(Exception):
    """There is no such embedder here. The text tells the operator what to install or to set."""


class EmbedderUnavailableError(Exception):
    """No vectors this time; calling again later may help. The text is for logs and repeats nothing of the texts.

    ``retry_after_s`` is how long the embedder asks to be left alone, if it said so.
    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TextsRefusedError(EmbedderUnavailableError):
    """At least one of these very texts is refused, and will be again; others may do."""


class Embedder(Protocol):
    """Adapters: a local ONNX model, any OpenAI-compatible endpoint."""

    @property
    def model(self) -> str:
        """Names whatever made a vector: vectors of equal names can be compared, and stay so after a restart."""
        ...

    @property
    def dimension(self) -> int | None:
        """Length of every vector; ``None`` until the first one was made."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[tuple[float, ...]]:
        """A vector of length one for each text, in order, all or none. Only the beginning of a long text counts.

        Texts may be any but blank ones. Raises ``EmbedderUnavailableError``, also once closed; ``TextsRefusedError``
        if the texts are to blame. Calls may run side by side, and cancelling one harms no other.
        """
        ...

    async def aclose(self) -> None:
        """Release what is open; calling it again does nothing."""
        ...


def embedded_text(record: MemoryRecord) -> str:
    """What of a record goes into its vector: its text, and before it who said so unless the text says it itself."""
    if record.author and record.author.lower() not in record.text.lower():
        return f"{record.author}: {record.text}"
    return record.text


def legible(text: str) -> str:
    """``text`` as any tokenizer and any wire takes it, cut to what a record may have."""
    return storable(text[:TEXT_CHARS])


def unit_vectors(
    rows: Sequence[Sequence[float]], *, count: int, dimension: int | None = None
) -> list[tuple[float, ...]]:
    """``rows`` scaled to length one.

    Raises ``ValueError`` unless there are ``count`` of them, all of one length (``dimension``, if it is known),
    finite and not zero.
    """
    if len(rows) != count:
        raise ValueError(f"{len(rows)} vectors for {count} texts")
    expected = dimension or (len(rows[0]) if rows else 0)
    wrong = next((len(row) for row in rows if len(row) != expected), None)
    if wrong is not None:
        raise ValueError(f"a vector of {wrong} dimensions where {expected} are expected")
    if expected > MOST_DIMENSIONS:
        raise ValueError(f"vectors of {expected} dimensions, {MOST_DIMENSIONS} at most")
    return [_unit(row) for row in rows]


def _unit(row: Sequence[float]) -> tuple[float, ...]:
    length = math.hypot(*row)
    if not math.isfinite(length) or length == 0:
        raise ValueError("a vector that points nowhere")
    return tuple(value / length for value in row)
