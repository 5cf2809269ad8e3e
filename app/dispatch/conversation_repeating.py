"""Which turn can be answered once more as it was, and what is said for that."""

from collections.abc import Collection, Sequence

from app.dispatch.directives import Refused, directed, directives
from app.dispatch.resolve import KnownModels
from app.sessions.entry import SessionId
from app.sessions.transcript import TranscriptMessage, last_turns
from commands.errors import ConflictError, NotFoundError
from commands.spec import Followup, Replaced

NOTHING = "there is nothing to answer once more"
_WITH_FILES = "the last message came with files, which I do not keep; send it again, with its files"


def once_more(
    session_id: SessionId,
    lines: Sequence[TranscriptMessage],
    agents: Collection[str],
    knows_model: KnownModels,
) -> Followup:
    """The session's last turn as one message, which asks for what it did and takes its place.

    Raises ``NotFoundError`` for none, ``ConflictError`` for one that would not be what it was.
    """
    _, turn = last_turns(lines, 1)
    if not turn.turns or not turn.target_text:
        raise NotFoundError(NOTHING)
    if turn.files:
        raise ConflictError(_WITH_FILES)
    typed = directed(turn.target_text, turn.directives)
    if isinstance(read := directives(typed, agents, knows_model), Refused):
        raise ConflictError(f"the last message asked for what is not there any more. {read.reason}")
    return Followup(typed, Replaced(session_id, turn.target_text))
