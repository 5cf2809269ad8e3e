"""The outcome of one look at whether the installation works."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at and what was found; ``text`` is one line that says what to do unless all is well."""

    name: str
    level: Level
    text: str
