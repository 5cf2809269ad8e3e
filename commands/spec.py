"""What a command is: defined once, the same on every surface."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Value = str | int | bool | None
"""What an argument or option is bound to; ``None`` where it was not given and has no default."""
Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


class Surface(StrEnum):
    """Where a command can be given."""

    CHAT = "chat"
    """A message to the bot, or ``!group verb`` in a thread."""
    SLASH = "slash"
    CLI = "cli"
    HTTP = "http"
    MCP = "mcp"


EVERYWHERE = frozenset(Surface)
MACHINES = frozenset({Surface.CLI, Surface.HTTP, Surface.MCP})
"""Surfaces whose reader is a program, or may hand on what it reads to a model."""

Effect = Literal["read", "write"]
Type = Literal["text", "integer", "boolean"]

_NAME = re.compile(r"[a-z][a-zA-Z0-9]*")
_ID = re.compile(r"[a-z][a-z0-9]*\.[a-z][a-z0-9]*")
_ACTION = re.compile(r"[a-z]+:[a-z]+")
_SHORT = re.compile(r"[a-z][a-z0-9]{0,19}")


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional value. A ``rest`` argument takes all that is left, joined by single spaces, and stands last."""

    name: str
    description: str
    is_required: bool = True
    is_rest: bool = False
    choices: tuple[str, ...] = ()
    """The words it may be, in any case."""
    is_raw: bool = False
    """Of a rest argument that is the only one: typed text is taken as it stands, quotes and line breaks included."""


@dataclass(frozen=True, slots=True)
class Option:
    """A named value: ``--kebab-case`` in text, ``camelCase`` in JSON."""

    name: str
    description: str
    type: Type = "text"
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    pattern: str | None = None
    """What a text must look like as a whole; ``expectation`` says it in words."""
    expectation: str = ""
    default: Value = None

    @property
    def flag(self) -> str:
        """``--since-ms`` for ``sinceMs``."""
        return "--" + re.sub(r"[A-Z]", lambda found: f"-{found[0].lower()}", self.name)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a command was given, as far as the surface has such a place."""

    channel_id: str | None = None
    thread_key: str | None = None
    visibility: str = "unknown"
    """``public``, ``private``, ``dm``, ``machine`` or ``unknown``."""
    takes_turns: bool = False
    """Whether a turn can follow the command here. Always so in chat; elsewhere where a message brought it."""
    position: str | None = None
    """Of the message that gave the command, in its channel."""
    workspace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who gives a command, resolved by the surface it is given on."""

    id: str
    """``slack:U…``, ``cli:local``, ``http:<subject>``, ``mcp:<subject>``."""
    surface: Surface
    origin: Origin = Origin()

    @property
    def takes_turns(self) -> bool:
        """Whether a ``Followup`` will be carried out."""
        return self.surface is Surface.CHAT or self.origin.takes_turns


@dataclass(frozen=True, slots=True)
class Replaced:
    """The last turn of a session, in whose place something is answered."""

    session_id: str
    opening: str
    """What was said in it. Where another turn is the last one by then, that one stays."""


@dataclass(frozen=True, slots=True)
class Followup:
    """What happens once the reply was said: ``text`` is answered as a message of the person who gave the command.

    It is a turn by itself, put together with nothing, where the command stands in line.
    """

    text: str
    """With its directives before it, as it would be typed."""
    replaced: Replaced | None = None
    """Goes out of sight in the step that accepts the text: nobody finds the one without the other."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command answers: ``data`` for programs, ``text`` for people (Markdown)."""

    data: Mapping[str, Json]
    text: str
    receipt: str = ""
    """What the receipt of a write says, without anybody's words."""
    then: Followup | None = None
    """Only for a caller that ``takes_turns``."""
    is_told: bool = False
    """Whether whoever gave it as a chat message reads there already what it did, so that nothing more is said."""


Values = Mapping[str, Value]
Handler = Callable[[Caller, Values], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Command:
    """One command. Raises ``ValueError`` when its definition contradicts itself."""

    id: str
    """``<group>.<verb>``."""
    summary: str
    action: str
    """What must be allowed: ``memory:read``."""
    effect: Effect
    handler: Handler
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    surfaces: frozenset[Surface] = EVERYWHERE
    shorts: tuple[str, ...] = ()
    """Single words that stand for it after a ``!``: ``!new some title``."""
    leads_on: bool = False
    """Whether a ``Followup`` may come of it. It stands in its conversation's line from its arrival on, so that what is
    said after it is answered after that."""

    def __post_init__(self) -> None:
        names = [part.name for part in (*self.arguments, *self.options)]
        faults = {
            "the id is not <group>.<verb>": not _ID.fullmatch(self.id),
            "the action is not <noun>:<verb>": not _ACTION.fullmatch(self.action),
            "a name is not camelCase": not all(map(_NAME.fullmatch, names)),
            "a name is used twice": len(set(names)) < len(names),
            "a rest argument is not last": any(argument.is_rest for argument in self.arguments[:-1]),
            "a raw argument is not the only one, or no rest": _is_half_raw(self.arguments),
            "a required argument follows an optional one": _is_disordered(self.arguments),
            "a short form is no word": not all(map(_SHORT.fullmatch, self.shorts)),
            "it is on no surface": not self.surfaces,
        }
        for fault, is_so in faults.items():
            if is_so:
                raise ValueError(f"command {self.id}: {fault}")

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def verb(self) -> str:
        return self.id.partition(".")[2]

    @property
    def takes_raw(self) -> bool:
        return any(argument.is_raw for argument in self.arguments)


def _is_disordered(arguments: Sequence[Argument]) -> bool:
    required = [argument.is_required for argument in arguments]
    return required != sorted(required, reverse=True)


def _is_half_raw(arguments: Sequence[Argument]) -> bool:
    is_raw = any(argument.is_raw for argument in arguments)
    return is_raw and (len(arguments) > 1 or not arguments[0].is_rest)
