"""What was asked for, as the session commands understand it."""

import re
from collections.abc import Sequence

from commands.conversations import Compressing, SessionSummary, Whose
from commands.errors import InvalidInputError, NotFoundError
from commands.quoting import one_line
from commands.spec import Caller, Value, Values

TITLE_CHARS = 100
TURNS_MOST = 50
KEPT_TURNS = 2
_NUMBER = re.compile(r"[0-9]{1,9}")
_HERE = re.compile(r"here(?:\s+(\S+))?", re.IGNORECASE)
"""More words behind it are no number but a focus."""
_PREVIEW = re.compile(r"(?:^|\s)(?:--|[\u2013\u2014])preview\s*$")
"""With what phones make of ``--``."""


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


def compressing_of(values: Values) -> tuple[Compressing, bool]:
    """How to compress, and whether that is only to be foretold. Raises ``InvalidInputError``.

    ``--preview`` counts behind the words, too, where the grammar leaves them as they are: taken for one of them, it
    would have changed what was only to be looked at.
    """
    text = str(values["focus"] or "")
    words = _PREVIEW.sub("", text).strip()
    is_preview = values["preview"] is True or words != text.strip()
    here = _HERE.fullmatch(words)
    if here is None:
        return Compressing(words or None), is_preview
    turns = int(here[1]) if here[1] is not None and _NUMBER.fullmatch(here[1]) else 0
    if here[1] is not None and not 1 <= turns <= TURNS_MOST:
        raise InvalidInputError(f"behind `here` stands how many turns are kept, a whole number from 1 to {TURNS_MOST}")
    return Compressing(keep_turns=turns or KEPT_TURNS), is_preview


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
