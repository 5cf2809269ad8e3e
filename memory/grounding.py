"""Whether people really said what a model claims to have learned from them, told by the words alone.

Questions lend words and state nothing; what the bot said counts once somebody agreed to it; what a file, a page or a
tool showed never counts, and neither does the bot's repetition of what memory had told it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache

from memory.cues import agrees, is_question, sentences, wishes_for_good
from memory.folding import folded
from memory.record import MemoryRecord
from memory.render import FENCE_CLOSE, FENCE_OPEN
from memory.text import name_terms, query_terms, record_terms
from memory.turn import Line

SAID_SHARE = 1 / 2
"""So much of a statement's telling words must be people's own."""
STATED_SHARE = 1 / 3
"""So much of them must come from sentences that are no questions."""
ECHO_SHARE = 2 / 3
"""A sentence of the bot with so much of a recalled record's words repeats it."""
PREFIX = 5
"""Words of languages that no stemmer is asked for agree when they begin alike for so many letters."""
SPAN = timedelta(days=400)
"""A date worked out from "yesterday" or "next spring" is not further away than this."""

_FRAMING = """
user person people team organization organisation company channel repository repo project codebase member prefer like
want use need always never work wish ask say state answer reply
nutzer benutzer nutzerin person leute kanal projekt bevorzugt möchte mag nutzt verwendet immer nie arbeitet
utilisateur équipe préfère veut utilise toujours usuario equipo prefiere quiere usa siempre utente preferisce
пользователь команда предпочитает использует всегда ユーザー 用户
"""
"""Words a statement is put into and nobody needs to have said."""
_RECALLED = re.compile(rf"(?:Background memory for [^\n]*\n)?{FENCE_OPEN}.*?(?:{FENCE_CLOSE}|\Z)", re.DOTALL)
MARK = re.compile("«[a-z-]{1,20}»")
"""What redaction leaves of a secret."""
_DATE = re.compile(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")
_NAME = re.compile(r"[A-Za-z0-9]+(?:(?:://|[./@:_\\-])+[A-Za-z0-9]+)*")
_CAPITALISED = re.compile(r"(?<=\w )[A-Z]\w+|(?<=\w, )[A-Z]\w+|\b[A-Za-z][a-z]*[A-Z]\w*")
"""Inside a sentence, or inside a word: where a capital tells a name."""
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence that people stand for."""

    text: str
    terms: frozenset[str]
    is_statement: bool
    is_standing: bool
    user_id: str | None
    """Who said it, or agreed to it when the bot had said it."""
    author: str | None


@dataclass(frozen=True, slots=True)
class Ground:
    """What a conversation's people said."""

    sentences: tuple[Sentence, ...]
    first_at: datetime
    last_at: datetime
    unvouched: frozenset[str] = frozenset()
    """Words of the bot, of files and of tools, without the names of those who speak."""

    def supports(self, text: str) -> bool:
        """Whether enough of the words, and every number, address and name of code, are people's own."""
        terms = telling(text)
        said = frozenset[str]().union(*(each.terms for each in self.sentences))
        stated = frozenset[str]().union(*(each.terms for each in self.sentences if each.is_statement))
        return (
            bool(terms)
            and _share(terms, said) >= SAID_SHARE
            and _share(terms, stated) >= STATED_SHARE
            and all(self._has(name) for name in _exact_names(text))
            and not self._borrows_name(text, said)
        )

    def source(self, text: str) -> Sentence | None:
        """The statement that most of the words come from, the latest of equals."""
        terms = telling(text)
        stated = [each for each in reversed(self.sentences) if each.is_statement and _share(terms, each.terms) > 0]
        return max(stated, key=lambda each: _share(terms, each.terms), default=None)

    def share(self, text: str) -> float:
        """How much of the telling words the nearest single statement has."""
        terms = telling(text)
        return max((_share(terms, each.terms) for each in self.sentences if each.is_statement), default=0.0)

    def by(self, user_id: str | None) -> "Ground":
        """What one person said, and nobody else."""
        own = tuple(each for each in self.sentences if user_id and each.user_id == user_id)
        return Ground(own, self.first_at, self.last_at, self.unvouched)

    def _borrows_name(self, text: str, said: frozenset[str]) -> bool:
        """Whether it names somebody or something that only the bot, a file or a tool has named."""
        names = [term for name in _CAPITALISED.findall(text) for term in telling(name)]
        return any(term in self.unvouched and _share([term], said) == 0 for term in names)

    def _has(self, name: str) -> bool:
        if _DATE.fullmatch(name) and self._is_near(name):
            return True
        alone = re.compile(rf"(?<![0-9a-z]){re.escape(name)}(?![0-9a-z])")
        return any(alone.search(folded(each.text).casefold()) for each in self.sentences)

    def _is_near(self, name: str) -> bool:
        try:
            day = date.fromisoformat(name)
        except ValueError:
            return False
        return self.first_at.date() - SPAN <= day <= self.last_at.date() + SPAN


def ground_of(lines: Sequence[Line], recalled: Sequence[MemoryRecord], at: datetime) -> Ground:
    """What people stand for in ``lines``, oldest first. ``at`` is when the conversation took place at the latest."""
    vouched = [*_vouched(lines)]
    found = [sentence for line in vouched for sentence in _sentences(line, recalled)]
    return Ground(
        tuple(found),
        min((line.at for line in vouched), default=at),
        max((line.at for line in vouched), default=at),
        _unvouched(lines),
    )


def _unvouched(lines: Sequence[Line]) -> frozenset[str]:
    shown = (line for line in lines if line.role == "assistant" or line.is_quoted)
    speakers = {line.author for line in lines if line.author}
    return frozenset(term for line in shown for term in telling(line.text)).difference(*map(name_terms, speakers))


def telling(text: str) -> list[str]:
    """The terms of ``text`` without dates, what is left of secrets, and the words statements are put into."""
    return [term for term in query_terms(_DATE.sub(" ", MARK.sub(" ", text))) if term not in _framing()]


@cache
def _framing() -> frozenset[str]:
    return frozenset(term for word in _FRAMING.split() for term in query_terms(word))


def without_recalled(text: str) -> str:
    """``text`` without a block of memory that somebody pasted into it."""
    return _RECALLED.sub(" ", text)


def _vouched(lines: Sequence[Line]) -> Iterator[Line]:
    answer: Line | None = None
    for line in lines:
        if line.is_quoted:
            continue
        if line.role == "assistant":
            answer = line
            continue
        if answer is not None and agrees(line.text):
            yield replace(answer, user_id=line.user_id, author=line.author)
        answer = None
        yield line


def _sentences(line: Line, recalled: Sequence[MemoryRecord]) -> Iterator[Sentence]:
    for text in sentences(without_recalled(line.text)):
        if line.role == "assistant" and _repeats(text, recalled):
            continue
        is_standing = wishes_for_good(text)
        terms = record_terms(text, (), None, line.at)
        is_statement = is_standing or not is_question(text)
        yield Sentence(text, terms, is_statement, is_standing, line.user_id, line.author)


def _repeats(text: str, recalled: Sequence[MemoryRecord]) -> bool:
    terms = telling(text)
    return any(_share(terms, record.terms) >= ECHO_SHARE for record in recalled)


def _share(terms: Sequence[str], known: frozenset[str]) -> float:
    if not terms:
        return 0.0
    beginnings = {word[:PREFIX] for word in known if len(word) >= PREFIX}
    return sum(term in known or term[:PREFIX] in beginnings for term in terms) / len(terms)


def _exact_names(text: str) -> Iterator[str]:
    """What must not be invented: numbers, dates, addresses, paths, names of code."""
    for name in _NAME.findall(folded(text)):
        is_exact = any(sign.isdigit() or sign in "@._" for sign in name) or name.count("/") > 1
        if is_exact and not _ABBREVIATION.fullmatch(name):
            yield name.casefold()


def same_words(text: str, record: MemoryRecord) -> bool:
    """Whether both say the same, word by word, but for case, accents, punctuation and articles."""
    return _words(text) == _words(record.text)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", folded(text).casefold()) if word not in {"a", "an", "the"}]
