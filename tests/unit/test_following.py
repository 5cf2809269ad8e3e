"""Coverage follows what is the product's and the examples of a property, rests around them, and goes on afterwards."""

import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import pytest

from tests import following as hooks
from tests.following import FollowedImports, Following, unmeasured


@dataclass(slots=True)
class Tracer:
    """Coverage's, as far as it is asked here."""

    said: list[str]

    def start(self) -> None:
        self.said.append("follows")

    def stop(self) -> None:
        self.said.append("rests")


@dataclass(slots=True)
class Property:
    """What Hypothesis tells of a test."""

    inner_test: Callable[..., object]
    said: list[str] = field(default_factory=list[str])


def test_what_rests_goes_on_whatever_happens_meanwhile() -> None:
    tracer, in_threads = Tracer([]), threading.gettrace()
    with suppress(LookupError), Following(tracer).resting():
        assert (tracer.said, threading.gettrace()) == (["rests"], None)
        raise LookupError
    assert (tracer.said, threading.gettrace()) == (["rests", "follows"], in_threads)


def test_what_is_followed_within_what_rests_is_followed_once_however_deep() -> None:
    tracer, in_threads = Tracer([]), threading.gettrace()
    following = Following(tracer)
    with following.resting(), following.resting():
        with following.on(), following.on():
            assert (tracer.said, threading.gettrace()) == (["rests", "follows"], in_threads)
        assert (tracer.said, threading.gettrace()) == (["rests", "follows", "rests"], None)
    assert tracer.said == ["rests", "follows", "rests", "follows"]


def test_each_example_is_followed_and_what_makes_it_is_not() -> None:
    said, in_threads = list[str](), threading.gettrace()

    def example(number: int) -> None:
        assert threading.gettrace() == in_threads
        said.append(f"example {number}")

    tracer, given = Tracer(said), Property(example)
    with Following(tracer).examples(given):
        for number in range(2):
            given.inner_test(number)
            assert threading.gettrace() is None
    assert given.inner_test is example
    assert said == ["rests", "follows", "example 0", "rests", "follows", "example 1", "rests", "follows"]


@dataclass(frozen=True, slots=True)
class Node:
    """A test, as far as it is asked here; what pytest keeps for its plugins is ``stash``."""

    marks: frozenset[str]
    stash: pytest.Stash

    @property
    def config(self) -> "Node":
        return self

    @property
    def node(self) -> "Node":
        return self

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


@dataclass(frozen=True, slots=True)
class Made:
    """A fixture's definition."""

    scope: str


def said_while(hook: Callable[..., Generator[None, Any, object]], *given: object, **marked: bool) -> list[str]:
    """What the tracer of a resting test run is told before pytest does what ``hook`` is around."""
    tracer, stash = Tracer([]), pytest.Stash()
    following = stash[hooks._FOLLOWING] = Following(tracer)  # pyright: ignore[reportPrivateUsage]
    node = Node(frozenset(name for name, is_set in marked.items() if is_set), stash)
    with following.resting():
        around = hook(*given, node)
        next(around)
        said = tracer.said[1:]
        with suppress(StopIteration):
            around.send(None)
    return said


@pytest.mark.parametrize(
    ("scope", "unfollowed", "said"),
    [
        ("function", False, ["follows"]),
        ("function", True, []),
        ("module", True, ["follows"]),
        ("session", True, ["follows"]),
    ],
)
def test_what_is_made_for_an_unfollowed_test_alone_is_not_followed(
    *, scope: str, unfollowed: bool, said: list[str]
) -> None:
    assert said_while(hooks.pytest_fixture_setup, Made(scope), unfollowed=unfollowed) == said


def test_an_unfollowed_test_is_not_followed() -> None:
    assert said_while(hooks.pytest_runtest_call, unfollowed=True) == []
    assert said_while(hooks.pytest_runtest_call, unfollowed=False) == ["follows"]


def test_processes_are_measured_again_whatever_happens_meanwhile() -> None:
    environ = {"PATH": "/bin", "COVERAGE_PROCESS_CONFIG": "{}"}
    with suppress(LookupError), unmeasured(environ):
        assert environ == {"PATH": "/bin"}
        raise LookupError
    assert environ == {"PATH": "/bin", "COVERAGE_PROCESS_CONFIG": "{}"}


def test_a_module_of_the_product_is_followed_when_it_is_imported_and_no_other(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}.py").write_text("import threading; trace = threading.gettrace()", encoding="utf-8")
    tracer, in_threads = Tracer([]), threading.gettrace()
    following = Following(tracer)
    finder = FollowedImports(following, {"ours"})
    with following.resting():
        assert finder.find_spec("theirs", [str(tmp_path)]) is None
        spec = finder.find_spec("ours", [str(tmp_path)])
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.trace == in_threads
        assert tracer.said == ["rests", "follows", "rests"]
