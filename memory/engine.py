"""The one algorithm behind every store: what a write does, and what a full scope gives up.

A store finds the rows these functions ask about and applies what they answer, in one transaction.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory.record import ID_CHARS, KEYWORD_CHARS, KEYWORDS, TEXT_CHARS, MemoryCandidate, MemoryRecord, Status
from memory.scope import record_id
from memory.text import record_terms, storable, tokenize

_RESTORED = re.compile(r"0|[1-9][0-9]{0,16}")
"""One digit less than the number of any record has at most: what is written next has a larger one."""
FIRST_SEQUENCE = 0
"""The number of a scope's first record (specification, section 18)."""
DEFAULT_SCOPE_CAP = 500
LARGEST_SCOPE_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Restate:
    """Say that a record was confirmed: one more use, used now, the higher confidence."""

    record: MemoryRecord


@dataclass(frozen=True, slots=True)
class Dedup:
    """Count one more use of a record that says exactly this; ``last_used_at`` stays."""

    record: MemoryRecord


@dataclass(frozen=True, slots=True)
class Insert:
    """Add a record, and retire the one it corrects."""

    superseded: MemoryRecord | None


WritePlan = Restate | Dedup | Insert


def normalized(text: str) -> str:
    """The deduplication key: trimmed, lower case, white space collapsed (specification, section 8).

    Negations, numbers and punctuation stay, so that a correction never looks like what it corrects.
    """
    return " ".join(storable(text).lower().replace("\ufeff", " ").split())


def plan_write(
    candidate: MemoryCandidate, *, same_text: Sequence[MemoryRecord], named: Iterable[MemoryRecord]
) -> WritePlan:
    """What to do with ``candidate`` (specification, section 8).

    ``same_text``: the scope's active records whose normalized text is the candidate's, oldest first. ``named``: the
    scope's active records among those the candidate points to. A correction is deduplicated only against its own
    target: the extractor sees stored texts, so an unrelated equal text must not be able to swallow it.
    """
    by_id = {record.id: record for record in named if record.status is Status.ACTIVE}
    if candidate.restates and candidate.restates in by_id:
        return Restate(by_id[candidate.restates])
    if candidate.supersedes:
        target = by_id.get(candidate.supersedes)
        if target is not None and normalized(target.text) == normalized(candidate.text):
            return Dedup(target)
        return Insert(target)
    if same_text:
        return Dedup(same_text[0])
    return Insert(None)


def restated(record: MemoryRecord, candidate: MemoryCandidate, now: datetime) -> MemoryRecord:
    known = [value for value in (record.confidence, candidate.confidence) if value is not None]
    return replace(deduped(record, candidate), last_used_at=now, confidence=max(known) if known else None)


def deduped(record: MemoryRecord, candidate: MemoryCandidate) -> MemoryRecord:
    """``record`` said once more; what is said for good this time stands from now on."""
    return replace(record, use_count=record.use_count + 1, is_standing=record.is_standing or candidate.is_standing)


def used(record: MemoryRecord, now: datetime, times: int = 1) -> MemoryRecord:
    """``record`` after so many more uses."""
    # Half the time of ``replace``, and every hit of every search comes through here.
    return MemoryRecord(
        record.id,
        record.scope_key,
        record.kind,
        record.text,
        record.keywords,
        record.source_thread_key,
        record.created_at,
        record.terms,
        record.source_run_id,
        record.source_user,
        record.author,
        now,
        record.use_count + times,
        record.confidence,
        record.supersedes,
        record.status,
        record.is_standing,
    )


def mint_record(scope_key: str, sequence: int, candidate: MemoryCandidate, now: datetime) -> MemoryRecord:
    """The new record: unused, active, its keywords the candidate's or else the tokens of its text."""
    text = storable(candidate.text)
    words = candidate.keywords if candidate.keywords is not None else dict.fromkeys(tokenize(text))
    keywords = tuple(storable(word) for word in words)
    author = _storable(candidate.author)
    return MemoryRecord(
        id=record_id(scope_key, sequence),
        scope_key=scope_key,
        kind=candidate.kind,
        text=text,
        keywords=keywords,
        source_thread_key=storable(candidate.source_thread_key),
        created_at=now,
        terms=record_terms(text, keywords, author, now),
        source_run_id=_storable(candidate.source_run_id),
        source_user=_storable(candidate.source_user),
        author=author,
        confidence=candidate.confidence,
        supersedes=_storable(candidate.supersedes or None),
        is_standing=candidate.is_standing,
    )


def _storable(text: str | None) -> str | None:
    return None if text is None else storable(text)


def put_back(scope_key: str, record: MemoryRecord) -> MemoryRecord:
    """``record`` as a store keeps it that gets it from another one: the same, its terms computed here.

    Raises ``ValueError`` for one of another scope, for what is no record id, beyond the caps, and for a text that no
    store has: each puts ``storable`` ones in their place.
    """
    before_number = record_id(scope_key, 0)[:-1]
    is_own = record.scope_key == scope_key and record.id.startswith(before_number)
    if not is_own or not _RESTORED.fullmatch(record.id[len(before_number) :]):
        raise ValueError("a record can only be put back into its own scope")
    checked(
        MemoryCandidate(
            record.kind,
            record.text,
            record.source_thread_key,
            record.keywords,
            record.source_run_id,
            record.source_user,
            record.author,
            record.confidence,
            record.supersedes,
        )
    )
    names = (record.source_thread_key, record.source_run_id, record.source_user, record.author, record.supersedes)
    if any(each and storable(each) != each for each in (record.text, *record.keywords, *names)):
        raise ValueError("a record's texts must be without NUL and lone surrogates")
    return replace(record, terms=record_terms(record.text, record.keywords, record.author, record.created_at))


def plan_eviction(active: Sequence[MemoryRecord], cap: int) -> list[str]:
    """Ids of exactly as many records as the scope has too many: least recently used first, of equals the older.

    Standing ones go last: they serve every answer, which counts as no use (section 27 knows none).
    """
    surplus = max(0, len(active) - cap)
    ordered = sorted(active, key=lambda each: (each.is_standing, each.used_at, each.created_at, each.sequence))
    return [record.id for record in ordered[:surplus]]


def checked(candidate: MemoryCandidate) -> MemoryCandidate:
    """``candidate`` as it is. Raises ``ValueError``, naming the field and never its words, beyond a cap."""
    if not storable(candidate.text).strip() or len(candidate.text) > TEXT_CHARS:
        raise ValueError(f"text must have 1 to {TEXT_CHARS} characters")
    words = candidate.keywords or ()
    if len(words) > KEYWORDS or not all(1 <= len(word) <= KEYWORD_CHARS for word in words):
        raise ValueError(f"there may be at most {KEYWORDS} keywords of 1 to {KEYWORD_CHARS} characters")
    if not 1 <= len(candidate.source_thread_key) <= ID_CHARS:
        raise ValueError(f"source_thread_key must have 1 to {ID_CHARS} characters")
    for name in ("source_run_id", "source_user", "author", "supersedes", "restates"):
        if len(getattr(candidate, name) or "") > ID_CHARS:
            raise ValueError(f"{name} must have at most {ID_CHARS} characters")
    if candidate.confidence is not None and not 0 <= candidate.confidence <= 1:
        raise ValueError("confidence must be between 0 and 1")
    return candidate
