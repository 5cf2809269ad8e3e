"""Coverage follows the examples of a property, rests around them, and goes on afterwards."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.following import followed_examples, resting


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
    with suppress(LookupError), resting(tracer):
        assert (tracer.said, threading.gettrace()) == (["rests"], None)
        raise LookupError
    assert (tracer.said, threading.gettrace()) == (["rests", "follows"], in_threads)


def test_each_example_is_followed_and_what_makes_it_is_not() -> None:
    said, in_threads = list[str](), threading.gettrace()

    def example(number: int) -> None:
        assert threading.gettrace() == in_threads
        said.append(f"example {number}")

    tracer, given = Tracer(said), Property(example)
    with followed_examples(tracer, given), resting(tracer):
        for number in range(2):
            given.inner_test(number)
            assert threading.gettrace() is None
    assert given.inner_test is example
    assert said == ["rests", "follows", "example 0", "rests", "follows", "example 1", "rests", "follows"]
