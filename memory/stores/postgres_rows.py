"""Records as rows of PostgreSQL, and back."""

import json
from collections.abc import Sequence
from sys import intern
from typing import Any, LiteralString

from memory.record import MemoryRecord, Status
from memory.scope import record_id
from memory.shelf import words_of
from memory.stores.rows import norm_of
from memory.text import TERMS_VERSION, record_terms

Row = tuple[Any, ...]
"""A row as the driver hands it out."""

LONGEST_TERM = 100
"""Characters of a term that the index has; what is cut off alike is a candidate, and the ranker looks at the whole."""

# Keywords as one text: to take an array of them apart for every record takes as long as all the other columns.
COLUMNS: LiteralString = """records.seq, kind, text, array_to_json(keywords)::text, terms, source_thread_key,
    source_run_id, source_user, author, created_at, uses.last_used_at, coalesce(uses.use_count, 0), confidence,
    supersedes, is_standing, status"""
# OFFSET 0 keeps the planner from joining the tables as wholes: a plan made while one is small outlives that.
RECORDS: LiteralString = """records LEFT JOIN LATERAL (
    SELECT use_count, last_used_at FROM uses WHERE uses.scope = records.scope AND uses.seq = records.seq OFFSET 0
    ) AS uses ON true"""

INSERT_RECORD: LiteralString = """INSERT INTO records (
    scope, changed, norm, seq, kind, text, keywords, terms, words, source_thread_key, source_run_id, source_user,
    author, created_at, confidence, supersedes, is_standing, status
    ) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
UPSERT_USE: LiteralString = """INSERT INTO uses (scope, seq, use_count, last_used_at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (scope, seq) DO UPDATE SET use_count = excluded.use_count, last_used_at = excluded.last_used_at"""


class StaleTermsError(Exception):
    """The terms of a scope's records were computed by an earlier version: renew them and ask again."""


def require_terms(terms_version: int) -> None:
    """Raises ``StaleTermsError``. A later version's terms are taken as they are."""
    if terms_version < TERMS_VERSION:
        raise StaleTermsError


def record_of(scope_key: str, row: Row) -> MemoryRecord:
    """The record in a row of ``COLUMNS``."""
    sequence, kind, text, keywords, terms, thread, run, user, author, created_at, used_at, use_count, *rest = row
    confidence, supersedes, is_standing, status = rest
    return MemoryRecord(
        id=record_id(scope_key, sequence),
        scope_key=scope_key,
        kind=kind,
        text=text,
        keywords=unpacked_keywords(keywords),
        source_thread_key=thread,
        created_at=created_at,
        terms=frozenset(map(intern, unpacked(terms))),
        source_run_id=run,
        source_user=user,
        author=author,
        last_used_at=used_at,
        use_count=use_count,
        confidence=confidence,
        supersedes=supersedes,
        status=Status(status),
        is_standing=is_standing,
    )


def values_of(scope: int, changed: int, record: MemoryRecord) -> Row:
    """What ``INSERT_RECORD`` takes for ``record``."""
    return (
        scope,
        changed,
        norm_of(record.text),
        record.sequence,
        record.kind,
        record.text,
        list(record.keywords),
        packed(record.terms),
        packed(words_of(record)),
        record.source_thread_key,
        record.source_run_id,
        record.source_user,
        record.author,
        record.created_at,
        record.confidence,
        record.supersedes,
        record.is_standing,
        record.status.value,
    )


def use_of(scope: int, record: MemoryRecord) -> Row:
    """What ``UPSERT_USE`` takes for ``record``."""
    return scope, record.sequence, record.use_count, record.last_used_at


def renewed_terms(record: MemoryRecord) -> str:
    """As this version computes them, packed."""
    return packed(record_terms(record.text, record.keywords, record.author, record.created_at))


def packed(words: Sequence[str] | frozenset[str]) -> str:
    """One a line: no term has a break in it, and the server takes them apart with a function of its own."""
    return "\n".join(sorted(words))


def unpacked(words: str) -> Sequence[str]:
    return words.split("\n") if words else ()


def unpacked_keywords(packed: str) -> tuple[str, ...]:
    return tuple(json.loads(packed))
