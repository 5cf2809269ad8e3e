"""Which turn can be answered once more as it was, and what is said for that."""

from collections.abc import Callable, Collection

from app.dispatch.directives import Refused, directed, directives
from app.sessions.transcript import Rewound
from commands.errors import ConflictError, NotFoundError

_NOTHING = "there is nothing to answer once more"
_WITH_FILES = "the last message came with files, which I do not keep; send it again, with its files"


def require_repeatable(turn: Rewound, agents: Collection[str], knows_model: Callable[[str], bool]) -> None:
    """Raises ``NotFoundError`` for none, ``ConflictError`` for one that would not be what it was."""
    if not turn.turns or not turn.target_text:
        raise NotFoundError(_NOTHING)
    if turn.files:
        raise ConflictError(_WITH_FILES)
    if isinstance(read := directives(as_typed(turn), agents, knows_model), Refused):
        raise ConflictError(f"the last message asked for what is not there any more. {read.reason}")


def as_typed(turn: Rewound) -> str:
    """The turn as one message, which asks for what it did."""
    return directed(turn.target_text or "", turn.directives)


def nothing_required(_turn: Rewound) -> None:
    """For turns that are only taken back."""
