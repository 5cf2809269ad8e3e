"""The settings file, read with the line of every value."""

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Protocol

import yaml

from config.faults import Fault
from config.names import Path, find
from config.sources import Given, read_text, unknown

_MERGE = "tag:yaml.org,2002:merge"
_NULL = "tag:yaml.org,2002:null"

SECRETS = frozenset({"api_key", "token"})
"""Settings that only a variable can give; another setting names it."""


def yaml_values(file: FilePath, label: str) -> Iterator[Given | Fault]:
    """Every setting ``file`` gives, in its order; one without a value counts as not given.

    ``label`` is what an operator knows the file by.
    """
    text = read_text(file, label)
    if isinstance(text, Fault):
        yield text
        return
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        yield _malformed(error, label)
        return
    if isinstance(node, yaml.MappingNode):
        yield from _Walk(loader, label).section(node, ())
    elif node is not None:
        yield Fault((), label, "must hold settings as `name: value` lines")


class _Constructor(Protocol):
    """What the walk needs of PyYAML's loader."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Put what a ``<<`` key merges into the mapping's own pairs."""
        ...

    def construct_object(self, node: yaml.Node, *, deep: bool) -> object: ...


class _Walk:
    """One way through a parsed file."""

    def __init__(self, loader: _Constructor, label: str) -> None:
        self._loader = loader
        self._label = label

    def section(self, node: yaml.MappingNode, path: Path) -> Iterator[Given | Fault]:
        yield from self._repeated(node, path)
        self._loader.flatten_mapping(node)
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield Fault(path, self._origin(key), "a name must be plain text")
            elif value.tag != _NULL:
                yield from self._entry((*path, key.value), key, value)

    def _entry(self, path: Path, key: yaml.Node, value: yaml.Node) -> Iterator[Given | Fault]:
        place = find(path)
        origin = self._origin(key)
        if place is None:
            yield Fault(path, origin, unknown(path))
        elif place.is_setting:
            yield self._setting(path, value, origin)
        elif isinstance(value, yaml.MappingNode):
            yield from self.section(value, path)
        else:
            yield Fault(path, origin, "is a group of settings: indent `name: value` lines below it")

    def _setting(self, path: Path, value: yaml.Node, origin: str) -> Given | Fault:
        if path[-1] in SECRETS:
            hint = f"put it in an environment variable and name that variable in {path[-1]}_env"
            return Fault(path, origin, f"a secret does not belong into the file; {hint}")
        try:
            return Given(path, self._loader.construct_object(value, deep=True), origin)
        except (yaml.YAMLError, ValueError):
            return Fault(path, origin, "the value cannot be read; put it in quotes")

    def _repeated(self, node: yaml.MappingNode, path: Path) -> Iterator[Fault]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if key.value in seen:
                yield Fault((*path, key.value), self._origin(key), "is set twice; keep one")
            seen.add(key.value)

    def _origin(self, node: yaml.Node) -> str:
        return f"{self._label} line {node.start_mark.line + 1}"


def _malformed(error: yaml.YAMLError, label: str) -> Fault:
    """The parser's own finding without its excerpt of the file, which may hold a secret."""
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    if mark is None:
        return Fault((), label, "is not YAML: it holds a character that YAML does not allow")
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else None
    where = f"{label} line {mark.line + 1}, column {mark.column + 1}"
    return Fault((), where, f"is not YAML: {problem or 'unexpected text'}")
