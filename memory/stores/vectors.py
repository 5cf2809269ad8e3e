"""Embeddings of one scope and one model as a store keeps them, and how close each is to a query's."""

import importlib
import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType


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


class VectorTable:
    """Vectors of one model and one dimension by record id, ready to be compared; never changed."""

    def __init__(
        self, vectors: Iterable[tuple[str, bytes]], *, find_numpy: Callable[[], ModuleType | None] = numpy_if_there
    ) -> None:
        self._ids: list[str] = []
        self._rows: list[array[float]] = []
        for record_id, blob in vectors:
            row = array("f", blob)
            length = math.sqrt(sum(value * value for value in row))
            if length > 0:
                self._ids.append(record_id)
                self._rows.append(array("f", (value / length for value in row)))
        self._numpy = find_numpy() if self._rows else None
        self._matrix = None if self._numpy is None else self._numpy.array(self._rows, dtype="float32")

    def similarity(self, query: Sequence[float]) -> dict[str, float]:
        """Cosine of ``query`` and each record; nothing for a query without direction or of another dimension."""
        length = math.sqrt(sum(value * value for value in query))
        if not self._rows or len(query) != len(self._rows[0]) or not length:
            return {}
        unit = array("f", (value / length for value in query))
        if self._numpy is not None and self._matrix is not None:
            cosines: list[float] = (self._matrix @ self._numpy.array(unit, dtype="float32")).tolist()
            return dict(zip(self._ids, cosines, strict=True))
        return {
            record_id: sum(ours * theirs for ours, theirs in zip(row, unit, strict=True))
            for record_id, row in zip(self._ids, self._rows, strict=True)
        }
