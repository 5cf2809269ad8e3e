"""Reading a scope's SQLite file: what a search ranks, and what people and turns ask for by name."""

import json
import sqlite3
from collections.abc import Iterator, Sequence

from memory.engine import used
from memory.ranker import NO_SIMILARITY, matches_any
from memory.record import MemoryRecord
from memory.store import Hit, Query, Retrieved
from memory.stores.rows import LARGEST_INTEGER, row_limit, sequence_in
from memory.stores.searches import WHOLE_POOL, Listing, Search, candidates_for, ranked
from memory.stores.sqlite_files import ScopeFile
from memory.stores.sqlite_rows import match_of, record_of
from memory.stores.sqlite_schema import transaction
from memory.stores.sqlite_snapshot import Snapshot, data_version, load, vector_table
from memory.stores.vectors import VectorTable, keep_table
from memory.text import query_terms, tokenize


def retrieve(file: ScopeFile, search: Search) -> Retrieved:
    """Only reads the file; what it finds is counted as used in memory, until ``ScopeFile.settle`` writes it down."""
    connection = file.reader()
    if connection is None:
        return Retrieved()
    with transaction(connection, "DEFERRED"):
        snapshot = _snapshot(file, connection)
        hits = _find(file, connection, search, snapshot)
        standing = _standing(file, connection, search.query.standing, snapshot)
    return _counted(file, search, snapshot, hits, standing)


def retrieve_at_once(file: ScopeFile, search: Search) -> Retrieved | None:
    """As ``retrieve``, from what is in memory: it waits for nothing, so the event loop may do it.

    ``None`` when the scope is not in memory as the file holds it now, and for vectors, whose comparison takes long.
    """
    if search.query.vector is not None:
        return None
    with file.read_at_once() as snapshot:
        if snapshot is None:
            return None
        hits = ranked(snapshot.pool, search, NO_SIMILARITY)
        return _counted(file, search, snapshot, hits, snapshot.pool.standing(search.query.standing))


def _counted(
    file: ScopeFile, search: Search, snapshot: Snapshot | None, hits: Sequence[Hit], standing: Sequence[MemoryRecord]
) -> Retrieved:
    """The answer, each hit once more used; the file learns of it later."""
    file.uses.add((hit.record.sequence for hit in hits), search.now)
    found = tuple(Hit(used(hit.record, search.now), hit.score) for hit in hits)
    if snapshot is not None:
        snapshot.count_use(found)
    return Retrieved(found, standing=tuple(standing))


def get(file: ScopeFile, ids: Sequence[str]) -> list[MemoryRecord]:
    connection = file.reader()
    sequences = [sequence_in(file.scope_key, each) for each in dict.fromkeys(ids)]
    if connection is None:
        return []
    found = {record.sequence: record for record in _by_sequence(file, connection, sequences)}
    return [found[sequence] for sequence in sequences if sequence in found]


def listed(file: ScopeFile, listing: Listing) -> list[MemoryRecord]:
    connection = file.reader()
    if connection is None:
        return []
    shown: list[MemoryRecord] = []
    for record in _newest_first(file, connection, listing):
        if len(shown) >= listing.limit:
            break
        if not listing.query or matches_any(listing.query, record):
            shown.append(record)
    return shown


def _newest_first(file: ScopeFile, connection: sqlite3.Connection, listing: Listing) -> Iterator[MemoryRecord]:
    rows = connection.execute(
        "SELECT * FROM active_records WHERE seq < ? AND (? IS NULL OR kind = ?) ORDER BY seq DESC",
        (row_limit(LARGEST_INTEGER if listing.before is None else listing.before), listing.kind, listing.kind),
    )
    try:
        for row in rows:
            yield from file.uses.shown_on([record_of(file.scope_key, row)])
    finally:
        rows.close()


def _find(file: ScopeFile, connection: sqlite3.Connection, search: Search, snapshot: Snapshot | None) -> list[Hit]:
    query = search.query
    tables = {} if snapshot is None else snapshot.tables
    similarity = _similarity(file.scope_key, connection, query, tables)
    records = _candidates(file, connection, query, similarity) if snapshot is None else snapshot.pool
    return ranked(records, search, similarity)


def _standing(
    file: ScopeFile, connection: sqlite3.Connection, limit: int, snapshot: Snapshot | None
) -> list[MemoryRecord]:
    """Newest first, as they are before the search counts."""
    if snapshot is not None:
        return snapshot.pool.standing(limit)
    rows = connection.execute(
        "SELECT * FROM active_records WHERE is_standing = 1 ORDER BY seq DESC LIMIT ?", (row_limit(limit),)
    )
    return file.uses.shown_on([record_of(file.scope_key, row) for row in rows.fetchall()])


def _snapshot(file: ScopeFile, connection: sqlite3.Connection) -> Snapshot | None:
    """The whole scope, or ``None`` when it is too large to rank whole."""
    version = data_version(connection)
    snapshot = file.snapshot
    if snapshot is None or snapshot.version != version:
        count = connection.execute("SELECT count(*) FROM records WHERE status = 'active'").fetchone()[0]
        snapshot = load(connection, file.scope_key, version, file.uses) if count <= WHOLE_POOL else None
        file.snapshot = snapshot
    return snapshot


def _similarity(
    scope_key: str, connection: sqlite3.Connection, query: Query, tables: dict[tuple[str, int], VectorTable]
) -> dict[str, float]:
    vector = query.vector
    if vector is None:
        return {}
    space = (vector.model, len(vector.values))
    if space not in tables:
        keep_table(tables, space, vector_table(connection, scope_key, vector))
    return tables[space].similarity(vector.values, query_terms(query.text))


def _candidates(
    file: ScopeFile, connection: sqlite3.Connection, query: Query, similarity: dict[str, float]
) -> list[MemoryRecord]:
    """What the index likes best for either ranker's idea of a word, and what lies closest; oldest first."""
    size = candidates_for(query.limit)
    chosen: set[int] = set()
    for column, tokens in (("words", tokenize(query.text)), ("terms", list(query_terms(query.text)))):
        if tokens:
            found = connection.execute(
                "SELECT rowid FROM records_fts WHERE records_fts MATCH ? ORDER BY rank, rowid DESC LIMIT ?",
                (match_of(column, tokens), row_limit(size)),
            )
            chosen.update(sequence for (sequence,) in found)
    closest = sorted(similarity, key=lambda each: -similarity[each])[:size]
    chosen.update(sequence for each in closest if (sequence := sequence_in(file.scope_key, each)) is not None)
    return _by_sequence(file, connection, sorted(chosen))


def _by_sequence(
    file: ScopeFile, connection: sqlite3.Connection, sequences: Sequence[int | None]
) -> list[MemoryRecord]:
    rows = connection.execute(
        "SELECT * FROM active_records WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq",
        (json.dumps(sequences),),
    )
    return file.uses.shown_on([record_of(file.scope_key, row) for row in rows.fetchall()])
