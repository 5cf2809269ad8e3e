"""Conversations in LoCoMo's format: who said what and when, the facts drawn from it, and questions with evidence."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from benchmarks.children import BenchmarkError

ASKED_CATEGORIES = (1, 2, 3, 4)
"""Multi-hop, temporal, open-domain, single-hop; the fifth asks about what was never said."""
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)(?:_observation)?")
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"


class LocomoError(BenchmarkError):
    """A file is not in LoCoMo's format; its text names the file."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing to remember: a turn as it was said, or a fact distilled from some."""

    text: str
    speaker: str
    session: int
    said_at: datetime
    turns: frozenset[str]
    """The turns it is evidence of, as ``D<session>:<number>``."""


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]
    """Turns that answer it; never empty, and each one was said."""


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    turns: tuple[Statement, ...]
    facts: tuple[Statement, ...]
    questions: tuple[Question, ...]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Turn(_Lenient):
    speaker: str
    dia_id: str
    text: str = ""
    blip_caption: str | None = None


class _Asked(_Lenient):
    question: str
    category: int
    evidence: tuple[str, ...] = ()


class _Sample(_Lenient):
    sample_id: str
    qa: tuple[_Asked, ...]
    conversation: dict[str, str | tuple[_Turn, ...]]
    observation: dict[str, dict[str, tuple[tuple[str, str | tuple[str, ...]], ...]]] = {}


_FILE = TypeAdapter(tuple[_Sample, ...])


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """Raises ``LocomoError`` for what cannot be read or is in another format."""
    try:
        return tuple(map(_conversation, _FILE.validate_json(path.read_bytes())))
    except (OSError, KeyError, ValueError) as exc:
        raise LocomoError(f"{path} does not hold conversations in LoCoMo's format: {type(exc).__name__}") from exc


def turn_ids(text: str) -> Iterator[str]:
    """Each id in ``text`` in its one spelling: ``D:11:26`` is ``D11:26``, ``D30:05`` is ``D30:5``."""
    for session, number in _TURN_ID.findall(text):
        yield f"D{int(session)}:{int(number)}"


def _conversation(sample: _Sample) -> Conversation:
    dates = _session_dates(sample)
    turns = tuple(_turns(sample, dates))
    said = frozenset[str]().union(*(turn.turns for turn in turns))
    return Conversation(sample.sample_id, turns, tuple(_facts(sample, dates)), tuple(_questions(sample, said)))


def _session_dates(sample: _Sample) -> dict[int, datetime]:
    """By session number; sessions without a date were never held."""
    return {
        int(name.split("_")[1]): datetime.strptime(text, _DATE_FORMAT).replace(tzinfo=UTC)
        for name, text in sample.conversation.items()
        if name.endswith("_date_time") and isinstance(text, str)
    }


def _turns(sample: _Sample, dates: dict[int, datetime]) -> Iterator[Statement]:
    for name, session in _sessions(sample.conversation):
        for turn in sample.conversation[name]:
            if isinstance(turn, _Turn):
                photo = f" [shared photo: {turn.blip_caption}]" if turn.blip_caption else ""
                text = f"{turn.speaker}: {turn.text}{photo}"
                yield Statement(text, turn.speaker, session, dates[session], frozenset(turn_ids(turn.dia_id)))


def _facts(sample: _Sample, dates: dict[int, datetime]) -> Iterator[Statement]:
    for name, session in _sessions(sample.observation):
        for speaker, facts in sample.observation[name].items():
            for text, source in facts:
                ids = frozenset(turn_ids(source if isinstance(source, str) else " ".join(source)))
                yield Statement(text, speaker, session, dates[session], ids)


def _sessions(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names of sessions and their numbers, in the order they were held."""
    found = [(name, int(match[1])) for name in names if (match := _SESSION.fullmatch(name))]
    return sorted(found, key=lambda pair: pair[1])


def _questions(sample: _Sample, said: frozenset[str]) -> Iterator[Question]:
    for asked in sample.qa:
        evidence = frozenset(turn_ids(" ".join(asked.evidence))) & said
        if asked.category in ASKED_CATEGORIES and evidence:
            yield Question(asked.question, asked.category, evidence)
