"""What the extracting model answered, judged: the whole of it strictly, each fact alone (specification, section 13)."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory.extraction import LEAST_CONFIDENCE
from memory.routing import audience_of
from memory.scope import ScopeKind
from memory.text import storable

ANSWER_CHARS = 100_000
FACT_CHARS = 1_000
KEYWORDS_KEPT = 10
KEYWORD_CHARS = 64
"""Stores elsewhere refuse a whole batch for one longer keyword."""
FACTS_JUDGED = 50
"""What a model that ignores its task names beyond these is not looked at."""
OBJECTS_TRIED = 50
"""So many opening braces are tried before an answer counts as without an object."""
_WORD = re.compile(r"\w+")


class Unusable(StrEnum):
    """Why a whole answer is thrown away."""

    CUT = "cut"
    """It ended at the model's output limit; that its JSON is complete may be chance."""
    TOO_LONG = "too_long"
    NO_OBJECT = "no_object"
    NO_FACTS = "no_facts"
    """The object has no list of facts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the extracting model said."""

    text: str
    is_cut: bool = False
    """It ended at the output limit."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact as it was named, without secrets."""

    text: str
    audience: ScopeKind
    confidence: float
    keywords: tuple[str, ...] | None = None
    """``None`` when there is no usable one."""
    supersedes: str | None = None
    restates: str | None = None
    """Ids that the model had been shown."""
    is_standing: bool = False
    """A hint."""


@dataclass(frozen=True, slots=True)
class Extracted:
    statements: tuple[Statement, ...]
    summary: str | None
    offered: int
    """How many facts were named, usable or not."""


class _Fact(BaseModel):
    """Only what a fact cannot do without is demanded; the rest is taken as far as it is what it should be."""

    model_config = ConfigDict(strict=True, frozen=True)

    text: str
    confidence: float = Field(ge=LEAST_CONFIDENCE, le=1, allow_inf_nan=False)
    audience: object = None
    keywords: object = None
    supersedes: object = None
    restates: object = None
    standing: object = None


def read_answer(answer: Answer, shown_ids: Collection[str], redact: Callable[[str], str]) -> Extracted | Unusable:
    """The usable facts of ``answer``, in its order. Never raises, whatever it is given."""
    if answer.is_cut:
        return Unusable.CUT
    if len(answer.text) > ANSWER_CHARS:
        return Unusable.TOO_LONG
    envelope = _envelope(answer.text)
    if envelope is None:
        return Unusable.NO_OBJECT
    named = _listed(envelope.get("facts"))
    if named is None:
        return Unusable.NO_FACTS
    reading = _Reading(shown_ids, redact)
    statements = [read for each in named[:FACTS_JUDGED] if (read := reading.statement(each)) is not None]
    return Extracted(tuple(statements), reading.sentence(envelope.get("summary")), len(named))


def _envelope(text: str) -> Mapping[str, object] | None:
    """The first JSON object that has facts, whatever stands around it; else the first object."""
    found = list(_objects(text))
    return next((each for each in found if "facts" in each), found[0] if found else None)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    # What is no number in JSON becomes nothing, so that only its own fact is lost.
    decoder = json.JSONDecoder(parse_constant=lambda _: None)
    start = -1
    for _ in range(OBJECTS_TRIED):
        start = text.find("{", start + 1)
        if start < 0:
            return
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield found
        start = end - 1


@dataclass(frozen=True, slots=True)
class _Reading:
    shown_ids: Collection[str]
    redact: Callable[[str], str]

    def statement(self, value: object) -> Statement | None:
        try:
            fact = _Fact.model_validate(value)
        except ValidationError:
            return None
        text = self.sentence(fact.text)
        if text is None:
            return None
        return Statement(
            text,
            audience_of(fact.audience if isinstance(fact.audience, str) else None),
            fact.confidence,
            self._keywords(fact.keywords, _words(fact.text) - _words(text)),
            self._shown(fact.supersedes),
            self._shown(fact.restates),
            is_standing=fact.standing is True,
        )

    def sentence(self, value: object) -> str | None:
        """One line without secrets; ``None`` for nothing, and for what is too long to be one."""
        if not isinstance(value, str):
            return None
        line = " ".join(self.redact(_unescaped(storable(value))).split())
        return line if 0 < len(line) <= FACT_CHARS else None

    def _keywords(self, value: object, secret: Collection[str]) -> tuple[str, ...] | None:
        """``secret`` are words that a redaction has taken out: alone they no longer look like secrets."""
        words = (self._keyword(each) for each in (_listed(value) or ())[:FACTS_JUDGED])
        kept = dict.fromkeys(word for word in words if word and _words(word).isdisjoint(secret))
        return tuple(kept)[:KEYWORDS_KEPT] or None

    def _keyword(self, value: object) -> str | None:
        """A keyword that is too long, or that holds a secret, is left out; its fact is not lost for it."""
        if not isinstance(value, str):
            return None
        word = " ".join(_unescaped(storable(value)).lower().split())
        return word if len(word) <= KEYWORD_CHARS and self.redact(word) == word else None

    def _shown(self, value: object) -> str | None:
        return value if isinstance(value, str) and value in self.shown_ids else None


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_unescaped(storable(text)).lower()))


def _listed(value: object) -> Sequence[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _unescaped(text: str) -> str:
    """The words themselves: models tend to give back the escapes they were shown."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
