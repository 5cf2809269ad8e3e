"""What is not worth remembering, and what must not be recalled before a person has looked at it.

Patterns decide, not a model: the same words always have the same fate, on every store and at no cost. They know
English best, German, French and Spanish in their basic forms; what they do not know passes as worth keeping.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory.gate_chatter import (
    is_bare_link,
    is_courtesy,
    is_empty,
    is_greeting,
    is_meeting,
    is_offer,
    is_one_off,
    is_question,
    is_request,
)
from memory.gate_markers import is_change, is_status
from memory.gate_orders import orders
from memory.gate_progress import is_echo, is_of_the_day, is_recalled, reports_change, reports_status
from memory.gate_text import plain, sentences
from memory.record import Kind


class Reason(StrEnum):
    """Why a fact is not worth remembering."""

    EMPTY = "empty"
    ECHO = "echo"
    """The bot's own words come back, or it is told that somebody asked."""
    STATUS = "status"
    """How far a piece of work has come."""
    CHANGE = "change"
    """What was done to something; the thing itself shows it."""
    BARE_LINK = "bare_link"
    GREETING = "greeting"
    CHATTER = "chatter"
    QUESTION = "question"
    OFFER = "offer"
    REQUEST = "request"
    """Something somebody is to do once."""
    MEETING = "meeting"
    """When and where people meet, once."""
    ONE_OFF = "one_off"
    """Trouble of the moment, without its cause or cure."""


class Fate(StrEnum):
    """What becomes of a candidate."""

    KEEP = "keep"
    DROP = "drop"
    REVIEW = "review"
    """A person decides; until then it is not recalled."""


@dataclass(frozen=True, slots=True)
class Verdict:
    fate: Fate
    reason: Reason | None = None
    """Of a drop."""


_Tests = Sequence[tuple[Reason, Callable[[str], bool]]]

_ANYWHERE: _Tests = (
    (Reason.EMPTY, is_empty),
    (Reason.ECHO, is_recalled),
    (Reason.STATUS, is_status),
    (Reason.CHANGE, is_change),
)
"""One such mark rejects the whole text."""
_EACH_SENTENCE: _Tests = (
    (Reason.ECHO, is_echo),
    (Reason.BARE_LINK, is_bare_link),
    (Reason.CHATTER, is_courtesy),
    (Reason.GREETING, is_greeting),
    (Reason.QUESTION, is_question),
    (Reason.MEETING, is_meeting),
    (Reason.ONE_OFF, is_one_off),
    (Reason.STATUS, reports_status),
    (Reason.CHANGE, reports_change),
    (Reason.REQUEST, is_request),
    (Reason.OFFER, is_offer),
    (Reason.STATUS, is_of_the_day),
)
"""The first that holds names the sentence; a text is noise when every sentence of it is."""


def is_noise(text: str) -> Reason | None:
    """Why a fact is not worth remembering; ``None`` when it may be. Summaries are not asked about."""
    read = plain(text)
    for reason, holds in _ANYWHERE:
        if holds(read):
            return reason
    reasons = [_noise_of(sentence) for sentence in sentences(read)]
    return reasons[0] if all(reasons) else None


def looks_like_instruction(text: str) -> bool:
    """Whether ``text`` tells the assistant what it may do instead of telling something about the world.

    True also where only the shape is that of an order: forged turns, fences and records. A wish for how answers look
    ("always answer me in German") is none; ``memory.gate_orders`` draws the line.
    """
    return orders(plain(text))


def judged(kind: Kind, text: str, *, is_commanded: bool = False) -> Verdict:
    """What becomes of a candidate.

    ``is_commanded``: a person asked for exactly these words to be remembered, and answers for them. Otherwise an order
    goes to review even where it would be dropped, so that an attempt is seen.
    """
    if is_commanded:
        return Verdict(Fate.KEEP)
    if looks_like_instruction(text):
        return Verdict(Fate.REVIEW)
    reason = is_noise(text) if kind == "fact" else None
    return Verdict(Fate.DROP, reason) if reason else Verdict(Fate.KEEP)


def _noise_of(sentence: str) -> Reason | None:
    return next((reason for reason, holds in _EACH_SENTENCE if holds(sentence)), None)


def tells_status(kind: Kind, text: str) -> bool:
    """Whether it is a fact that carries a mark of status or change, which a sweep retires. Summaries never are."""
    if kind != "fact":
        return False
    read = plain(text)
    return is_status(read) or is_change(read)
