"""What SQLite finds by itself: FTS5 with the porter stemmer, ranked by bm25, the query without its stop words."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

from memory.ranker import NO_SIMILARITY
from memory.record import MemoryRecord
from memory.stopwords import STOP_WORDS
from memory.store import Hit

_WORD = re.compile(r"\w+")


class Fts5Ranker:
    """Ranks one pool, the one it was made with; knows texts only."""

    def __init__(self, records: Sequence[MemoryRecord]) -> None:
        self._records = records
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61')")
        rows = ((number, record.text) for number, record in enumerate(records))
        self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)

    def rank(
        self,
        records: Sequence[MemoryRecord],  # noqa: ARG002 - they are in the index already
        query: str,
        now: datetime,  # noqa: ARG002 - bm25 knows no time
        similarity: Mapping[str, float] = NO_SIMILARITY,  # noqa: ARG002 - nor vectors
    ) -> list[Hit]:
        words = _WORD.findall(query.lower())
        telling = [word for word in words if word not in STOP_WORDS] or words
        match = " OR ".join(f'"{word}"' for word in telling) or '""'
        statement = "SELECT rowid, -bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid"
        rows: list[tuple[int, float]] = self._connection.execute(statement, (match,)).fetchall()
        return [Hit(self._records[number], score) for number, score in rows]

    def close(self) -> None:
        self._connection.close()
