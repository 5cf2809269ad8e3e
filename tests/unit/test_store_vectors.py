"""Embeddings as a store keeps and compares them, with numpy and without."""

from cmath import phase
from collections.abc import Callable
from math import cos
from types import ModuleType

import pytest

from memory.fusion import FEW_VECTORS
from memory.stores.vectors import VectorTable, numpy_if_there, packed, packed_alike

VECTORS = {"a": (1.0, 0.0), "b": (3.0, 4.0), "none": (0.0, 0.0), "c": (-2.0, 0.0)}


def without() -> ModuleType | None:
    return None


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_similarity_is_the_cosine_of_the_angle_as_seen_from_the_average(
    find_numpy: Callable[[], ModuleType | None],
) -> None:
    table = VectorTable([(name, packed(values)) for name, values in VECTORS.items()], find_numpy=find_numpy)
    average = complex(1.0 + 0.6 - 1.0, 0.8) / (3 + FEW_VECTORS)
    asked = phase(1 - average)
    expected = {"a": 1.0, "b": cos(phase(0.6 + 0.8j - average) - asked), "c": cos(phase(-1 - average) - asked)}
    assert table.similarity((10.0, 0.0)) == pytest.approx(expected)
    for incomparable in ((0.0, 0.0), (1.0,), (), (1.0, 0.0, 0.0)):
        assert table.similarity(incomparable) == {}


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_what_all_records_have_in_common_makes_none_of_them_closer(
    find_numpy: Callable[[], ModuleType | None],
) -> None:
    alike = [(f"{number}", packed((10.0, 1.0 - number % 2, number % 2))) for number in range(200)]
    similarity = VectorTable(alike, find_numpy=find_numpy).similarity((10.0, 1.0, 0.0))
    assert similarity["0"] == similarity["198"] == pytest.approx(1.0)
    assert similarity["1"] == similarity["199"] < 0.7, "their plain cosine is 0.99"


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
@pytest.mark.parametrize("count", [1, 1000])
def test_records_that_are_all_the_same_can_be_compared(find_numpy: Callable[[], ModuleType | None], count: int) -> None:
    same = VectorTable([(f"{number}", packed((3.0, 4.0))) for number in range(count)], find_numpy=find_numpy)
    assert list(same.similarity((6.0, 8.0)).values()) == pytest.approx([1.0] * count)
    assert max(same.similarity((-4.0, 3.0)).values()) < 0.1


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
