"""Embeddings of one scope and one model as a store keeps them, and how close each is to a query's."""

import importlib
import math
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from memory.authors import named_authors
from memory.fusion import FEW_VECTORS

MOST_TABLES = 4
"""Of one scope that stay in memory: its records have vectors of one model, and a question may name any."""


def packed(values: Sequence[float]) -> bytes:
    """``values`` as 32-bit floats in the machine's order. Raises ``ValueError`` for none and for what is no number."""
    numbers = array("f", values)
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ValueError("a vector needs at least one dimension, and finite numbers only")
    return numbers.tobytes()


def packed_alike(vectors: Mapping[str, Sequence[float]], dimension: int | None) -> dict[str, bytes]:
    """``vectors`` packed. Raises ``ValueError`` unless all have ``dimension``, or else the same one."""
    dimensions = {len(values) for values in vectors.values()}
    if dimension is not None:
        dimensions.add(dimension)
    if len(dimensions) > 1:
        raise ValueError(f"vectors of one model have one dimension, not {sorted(dimensions)}")
    return {each: packed(values) for each, values in vectors.items()}


def numpy_if_there() -> ModuleType | None:
    """It comes with the extra for dense scores; without it the arithmetic is only slower."""
    try:
        return importlib.import_module("numpy")
    except ModuleNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class KeptVector:
    """A record's embedding as a row holds it: 32-bit floats in the machine's order."""

    record_id: str
    author: str | None
    data: bytes


class VectorTable:
    """Vectors of one model and one dimension by record id, ready to be compared.

    What all of them have in common is taken away before: it says what the scope is about, and tells its records apart
    as little as a word does that each of them has (Mu and Viswanath, All-but-the-Top, 2018). Of few vectors the
    average tells little, so it counts as if ``FEW_VECTORS`` more pointed nowhere.

    What the records of an author have in common is likewise taken away from a question that names this author: who
    said something is told by the name, and the vectors are to tell what is asked about.
    """

    def __init__(
        self, vectors: Iterable[KeptVector], *, find_numpy: Callable[[], ModuleType | None] = numpy_if_there
    ) -> None:
        self._ids: list[str] = []
        rows: list[array[float]] = []
        self._said: dict[str | None, list[int]] = {}
        """The places of each author's records."""
        self._voices: dict[str, array[float]] = {}
        for kept in vectors:
            row = array("f", kept.data)
            if any(row):
                self._said.setdefault(kept.author, []).append(len(rows))
                self._ids.append(kept.record_id)
                rows.append(_unit(row))
        self._numpy = find_numpy() if rows else None
        self._common = array("f", (sum(column) / (len(rows) + FEW_VECTORS) for column in zip(*rows, strict=True)))
        self._rows = [_without(self._common, row) for row in rows]
        self._matrix = None if self._numpy is None else self._numpy.array(self._rows, dtype="float32")

    def __len__(self) -> int:
        return len(self._ids)

    def similarity(self, query: Sequence[float], terms: Collection[str] = ()) -> dict[str, float]:
        """Cosine of what sets ``query`` and each record apart. ``terms`` are those of the question that was embedded.

        Nothing for a query without direction or of another dimension.
        """
        if not self._rows or len(query) != len(self._common) or not any(query):
            return {}
        own = _without(self._common, _unit(query))
        for author in sorted(named_authors(self._said, terms)):
            own = self._turned_from(author, own)
        if self._numpy is not None and self._matrix is not None:
            cosines: list[float] = (self._matrix @ self._numpy.array(own, dtype="float32")).tolist()
            return dict(zip(self._ids, cosines, strict=True))
        return {
            record_id: sum(ours * theirs for ours, theirs in zip(row, own, strict=True))
            for record_id, row in zip(self._ids, self._rows, strict=True)
        }

    def _turned_from(self, author: str, own: "array[float]") -> "array[float]":
        """``own`` without its share of the author's voice, of which few records tell little."""
        voice = self._voices.get(author)
        if voice is None:
            columns = zip(*(self._rows[place] for place in self._said[author]), strict=True)
            sums = [sum(column) for column in columns]
            voice = self._voices[author] = _unit(sums) if any(sums) else array("f", sums)
        count = len(self._said[author])
        share = sum(ours * theirs for ours, theirs in zip(own, voice, strict=True)) * count / (count + FEW_VECTORS)
        return _unit([value - share * heard for value, heard in zip(own, voice, strict=True)])


def keep_table(tables: dict[tuple[str, int], VectorTable], space: tuple[str, int], table: VectorTable) -> None:
    """``tables`` by model and dimension; the one that was made longest ago makes room."""
    if len(tables) >= MOST_TABLES:
        del tables[next(iter(tables))]
    tables[space] = table


def _without(common: Sequence[float], unit: Sequence[float]) -> "array[float]":
    """The rest, of length one; there is one, for an average that counts too many is shorter than one."""
    return _unit([value - shared for value, shared in zip(unit, common, strict=True)])


def _unit(values: Sequence[float]) -> "array[float]":
    length = math.hypot(*values)
    return array("f", (value / length for value in values))
