"""What a handler can answer instead of a reply, branched by what the caller can do about it.

CommandError
├── InvalidInputError    ask again, differently
├── UnauthorizedError    ask somebody who may
├── NotFoundError        name something that exists
├── ConflictError        look at what changed meanwhile
├── UnavailableError     nothing, until the operator does something
└── BusyError            wait and ask again

Each message is a sentence for the caller. None repeats a value that was handed in and not understood: it may be a
secret, or somebody's markup.
"""

from typing import ClassVar

from commands.result import Code


class CommandError(Exception):
    """Root of what a command answers instead of a reply."""

    code: ClassVar[Code]


class InvalidInputError(CommandError):
    """What was asked for does not fit; the message says what would."""

    code = Code.INVALID_INPUT


class UnauthorizedError(CommandError):
    """The caller may give this command, but not for this. ``audit_reason`` goes to the log alone."""

    code = Code.UNAUTHORIZED

    def __init__(self, message: str, *, audit_reason: str = "", asks_admins: bool = True) -> None:
        """``asks_admins``: false where no admin could help either."""
        super().__init__(message)
        self.audit_reason = audit_reason
        self.asks_admins = asks_admins


class NotFoundError(CommandError):
    """There is no such thing, or none that the caller may see: the two read the same."""

    code = Code.NOT_FOUND


class ConflictError(CommandError):
    """It contradicts the present state."""

    code = Code.CONFLICT


class UnavailableError(CommandError):
    """What the command needs is off or down."""

    code = Code.UNAVAILABLE


class BusyError(CommandError):
    """What the command needs has no room at the moment."""

    code = Code.BUSY
