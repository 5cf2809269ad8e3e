"""Reading a scope's SQLite file: what a search ranks, and what people and turns ask for by name."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.ranker import Ranker, matches_any
from memory.record import Kind, MemoryRecord
from memory.store import Hit, Query, Vector
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import LARGEST_INTEGER, match_of, microseconds, record_of, sequence_in
from memory.stores.sqlite_schema import transaction
from memory.stores.sqlite_snapshot import Snapshot, data_version, load, vector_table
from memory.stores.vectors import VectorTable
from memory.text import query_terms, tokenize

WHOLE_POOL = 2_000
"""Up to so many active records a search ranks every one of them; beyond, the full-text index chooses."""
FEWEST_CANDIDATES = 50
CANDIDATES_PER_HIT = 5
"""How many candidates the index chooses (specification, section 17)."""


@dataclass(frozen=True, slots=True)
class Search:
    query: Query
    ranker: Ranker
    now: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    limit: int
    query: str
    kind: Kind | None
    before: int | None


def retrieve(file: ScopeFile, search: Search) -> tuple[list[Hit], bool]:
    """The hits, and whether their use could be counted; hits go before the count."""
    connection = file.reader()
    if connection is None:
        return [], True
    for mode in ("DEFERRED", "IMMEDIATE"):
        try:
            return _find_and_count(file, connection, search, mode), True
        except sqlite3.OperationalError:
            # Somebody else is writing or wrote meanwhile, or this file cannot be written: what is wrong with reading
            # shows below.
            continue
    with transaction(connection, "DEFERRED"):
        return _find(file.scope_key, connection, search, _snapshot(file, connection)), False


def standing(file: ScopeFile, limit: int) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    rows = connection.execute(
        "SELECT * FROM active_records WHERE is_standing = 1 ORDER BY seq DESC LIMIT ?", (_size(limit),)
    )
    return [record_of(file.scope_key, row) for row in rows.fetchall()]


def get(file: ScopeFile, ids: Sequence[str]) -> list[MemoryRecord]:
    connection = file.reader()
    sequences = [sequence_in(file.scope_key, each) for each in dict.fromkeys(ids)]
    if connection is None:
        return []
    found = {record.sequence: record for record in _by_sequence(connection, file.scope_key, sequences)}
    return [found[sequence] for sequence in sequences if sequence in found]


def listed(file: ScopeFile, listing: Listing) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    shown: list[MemoryRecord] = []
    for record in _newest_first(connection, file.scope_key, listing):
        if len(shown) >= listing.limit:
            break
        if not listing.query or matches_any(listing.query, record):
            shown.append(record)
    return shown


def _newest_first(connection: sqlite3.Connection, scope_key: str, listing: Listing) -> Iterator[MemoryRecord]:
    rows = connection.execute(
        "SELECT * FROM active_records WHERE seq < ? AND (? IS NULL OR kind = ?) ORDER BY seq DESC",
        (_size(LARGEST_INTEGER if listing.before is None else listing.before), listing.kind, listing.kind),
    )
    try:
        for row in rows:
            yield record_of(scope_key, row)
    finally:
        rows.close()


def _find_and_count(file: ScopeFile, connection: sqlite3.Connection, search: Search, mode: str) -> list[Hit]:
    with transaction(connection, mode):
        snapshot = _snapshot(file, connection)
        hits = _find(file.scope_key, connection, search, snapshot)
        if hits:
            connection.execute(
                "UPDATE records SET use_count = use_count + 1, last_used_at = ?"
                " WHERE seq IN (SELECT value FROM json_each(?))",
                (microseconds(search.now), json.dumps([hit.record.sequence for hit in hits])),
            )
    if snapshot is not None:
        snapshot.count_use(hits, search.now)
    return hits


def _find(scope_key: str, connection: sqlite3.Connection, search: Search, snapshot: Snapshot | None) -> list[Hit]:
    query = search.query
    tables = {} if snapshot is None else snapshot.tables
    similarity = {} if query.vector is None else _similarity(scope_key, connection, query.vector, tables)
    records = _candidates(connection, scope_key, query, similarity) if snapshot is None else snapshot.records
    return search.ranker.rank(records, query.text, search.now, similarity)[: max(0, query.limit)]


def _snapshot(file: ScopeFile, connection: sqlite3.Connection) -> Snapshot | None:
    """The whole scope, or ``None`` when it is too large to rank whole."""
    version = data_version(connection)
    snapshot = file.snapshot
    if snapshot is None or snapshot.version != version:
        count = connection.execute("SELECT count(*) FROM records WHERE status = 'active'").fetchone()[0]
        snapshot = load(connection, file.scope_key, version) if count <= WHOLE_POOL else None
        file.snapshot = snapshot
    return snapshot


def _similarity(
    scope_key: str, connection: sqlite3.Connection, vector: Vector, tables: dict[tuple[str, int], VectorTable]
) -> dict[str, float]:
    space = (vector.model, len(vector.values))
    if space not in tables:
        tables[space] = vector_table(connection, scope_key, vector)
    return tables[space].similarity(vector.values)


def _candidates(
    connection: sqlite3.Connection, scope_key: str, query: Query, similarity: dict[str, float]
) -> list[MemoryRecord]:
    """What the index likes best for either ranker's idea of a word, and what lies closest; oldest first."""
    size = max(FEWEST_CANDIDATES, CANDIDATES_PER_HIT * query.limit)
    chosen: set[int] = set()
    for column, tokens in (("words", tokenize(query.text)), ("terms", list(query_terms(query.text)))):
        if tokens:
            found = connection.execute(
                "SELECT rowid FROM records_fts WHERE records_fts MATCH ? ORDER BY rank, rowid DESC LIMIT ?",
                (match_of(column, tokens), _size(size)),
            )
            chosen.update(sequence for (sequence,) in found)
    closest = sorted(similarity, key=lambda each: -similarity[each])[:size]
    chosen.update(sequence for each in closest if (sequence := sequence_in(scope_key, each)) is not None)
    return _by_sequence(connection, scope_key, sorted(chosen))


def _by_sequence(connection: sqlite3.Connection, scope_key: str, sequences: Sequence[int | None]) -> list[MemoryRecord]:
    rows = connection.execute(
        "SELECT * FROM active_records WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (json.dumps(sequences),),
    )
    return [record_of(scope_key, row) for row in rows.fetchall()]


def _size(limit: int) -> int:
    """``limit`` as SQLite takes it, to which a negative one would mean any number."""
    return min(max(0, limit), LARGEST_INTEGER)
