"""Where coverage follows a test: through the product, and not through what is gone through a thousand times.

Following makes everything twice as slow. So it rests while a property's examples are made, and in tests marked
``unfollowed``, which go again and again through lines that other tests reach too. Resting takes a tracer off its thread
and keeps it: one that is made while the watch over the loop is on would take a watched lock for its own.
"""

import functools
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Protocol

import pytest


class Tracer(Protocol):
    """Coverage's own, as far as it is needed here."""

    def start(self) -> object: ...
    def stop(self) -> None: ...


class Handle(Protocol):
    """What Hypothesis gives those who run its tests."""

    inner_test: Callable[..., object]


def _tracer() -> Tracer | None:
    tracer: object = sys.gettrace()
    return tracer if hasattr(tracer, "start") and hasattr(tracer, "stop") else None  # pyright: ignore[reportReturnType] - just asked


@contextmanager
def resting(tracer: Tracer) -> Generator[None]:
    """Threads that start meanwhile are not followed either."""
    in_threads = threading.gettrace()
    tracer.stop()
    threading.settrace(None)  # pyright: ignore[reportArgumentType] - which takes the function away
    try:
        yield
    finally:
        threading.settrace(in_threads)  # pyright: ignore[reportArgumentType] - as it was
        tracer.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    tracer, handle = _tracer(), _handle(item)
    is_unfollowed = item.get_closest_marker("unfollowed") is not None
    if tracer is None or not (is_unfollowed or handle):
        return (yield)
    examples = nullcontext() if is_unfollowed or handle is None else followed_examples(tracer, handle)
    with examples, resting(tracer):
        return (yield)


def _handle(item: pytest.Item) -> Handle | None:
    return getattr(getattr(item, "obj", None), "hypothesis", None)


@contextmanager
def followed_examples(tracer: Tracer, handle: Handle) -> Generator[None]:
    """The test itself is followed, for each of its examples."""
    example, in_threads = handle.inner_test, threading.gettrace()

    @functools.wraps(example)
    def followed(*given: object, **named: object) -> object:
        threading.settrace(in_threads)  # pyright: ignore[reportArgumentType] - as it was
        tracer.start()
        try:
            return example(*given, **named)
        finally:
            tracer.stop()
            threading.settrace(None)  # pyright: ignore[reportArgumentType] - which takes the function away

    handle.inner_test = followed
    try:
        yield
    finally:
        handle.inner_test = example
