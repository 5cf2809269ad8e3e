"""What the demo model extracts as facts: a few sentence patterns in what people said."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal

from app.agents.providers.base import ModelRequest

EXTRACTION_MARKER = "Answer with one JSON object"
"""A system prompt that contains this asks for facts."""

MAX_FACTS = 5
MAX_KEYWORDS = 6
CONFIDENCE = 0.9
BOT_SPEAKERS = frozenset({"assistant", "bot", "switchboard"})

Audience = Literal["channel", "user", "org", "repo"]

LABEL = re.compile(r"^(?P<name>[^\n:<>`|]{1,60}): +(?=\S)")
LIST_SIGN = re.compile(r"^\s*(?:[-*•>]\s+|\d+[.)]\s+)+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
REMEMBER = re.compile(r"^(?:please )?(?:remember|note|keep in mind)(?: that|:)\s+", re.IGNORECASE)
CORRECTION = re.compile(r"^correction: +", re.IGNORECASE)
RECORD = re.compile(r"^- (?P<id>mem:\S+) \[[^\]\n]*\]: (?P<text>.*)$", re.MULTILINE)
CORRECTED_WORDS = 2
"""So many words a record has to share with what corrects it."""
OPENER = re.compile(r"^(?:(?:so|and|but|also|ok|okay|fyi|well|yes|no|by the way|btw)\b[, ]+)+", re.IGNORECASE)

PERSONAL_VERBS = {
    "prefer": "prefers",
    "like": "likes",
    "use": "uses",
    "work": "works",
    "live": "lives",
    "need": "needs",
}
I_VERB = re.compile(rf"^I (?P<always>(?:always |never |usually )?)(?P<verb>{'|'.join(PERSONAL_VERBS)}) ", re.IGNORECASE)
MY = re.compile(r"^my (?=[\w' -]{1,40} (?:is|are) \S)", re.IGNORECASE)
SHARED = re.compile(
    r"^(?:"
    r"we (?:always |never |usually )?"
    r"(?:use|run|deploy|prefer|keep|call|test|write|store|host|build|ship|release|review|merge) \S"
    r"|our [\w' -]{1,40} (?:is|are|runs?|lives?) \S"
    r"|(?:always|never) \S+ \S"
    r"|the [\w' -]{1,40} (?:is|are) \S"
    r"|[\w.'-]+(?: [\w.'-]+){0,3} runs on \S"
    r")",
    re.IGNORECASE,
)
PLACE = re.compile(
    r"^(?:in|for) (?:this|the|our) (?:repo(?:sitory)?|codebase|channel),? (?=\S+(?: \S+){2})", re.IGNORECASE
)
"""Whatever is said of a place that way holds there."""
ANSWERING = re.compile(r"^(?:always|never) (?:answer|reply|respond|speak|talk|write to me)\b", re.IGNORECASE)
"""How answers should look is the wish of whoever says it."""
REPO = re.compile(r"\b(?:repo|repository|codebase|branch|pull requests?|linter)\b", re.IGNORECASE)
CHANNEL = re.compile(r"\b(?:this|the) channel\b", re.IGNORECASE)
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "it",
        "its",
        "my",
        "never",
        "always",
        "of",
        "on",
        "or",
        "our",
        "so",
        "that",
        "the",
        "this",
        "to",
        "use",
        "uses",
        "user",
        "user's",
        "prefer",
        "prefers",
        "was",
        "we",
        "with",
        "you",
        "your",
        "runs",
        "run",
    ]
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence that can stand alone, and who it is for."""

    text: str
    keywords: list[str]
    audience: Audience
    confidence: float = CONFIDENCE
    supersedes: str | None = None
    """The record it corrects."""


def is_extraction(request: ModelRequest) -> bool:
    return any(EXTRACTION_MARKER in part for part in request.system)


def extraction_answer(request: ModelRequest) -> str:
    """One JSON object: ``facts`` (objects like ``Fact``) and ``summary``, always null."""
    asked = request.messages[-1].text
    known = records(asked)
    found = {fact.text.lower(): _corrected(fact, known) for fact in facts(asked)}
    named = [{key: value for key, value in asdict(fact).items() if value is not None} for fact in found.values()]
    kept = named[:MAX_FACTS]
    return json.dumps({"facts": kept, "summary": None}, ensure_ascii=False)


def records(asked: str) -> Mapping[str, str]:
    """What is known already, as it is shown: texts by id."""
    return {found["id"]: found["text"] for found in RECORD.finditer(asked)}


def _corrected(fact: Fact, known: Mapping[str, str]) -> Fact:
    """A sentence that calls itself a correction retires the record that shares most of its words."""
    text = CORRECTION.sub("", fact.text)
    if text == fact.text:
        return fact
    words = set(fact.keywords)
    shared = {each: len(words & set(re.findall(r"[\w'-]+", known[each].lower()))) for each in known}
    nearest = max(shared, key=lambda each: shared[each], default=None)
    is_near = nearest is not None and shared[nearest] >= CORRECTED_WORDS
    return replace(_made(text, fact.audience), supersedes=nearest if is_near else None)


def facts(conversation: str) -> Iterator[Fact]:
    """Facts in the order they were said by people; what the bot said counts for nothing."""
    for line in _speech(conversation):
        for sentence in SENTENCE_END.split(line):
            fact = _fact(sentence.strip())
            if fact is not None:
                yield fact


def _speech(conversation: str) -> Iterator[str]:
    """The lines people said, without their names."""
    by_bot = False
    for line in conversation.splitlines():
        label = LABEL.match(line)
        if label is not None and not REMEMBER.match(line):
            by_bot = label["name"].strip().lower() in BOT_SPEAKERS
            line = line[label.end() :]  # noqa: PLW2901 - the rest of the same line
        if not by_bot:
            yield LIST_SIGN.sub("", line)


def _fact(sentence: str) -> Fact | None:
    if not sentence or sentence.endswith("?"):
        return None
    plain = OPENER.sub("", sentence)
    correction = CORRECTION.match(plain)
    told = REMEMBER.sub("", CORRECTION.sub("", plain))
    personal = _personal(told)
    if personal is not None:
        return _made(personal, "user")
    if told != plain or SHARED.match(told) or PLACE.match(told):
        made = _made(told, _audience(told))
        return replace(made, text=f"{correction[0]}{made.text}") if correction else made
    return None


def _personal(sentence: str) -> str | None:
    """The sentence about "this user", if it is one about its speaker."""
    verb = I_VERB.match(sentence)
    if verb is not None:
        always, rest = verb["always"].lower(), sentence[verb.end() :]
        return f"This user {always}{PERSONAL_VERBS[verb['verb'].lower()]} {rest}"
    return MY.sub("This user's ", sentence, count=1) if MY.match(sentence) else None


def _audience(text: str) -> Audience:
    if ANSWERING.match(text):
        return "user"
    if REPO.search(text):
        return "repo"
    return "channel" if CHANNEL.search(text) else "org"


def _made(text: str, audience: Audience) -> Fact:
    clean = " ".join(text.split()).rstrip(".!")
    words = (word.strip("'-.") for word in re.findall(r"[\w.'-]+", clean.lower()))
    keywords = dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS)
    return Fact(f"{clean[:1].upper()}{clean[1:]}.", list(keywords)[:MAX_KEYWORDS], audience)
