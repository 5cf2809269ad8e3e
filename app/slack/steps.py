"""What writing an answer can ask for next, as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Start:
    text: str


@dataclass(frozen=True, slots=True)
class Append:
    ts: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    ts: str
    is_last: bool = False
    """Whether the answer ends with this call, here and below; the message is marked as its end."""


@dataclass(frozen=True, slots=True)
class Post:
    text: str
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    ts: str
    text: str
    """The segment's whole text."""
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    until_s: float | None
    """Monotonic time at which to ask again; ``None``: only when more is written."""
    heeds_text: bool
    """Whether more text may change the step before then."""


@dataclass(frozen=True, slots=True)
class Done:
    pass


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing more can be shown; ``reason`` is for the log."""

    reason: str


Call = Start | Append | Stop | Post | Update
Step = Call | Wait | Done | Failed
