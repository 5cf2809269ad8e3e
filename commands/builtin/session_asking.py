"""What was asked for, as the session commands understand it."""

import re
from collections.abc import Sequence

from commands.conversations import SessionSummary, Whose
from commands.errors import InvalidInputError, NotFoundError
from commands.quoting import one_line
from commands.spec import Caller, Value, Values

TITLE_CHARS = 100
TURNS_MOST = 50
_NUMBER = re.compile(r"[0-9]{1,9}")


def title_of(text: str) -> str:
    """One line of visible text. Raises ``InvalidInputError``."""
    title = one_line(text)
    if not title or len(title) > TITLE_CHARS:
        raise InvalidInputError(f"a title has from 1 to {TITLE_CHARS} characters")
    if title.isdecimal():
        raise InvalidInputError("a title needs more than digits, which name a place in the list of sessions")
    return title


def turns_of(value: Value) -> int:
    """How many turns; one unless said. Raises ``InvalidInputError``."""
    text = "1" if value is None else str(value)
    turns = int(text) if _NUMBER.fullmatch(text) else 0
    if not 1 <= turns <= TURNS_MOST:
        raise InvalidInputError(f"<turns> must be a whole number from 1 to {TURNS_MOST}")
    return turns


def days_of(values: Values) -> int | None:
    days = values["days"]
    return days if isinstance(days, int) else None


def whose_of(values: Values, caller: Caller) -> Whose:
    """Unless it is said: the conversation's, or the caller's own where there is none."""
    of = values["of"]
    if of is None:
        return Whose.ME if caller.origin.thread_key is None else Whose.CONVERSATION
    return Whose(str(of))


def which_of(asked: str, sessions: Sequence[SessionSummary], *, most: int) -> SessionSummary:
    """The session that is meant: by its number in a list of ``most``, else by its id, else by its title.

    Only ``sessions`` can be meant, so that nobody's words reach further than their list. Raises ``NotFoundError``.
    """
    wanted = one_line(asked)
    numbered = enumerate(sessions[:most], start=1)
    found = [
        *(each for number, each in numbered if _NUMBER.fullmatch(wanted) and number == int(wanted)),
        *(each for each in sessions if each.session_id == wanted),
        *(each for each in sessions if each.title is not None and each.title.casefold() == wanted.casefold()),
    ]
    if not found:
        raise NotFoundError("there is no such session; `!resume` lists those that there are")
    return found[0]
