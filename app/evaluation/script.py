"""What a scripted conversation is: who says what where, what is known before, and what memory holds after it."""

from dataclasses import dataclass
from enum import StrEnum

from memory.scope import ScopeKind
from memory.turn import Source

BOT = "bot"


class Category(StrEnum):
    PREFERENCES = "preferences"
    CONVENTIONS = "conventions"
    DECISIONS = "decisions"
    CORRECTIONS = "corrections"
    NOISE = "noise"
    PEOPLE = "several people"
    LANGUAGES = "other languages"
    PLACES = "closed places"
    SAFETY = "secrets and orders"


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a person, or of the bot, or what the bot was shown."""

    who: str
    text: str
    source: Source = "said"


def ada(text: str) -> Said:
    return Said("ada", text)


def ben(text: str) -> Said:
    return Said("ben", text)


def cleo(text: str) -> Said:
    return Said("cleo", text)


def bot(text: str, source: Source = "said") -> Said:
    return Said(BOT, text, source)


@dataclass(frozen=True, slots=True)
class Known:
    """A record that stands before the conversation."""

    text: str
    scope: ScopeKind = ScopeKind.ORG
    is_standing: bool = False
    is_recalled: bool = False
    """It went before the bot's answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A fact that is to be kept."""

    text: str
    """As a model without fault words it."""
    words: str
    """What any wording of it has: beginnings of words, ``a|b`` for either."""
    scope: ScopeKind = ScopeKind.ORG
    """Where it belongs."""
    audience: ScopeKind | None = None
    """What a model without fault names, where the place or the corrected record makes something else of it."""
    corrects: str | None = None
    """The text of the known record that it retires."""
    is_standing: bool = False


@dataclass(frozen=True, slots=True)
class Unwanted:
    """What a model might name and memory is not to keep."""

    text: str
    words: str
    """What any wording of it has, as in ``Wanted``."""
    audience: ScopeKind = ScopeKind.ORG
    corrects: str | None = None
    """The text of a known record that it must not retire."""
    restates: str | None = None
    """The text of the known record that says the same."""
    is_judgement: bool = False
    """Only a model can tell; the write path, which knows words and no meanings, is not blamed for it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One finished turn, with what went before it in its thread."""

    name: str
    category: Category
    said: tuple[Said, ...]
    wanted: tuple[Wanted, ...] = ()
    unwanted: tuple[Unwanted, ...] = ()
    known: tuple[Known, ...] = ()
    before: tuple[Said, ...] = ()
    """Earlier messages of the thread."""
    never: tuple[str, ...] = ()
    """Secrets: in no record, whatever its kind."""
    summary: Wanted | None = None
    asker: str = "ada"
    visibility: str = "public"
    repo: str | None = None
    is_member: bool = True
    """Whether the one who asks may reach the organisation's memory."""
    tool_calls: int = 1
    is_asked: bool = True
    """Whether a model is to be asked at all."""
