"""Records as rows of a scope's SQLite file, and back."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from sys import intern
from typing import Any, get_args

from memory.pool import longest
from memory.record import Kind, MemoryRecord, Status
from memory.scope import record_id
from memory.stores.rows import norm_of
from memory.text import tokenize

INSERT_RECORD = """INSERT INTO records (
    norm, seq, kind, text, keywords, terms, source_thread_key, source_run_id, source_user, author, created_at,
    last_used_at, use_count, confidence, supersedes, is_standing, status
    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_ENTRY = "INSERT INTO records_fts (rowid, words, terms) VALUES (?, ?, ?)"

Row = tuple[Any, ...]
"""A row as ``sqlite3`` hands it out: whatever the file holds."""

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_KINDS: Mapping[str, Kind] = {kind: kind for kind in get_args(Kind)}


def microseconds(at: datetime) -> int:
    return (at - _BEGINNING) // _MICROSECOND


def moment(since: int) -> datetime:
    return _BEGINNING + timedelta(microseconds=since)


def record_of(scope_key: str, row: Row) -> MemoryRecord:
    """The record in a row of ``active_records``. Raises ``sqlite3.DatabaseError`` for a row nobody here wrote."""
    try:
        sequence, kind, text, keywords, terms, thread, run, user, author, created, used, *rest = row
        use_count, confidence, supersedes, is_standing = rest
        "".join((text, thread, run or "", user or "", author or "", supersedes or ""))  # Only texts can be joined.
        return MemoryRecord(
            id=record_id(scope_key, sequence),
            scope_key=scope_key,
            kind=_KINDS[kind],
            text=text,
            keywords=tuple(json.loads(keywords)),
            source_thread_key=thread,
            created_at=_BEGINNING + timedelta(microseconds=created),
            terms=frozenset(map(intern, terms.split("\n") if terms else ())),
            source_run_id=run,
            source_user=user,
            author=author,
            last_used_at=None if used is None else _BEGINNING + timedelta(microseconds=used),
            use_count=use_count,
            confidence=confidence,
            supersedes=supersedes,
            is_standing=bool(is_standing),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as exc:
        raise sqlite3.DatabaseError("a row does not read as a record") from exc


def status_of(value: object) -> Status:
    """Raises ``sqlite3.DatabaseError`` for one that nobody here gave."""
    try:
        return Status(value)
    except ValueError as exc:
        raise sqlite3.DatabaseError("a row does not read as a record") from exc


def values_of(record: MemoryRecord) -> Row:
    """What ``INSERT_RECORD`` takes for ``record``."""
    return (
        norm_of(record.text),
        record.sequence,
        record.kind,
        record.text,
        json.dumps(record.keywords, ensure_ascii=False),
        packed_terms(record.terms),
        record.source_thread_key,
        record.source_run_id,
        record.source_user,
        record.author,
        microseconds(record.created_at),
        None if record.last_used_at is None else microseconds(record.last_used_at),
        record.use_count,
        record.confidence,
        record.supersedes,
        record.is_standing,
        record.status,
    )


def packed_terms(terms: Iterable[str]) -> str:
    """One a line: no term has a break in it, and lines are read several times as fast as JSON."""
    return "\n".join(sorted(terms))


def entry_of(record: MemoryRecord) -> tuple[int, str, str]:
    """What ``INSERT_ENTRY`` takes: words for those who ask in the reference ranker's tokens, terms for the others."""
    words = [*tokenize(record.text), *tokenize(" ".join(record.keywords))]
    return record.sequence, " ".join(map(_index_token, words)), " ".join(map(_index_token, sorted(record.terms)))


def match_of(column: str, tokens: Sequence[str]) -> str:
    """A full-text query for any of the tokens that choose candidates."""
    return f"{column} : ({' OR '.join(map(_index_token, longest(tokens)))})"


def _index_token(term: str) -> str:
    """A term as one short word of digits and letters, whatever it is made of: neither split nor read as syntax."""
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
