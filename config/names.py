"""The names of all settings, read off the tree: what exists, how it is spelled, what was probably meant."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import get_args, get_origin

from pydantic import BaseModel

from config.settings import Settings

Path = tuple[str, ...]

PREFIX = "SWITCHBOARD_"
ANY_NAME = "*"
"""Stands in a path for a name the operator makes up."""


@dataclass(frozen=True, slots=True)
class Node:
    """A place in the tree: a section with fixed names, a section of made-up names, or (with neither) a setting."""

    fixed: Mapping[str, "Node"]
    entry: "Node | None" = None

    @property
    def is_setting(self) -> bool:
        return not self.fixed and self.entry is None

    def child(self, name: str) -> "Node | None":
        return self.fixed.get(name, self.entry)


@cache
def root() -> Node:
    return _node_of(Settings)


def _node_of(annotation: object) -> Node:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        return Node({name: _node_of(field.annotation) for name, field in fields})
    if get_origin(annotation) is dict:
        return Node({}, _node_of(get_args(annotation)[1]))
    return Node({})


def settings_below(node: Node, path: Path = ()) -> Iterator[Path]:
    """Every setting below ``node``, with ``ANY_NAME`` where the operator makes up a name."""
    if node.is_setting:
        yield path
    for name, child in node.fixed.items():
        yield from settings_below(child, (*path, name))
    if node.entry is not None:
        yield from settings_below(node.entry, (*path, ANY_NAME))


def dotted(path: Path) -> str:
    return ".".join(path)


def variable(path: Path) -> str:
    """The name of the environment variable that sets ``path``."""
    return PREFIX + "__".join(path).upper()


def path_of(variable_name: str) -> Path:
    """The path a ``SWITCHBOARD_`` variable spells, whether or not it exists."""
    return tuple(variable_name.removeprefix(PREFIX).lower().split("__"))


def find(path: Path) -> Node | None:
    """The node at ``path``, or None if there is no such name."""
    node: Node | None = root()
    for name in path:
        node = None if node is None else node.child(name)
    return node


def nearest(path: Path) -> Path | None:
    """The existing path an unknown one was probably meant to be."""
    depth = next(depth for depth in range(1, len(path) + 1) if find(path[:depth]) is None)
    known, wrong = path[: depth - 1], path[depth - 1]
    siblings = find(known)
    close = get_close_matches(wrong, siblings.fixed, n=1, cutoff=0.7) if siblings else []
    if close:
        repaired = (*known, close[0], *path[depth:])
        return repaired if find(repaired) else (*known, close[0])
    everywhere = {"_".join(name): name for name in settings_below(root()) if ANY_NAME not in name}
    similar = get_close_matches("_".join(path), everywhere, n=1, cutoff=0.7)
    return everywhere[similar[0]] if similar else None
