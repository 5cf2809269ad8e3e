"""Where coverage follows a test: through the product, and not through what is gone through a thousand times.

Following makes everything twice as slow. So it rests but where the product may be: in fixtures, in tests, and where a
module of ours is imported. It rests, too, while a property's examples are made, and in tests marked ``unfollowed``,
with what is made for one of them alone and the processes they start: they go again and again through lines that other
tests reach as well. Resting takes a tracer off its thread and keeps it: one that is made while the watch over the loop
is on would take a watched lock for its own.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable, Collection, Generator, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Protocol

import pytest

PRODUCT = ("app", "commands", "config", "memory")


class Tracer(Protocol):
    """Coverage's own, as far as it is needed here."""

    def start(self) -> object: ...
    def stop(self) -> None: ...


class Handle(Protocol):
    """What Hypothesis gives those who run its tests."""

    inner_test: Callable[..., object]


class Following:
    """One tracer, which rests until somebody asks for it."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._in_threads = threading.gettrace()
        self._is_resting = False

    @contextmanager
    def resting(self) -> Generator[None]:
        """Threads that start meanwhile are not followed either."""
        with self._turned(is_resting=True):
            yield

    @contextmanager
    def on(self) -> Generator[None]:
        with self._turned(is_resting=False):
            yield

    @contextmanager
    def examples(self, handle: Handle) -> Generator[None]:
        """A property rests, and is followed in each of its examples."""
        example = handle.inner_test

        @functools.wraps(example)
        def followed(*given: object, **named: object) -> object:
            with self.on():
                return example(*given, **named)

        handle.inner_test = followed
        try:
            with self.resting():
                yield
        finally:
            handle.inner_test = example

    @contextmanager
    def _turned(self, *, is_resting: bool) -> Generator[None]:
        before = self._is_resting
        self._turn(is_resting=is_resting)
        try:
            yield
        finally:
            self._turn(is_resting=before)

    def _turn(self, *, is_resting: bool) -> None:
        if is_resting is self._is_resting:
            return
        self._is_resting = is_resting
        threading.settrace(None if is_resting else self._in_threads)  # pyright: ignore[reportArgumentType] - as it was
        if is_resting:
            self._tracer.stop()
        else:
            self._tracer.start()


class FollowedImports:
    """Among the finders of modules: what a module of these packages does when it is imported is followed."""

    def __init__(self, following: Following, packages: Collection[str]) -> None:
        self._following = following
        self._packages = packages

    def find_spec(self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name.partition(".")[0] in self._packages else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _FollowedLoader(spec.loader, self._following)
        return spec


class _FollowedLoader(SourceFileLoader):
    def __init__(self, loader: SourceFileLoader, following: Following) -> None:
        super().__init__(loader.name, loader.path)
        self._following = following

    def exec_module(self, module: ModuleType) -> None:
        with self._following.on():
            super().exec_module(module)


@contextmanager
def unmeasured(environ: MutableMapping[str, str]) -> Generator[None]:
    """Nothing measures the processes that start meanwhile with ``environ``."""
    measuring = {name: environ.pop(name) for name in list(environ) if name.startswith("COVERAGE_")}
    try:
        yield
    finally:
        environ.update(measuring)


_FOLLOWING = pytest.StashKey[Following]()


def _following(config: pytest.Config) -> Following | None:
    """``None`` when nothing measures coverage."""
    if _FOLLOWING not in config.stash:
        tracer: object = sys.gettrace()
        if not (hasattr(tracer, "start") and hasattr(tracer, "stop")):
            return None
        config.stash[_FOLLOWING] = Following(tracer)  # pyright: ignore[reportArgumentType] - just asked
    return config.stash[_FOLLOWING]


def _resting(config: pytest.Config) -> AbstractContextManager[None]:
    following = _following(config)
    return nullcontext() if following is None else following.resting()


def _followed(config: pytest.Config) -> AbstractContextManager[None]:
    following = _following(config)
    return nullcontext() if following is None else following.on()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    following = _following(session.config)
    if following is None:
        return (yield)
    finder = FollowedImports(following, PRODUCT)
    sys.meta_path.insert(0, finder)
    try:
        with following.resting():
            return (yield)
    finally:
        sys.meta_path.remove(finder)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """The innermost: what began the measuring ends it around this."""
    with _resting(session.config):
        return (yield)


@contextmanager
def _left_alone(config: pytest.Config) -> Generator[None]:
    with _resting(config), unmeasured(os.environ):
        yield


def _is_unfollowed(node: pytest.Item) -> bool:
    return node.get_closest_marker("unfollowed") is not None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    is_for_one = fixturedef.scope == "function" and _is_unfollowed(request.node)
    with _left_alone(request.config) if is_for_one else _followed(request.config):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """The last one takes down what was made for all."""
    with _left_alone(item.config) if _is_unfollowed(item) and nextitem else _followed(item.config):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    following = _following(item.config)
    if following is None:
        return (yield)
    if _is_unfollowed(item):
        with _left_alone(item.config):
            return (yield)
    handle: Handle | None = getattr(getattr(item, "obj", None), "hypothesis", None)
    with following.on() if handle is None else following.examples(handle):
        return (yield)
