"""What became of a command, for programs and for people."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from commands.spec import Reply


class Code(StrEnum):
    OK = "ok"
    INVALID_INPUT = "invalid_input"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    UNAVAILABLE = "unavailable"
    BUSY = "busy"
    INTERNAL = "internal"


DecidedBy = Literal["registry", "handler"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one invocation. ``reply`` is there exactly when ``code`` is ``ok``."""

    command_id: str
    """Empty when no command was named."""
    code: Code
    reply: Reply | None
    message: str
    """What went wrong, for programs and logs of the caller; empty when nothing did. No glyph, no value of the input."""
    text: str
    """The line for people (Markdown): the reply, or the refusal with its glyph."""
    decided_by: DecidedBy = "handler"

    @property
    def is_ok(self) -> bool:
        return self.code is Code.OK


def answered(command_id: str, reply: Reply, decided_by: DecidedBy = "handler") -> Result:
    return Result(command_id, Code.OK, reply, "", reply.text, decided_by)


def restricted(command_id: str, admins: str) -> Result:
    """Refused before anything was looked at."""
    message = f"this command is restricted. Ask {admins}."
    text = f"🚫 {spoken(command_id)} is restricted. Ask {admins}."
    return Result(command_id, Code.UNAUTHORIZED, None, message, text, "registry")


def refused(command_id: str, code: Code, message: str, decided_by: DecidedBy) -> Result:
    glyph = "🚫" if code is Code.UNAUTHORIZED else "⚠️"
    subject = f"{spoken(command_id)}: " if command_id else ""
    return Result(command_id, code, None, message, f"{glyph} {subject}{message}", decided_by)


def broken(command_id: str) -> Result:
    """A fault of ours; what it was stands in the log and nowhere else."""
    text = f"⚠️ {spoken(command_id)} failed: internal error"
    return Result(command_id, Code.INTERNAL, None, "internal error", text)


def spoken(command_id: str) -> str:
    """``memory list`` in a code span."""
    return f"`{command_id.replace('.', ' ')}`"
