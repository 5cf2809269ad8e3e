"""Embeddings as a store keeps and compares them, with numpy and without."""

from collections.abc import Callable
from types import ModuleType

import pytest

from memory.stores.vectors import VectorTable, numpy_if_there, packed, packed_alike

VECTORS = {"a": (1.0, 0.0), "b": (3.0, 4.0), "none": (0.0, 0.0), "c": (-2.0, 0.0)}


def without() -> ModuleType | None:
    return None


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_similarity_is_the_cosine_of_the_angle(find_numpy: Callable[[], ModuleType | None]) -> None:
    table = VectorTable([(name, packed(values)) for name, values in VECTORS.items()], find_numpy=find_numpy)
    assert table.similarity((10.0, 0.0)) == pytest.approx({"a": 1.0, "b": 0.6, "c": -1.0})
    for incomparable in ((0.0, 0.0), (1.0,), (), (1.0, 0.0, 0.0)):
        assert table.similarity(incomparable) == {}


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_no_vectors_are_close_to_nothing(find_numpy: Callable[[], ModuleType | None]) -> None:
    assert VectorTable([], find_numpy=find_numpy).similarity((1.0,)) == {}


@pytest.mark.parametrize("values", [(), (float("nan"),), (float("inf"), 1.0), (1e300,)])
def test_what_is_no_vector_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="finite"):
        packed(values)


def test_vectors_of_different_dimensions_are_refused_together() -> None:
    assert packed_alike({"a": (1.0, 2.0)}, None) == packed_alike({"a": (1.0, 2.0)}, 2)
    for vectors, dimension in (({"a": (1.0,), "b": (1.0, 2.0)}, None), ({"a": (1.0,)}, 2)):
        with pytest.raises(ValueError, match="one dimension"):
            packed_alike(vectors, dimension)
