"""Embeddings as a store keeps and compares them, with numpy and without."""

from cmath import phase
from collections.abc import Callable, Mapping, Sequence
from math import cos
from types import ModuleType

import pytest

from memory.fusion import FEW_VECTORS
from memory.stores.vectors import KeptVector, VectorTable, numpy_if_there, packed, packed_alike

VECTORS = {"a": (1.0, 0.0), "b": (3.0, 4.0), "none": (0.0, 0.0), "c": (-2.0, 0.0)}


FindNumpy = Callable[[], ModuleType | None]


def without() -> ModuleType | None:
    return None


def table_of(
    vectors: Mapping[str, Sequence[float]], find_numpy: FindNumpy, authors: Mapping[str, str] | None = None
) -> VectorTable:
    kept = [KeptVector(name, (authors or {}).get(name), packed(values)) for name, values in vectors.items()]
    return VectorTable(kept, find_numpy=find_numpy)


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_similarity_is_the_cosine_of_the_angle_as_seen_from_the_average(
    find_numpy: FindNumpy,
) -> None:
    table = table_of(VECTORS, find_numpy)
    average = complex(1.0 + 0.6 - 1.0, 0.8) / (3 + FEW_VECTORS)
    asked = phase(1 - average)
    expected = {"a": 1.0, "b": cos(phase(0.6 + 0.8j - average) - asked), "c": cos(phase(-1 - average) - asked)}
    assert table.similarity((10.0, 0.0)) == pytest.approx(expected)
    for incomparable in ((0.0, 0.0), (1.0,), (), (1.0, 0.0, 0.0)):
        assert table.similarity(incomparable) == {}


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_what_all_records_have_in_common_makes_none_of_them_closer(
    find_numpy: FindNumpy,
) -> None:
    alike = {f"{number}": (10.0, 1.0 - number % 2, number % 2) for number in range(200)}
    similarity = table_of(alike, find_numpy).similarity((10.0, 1.0, 0.0))
    assert similarity["0"] == similarity["198"] == pytest.approx(1.0)
    assert similarity["1"] == similarity["199"] < 0.7, "their plain cosine is 0.99"


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
@pytest.mark.parametrize("count", [1, 1000])
def test_records_that_are_all_the_same_can_be_compared(find_numpy: FindNumpy, count: int) -> None:
    same = table_of({f"{number}": (3.0, 4.0) for number in range(count)}, find_numpy)
    assert list(same.similarity((6.0, 8.0)).values()) == pytest.approx([1.0] * count)
    assert max(same.similarity((-4.0, 3.0)).values()) < 0.1


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_no_vectors_are_close_to_nothing(find_numpy: FindNumpy) -> None:
    assert VectorTable([], find_numpy=find_numpy).similarity((1.0,), ("ana",)) == {}


def voices(size: int) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """Ana's records share the first direction, Bo's the second; every fourth one is about the third."""
    vectors = {f"{number}": (1.0 - number % 2, float(number % 2), float(number % 4 < 2)) for number in range(size)}
    return vectors, {name: ("Ana", "Bo")[int(name) % 2] for name in vectors}


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_a_named_author_is_no_reason_to_be_close(find_numpy: FindNumpy) -> None:
    """Record 1 is Bo's and about what is asked; record 2 is Ana's and is not."""
    vectors, authors = voices(400)
    table = table_of(vectors, find_numpy, authors)
    asked = (2.0, 0.0, 2.0)
    assert table.similarity(asked)["1"] < table.similarity(asked)["2"]
    named = table.similarity(asked, ("ana", "deploy"))
    assert named["1"] > named["2"]
    assert named["1"] == pytest.approx(named["0"], abs=0.1), "who said it is left to the names"
    assert table.similarity(asked, ("carl", "deploy")) == table.similarity(asked)


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_an_author_of_few_records_or_of_all_of_them_is_not_told_apart(find_numpy: FindNumpy) -> None:
    """One record's direction is what it says, and what everybody's records share is taken away already."""
    vectors, authors = voices(400)
    asked = (2.0, 0.0, 2.0)
    alone = table_of(vectors, find_numpy, dict.fromkeys(vectors, "Ana"))
    assert alone.similarity(asked, ("ana",)) == alone.similarity(asked)
    once = table_of(vectors, find_numpy, authors | {"0": "Carl"})
    assert once.similarity(asked, ("carl",)) == pytest.approx(once.similarity(asked), abs=0.05)


@pytest.mark.parametrize("find_numpy", [numpy_if_there, without])
def test_an_author_whose_records_point_everywhere_is_told_by_nothing(find_numpy: FindNumpy) -> None:
    opposite = {"a": (1.0, 0.0), "b": (-1.0, 0.0), "c": (0.0, 1.0), "d": (0.0, -1.0)}
    table = table_of(opposite, find_numpy, {"a": "Ana", "b": "Ana"})
    assert table.similarity((1.0, 1.0), ("ana",)) == table.similarity((1.0, 1.0))


@pytest.mark.parametrize("values", [(), (float("nan"),), (float("inf"), 1.0), (1e300,)])
def test_what_is_no_vector_is_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="finite"):
        packed(values)


def test_vectors_of_different_dimensions_are_refused_together() -> None:
    assert packed_alike({"a": (1.0, 2.0)}, None) == packed_alike({"a": (1.0, 2.0)}, 2)
    for vectors, dimension in (({"a": (1.0,), "b": (1.0, 2.0)}, None), ({"a": (1.0,)}, 2)):
        with pytest.raises(ValueError, match="one dimension"):
            packed_alike(vectors, dimension)
