"""Finding lines of the transcript by their words, in either database."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, column, func, literal_column, select, table

from app.sessions.entry import SessionKey
from app.sessions.transcript import Found
from app.state.tables import sessions, transcript
from app.state.transcript_rows import LINE, line, reading
from memory.text import storable

QUERY_WORDS = 50
WORD_CHARS = 500
"""Longer ones are in no index (PostgreSQL keeps up to 2,046 bytes), so they say nothing about a line."""

_index = table("transcript_fts", column("rowid"), column("rank"), column("transcript_fts"))
_SIMPLE: ColumnElement[Any] = literal_column("'simple'")
_INDEXED: ColumnElement[Any] = literal_column("100000")
"""Characters of a line that PostgreSQL's index knows."""


def find(connection: Connection, query: str, keys: Collection[SessionKey], limit: int) -> Sequence[Found]:
    """Lines with every word of ``query``, best first, then newest. What was rewound is not found.

    A line that a rewriting kept stands in the table twice and is found once.
    """
    words = [word for word in storable(query).split() if len(word) <= WORD_CHARS][:QUERY_WORDS]
    if not words or not keys or limit <= 0:
        return []
    is_sqlite = connection.dialect.name == "sqlite"
    hits = (_in_sqlite(words) if is_sqlite else _in_postgresql(words)).where(
        sessions.c.session_key.in_(keys), transcript.c.is_active | transcript.c.is_compacted
    )
    each = hits.subquery()
    once = select(each).where(each.c.copy == 1).order_by(each.c.score, each.c.id.desc()).limit(limit)
    with reading():
        return [Found(row[0], line(*row[1 : 1 + len(LINE)])) for row in connection.execute(once)]


def _in_sqlite(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """Each word as a string of FTS5's query language, in which nothing but a quote means anything."""
    quoted = " ".join('"' + word.replace('"', '""') + '"' for word in words)
    return (
        _hits(_index.c.rank)
        .join_from(_index, transcript, transcript.c.id == _index.c.rowid)
        .join(sessions, sessions.c.session_id == transcript.c.session_id)
        .where(_index.c.transcript_fts.op("MATCH")(quoted))
    )


def _in_postgresql(words: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """The expression is that of the index."""
    text = func.to_tsvector(_SIMPLE, func.left(transcript.c.content, _INDEXED))
    wanted = func.plainto_tsquery(_SIMPLE, " ".join(words))
    return (
        _hits(-func.ts_rank(text, wanted))
        .join_from(transcript, sessions, sessions.c.session_id == transcript.c.session_id)
        .where(text.op("@@")(wanted))
    )


def _hits(score: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """The lower the score, the better the line; of the copies of one line, the newest is the first."""
    copy = func.row_number().over(
        partition_by=(transcript.c.session_id, transcript.c.at, transcript.c.role, transcript.c.content),
        order_by=transcript.c.id.desc(),
    )
    return select(transcript.c.session_id, *LINE, score.label("score"), copy.label("copy"))
