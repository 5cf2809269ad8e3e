"""What people can set: for themselves, for one conversation, for a channel; and how strongly each counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from commands.spec import Caller

INSTRUCTIONS_CHARS = 2_000
EFFORTS = ("low", "medium", "high")


class Layer(StrEnum):
    """Where a choice comes from, strongest first."""

    REQUEST = "request"
    """Said in the message itself."""
    THREAD = "thread"
    USER = "user"
    CHANNEL = "channel"
    AGENT = "agent"
    """The agent's own preference."""
    DEFAULTS = "defaults"


class Name(StrEnum):
    """What can be set."""

    AGENT = "agent"
    MODEL = "model"
    EFFORT = "effort"
    REPO = "repo"
    """The repository a conversation is about, as ``memory.repository`` spells it."""
    INSTRUCTIONS = "instructions"
    """Advice for the prompt, kept for a person or a channel."""


CHOSEN = (Name.AGENT, Name.MODEL, Name.EFFORT, Name.REPO)
"""Those of which one value is in effect."""

OF_A_REPO = (Layer.THREAD, Layer.CHANNEL)
"""The layers a repository is set in.

A person has none: people work in several and talk about any, and a thread in which the repository changes with whoever
speaks would read and teach another one with every message.
"""

Subjects = Mapping[Layer, str]
"""The layers a request has, and whose each is: a thread's key, a person's id, a channel's id."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one setting."""

    layer: Layer
    subject: str
    name: Name


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands in a slot. A cleared one has no value and keeps counting its versions."""

    slot: Slot
    value: str | None
    version: int
    """How often it was changed; a slot that never was is at 0."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What is taken back together, whatever version it is at, and by whom."""

    slots: tuple[Slot, ...] = ()
    by: str = ""


NOTHING = Clearing()


@dataclass(frozen=True, slots=True)
class InEffect:
    """The value that counts for one name, and the layer it comes from."""

    name: Name
    value: str | None
    layer: Layer


def subjects_of(caller: Caller) -> Subjects:
    """The layers that the caller's place has: a surface without threads has no thread, nor has the top of a channel.

    What is set for a whole channel is set in the channel's own layer, by those who may.
    """
    origin = caller.origin
    thread_key = None if origin.thread_key == origin.channel_id else origin.thread_key
    named = {Layer.THREAD: thread_key, Layer.USER: caller.id, Layer.CHANNEL: origin.channel_id}
    return {layer: subject for layer, subject in named.items() if subject}
