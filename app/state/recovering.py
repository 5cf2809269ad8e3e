"""Carrying over what can still be read: row by row, from a damaged database into a sound, empty one."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_MOST_FAULTS = 50_000
"""Failed reads of one table after which what is left of it is given up: a bound for the time, not for the rows."""
_FAR = 10_000_000
"""Where a table is taken to end when neither it nor an index of it can say so."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """``lost`` is None when nothing is left that could tell how many rows there were."""

    table: str
    kept: int
    lost: int | None


def recover(source: Path, target: Path) -> list[Recovered]:
    """What was kept of every table that ``target`` has. Raises ``sqlite3.Error`` when the source has no schema left."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target, isolation_level=None)) as new:
        old.text_factory = _text
        old.execute(
            "PRAGMA writable_schema = ON"
        )  # or SQLite reads nothing of a file that is shorter than it should be
        new.execute("BEGIN IMMEDIATE")
        found = [_carry_over(old, new, table) for table in _tables(new)]
        _make_sessions_up(new)
        _remove_orphans(new)
        new.execute("COMMIT")
        return [Recovered(each.table, _count(new, each.table), each.lost) for each in found]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _tables(database: sqlite3.Connection) -> list[str]:
    names = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'transcript_fts%'"
        " AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version' ORDER BY name"
    )
    return [name for (name,) in names.fetchall()]


def _carry_over(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> Recovered:
    there = {name for _, name, *_ in old.execute(f"PRAGMA table_info({table})").fetchall()}
    columns = {name: kind for _, name, kind, *_ in new.execute(f"PRAGMA table_info({table})") if name in there}
    if not columns:
        return Recovered(table, 0, 0)
    names, places = ", ".join(columns), ", ".join("?" * (len(columns) + 1))
    statement = f"INSERT OR IGNORE INTO {table}(rowid, {names}) VALUES ({places})"  # noqa: S608 - names of our schema
    for row in _readable(old, table, names):
        if _fits(row[1:], list(columns.values())):
            new.execute(statement, row)
    kept, expected = _count(new, table), _expected(old, table)
    return Recovered(table, kept, None if expected is None else max(0, expected - kept))


def _readable(database: sqlite3.Connection, table: str, names: str) -> Iterator[Sequence[object]]:
    """Every row that can be read, its rowid first. What lies between two faults is halved until it is read or one."""
    query = f"SELECT rowid, {names} FROM {table} WHERE rowid BETWEEN ? AND ? ORDER BY rowid"  # noqa: S608 - our schema
    gaps = [_range(database, table)]
    faults = 0
    while gaps and faults < _MOST_FAULTS:
        low, high = gaps.pop()
        for order in ("ASC", "DESC"):
            try:
                for row in database.execute(f"{query} {order}", (low, high)):
                    yield row
                    low, high = (row[0] + 1, high) if order == "ASC" else (low, row[0] - 1)
            except sqlite3.DatabaseError:
                faults += 1
            else:
                break
        else:
            middle = (low + high) // 2
            gaps += [(start, end) for start, end in ((middle + 1, high), (low, middle)) if start < end or low < high]


def _range(database: sqlite3.Connection, table: str) -> tuple[int, int]:
    lowest, highest = _asked(database, table, "min(rowid)"), _asked(database, table, "max(rowid)")
    is_empty = bool(highest) and not any(highest)
    return min(_known(lowest), default=1), max(_known(highest), default=1 if is_empty else _FAR)


def _known(answers: Sequence[int | None]) -> list[int]:
    return [answer for answer in answers if answer is not None]


def _expected(database: sqlite3.Connection, table: str) -> int | None:
    return max(_known(_asked(database, table, "count(*)")), default=None)


def _asked(database: sqlite3.Connection, table: str, what: str) -> list[int | None]:
    """The table's answer and those of its indexes, as far as they can be read."""
    answers: list[int | None] = []
    names = [name for _, name, *_ in database.execute(f"PRAGMA index_list({table})").fetchall()]
    for by in ("NOT INDEXED", *(f'INDEXED BY "{name}"' for name in names)):
        try:
            answers += database.execute(f"SELECT {what} FROM {table} {by}").fetchone()  # noqa: S608 - our schema
        except sqlite3.DatabaseError:
            continue
    return answers


def _fits(row: Sequence[object], kinds: Sequence[str]) -> bool:
    """Whether the values are of their columns' kinds: damage may look like a row."""
    wanted = [str if kind == "TEXT" else int for kind in kinds]
    return all(value is None or isinstance(value, kind) for value, kind in zip(row, wanted, strict=True))


def _count(database: sqlite3.Connection, table: str) -> int:
    return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our schema


def _make_sessions_up(database: sqlite3.Connection) -> None:
    """What was said outlives the row of its session: a lost one is made up from what refers to it."""
    database.execute(
        "INSERT OR IGNORE INTO sessions(session_id, session_key, created_at, last_active_at)"
        " SELECT said.session_id, coalesce(routes.session_key, 'recovered:' || said.session_id), min(at), max(at)"
        " FROM transcript AS said LEFT JOIN routes ON routes.session_id = said.session_id"
        " WHERE said.session_id NOT IN (SELECT session_id FROM sessions) GROUP BY said.session_id"
    )
    database.execute(
        "INSERT OR IGNORE INTO sessions(session_id, session_key, created_at, last_active_at)"
        " SELECT session_id, session_key, created_at, updated_at FROM routes"
        " WHERE session_id NOT IN (SELECT session_id FROM sessions)"
    )


def _remove_orphans(database: sqlite3.Connection) -> None:
    """Rows whose owner could not be read; taking one out may leave others."""
    while orphans := database.execute("PRAGMA foreign_key_check").fetchall():
        for table, number, *_ in orphans:
            database.execute(f"DELETE FROM {table} WHERE rowid = ?", (number,))  # noqa: S608 - our schema
