"""State databases in files, filled and then really damaged."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import insert

from app.state.migrating import upgrade
from app.state.opening import engine_of
from app.state.tables import inbox, posts, routes, sessions, transcript
from tests.state_databases import MOMENT, disposing

SESSIONS, LINES = 60, 1_500
_PAGE = 4_096
_INTERIOR = {2: 12, 5: 12}
"""How long the header is of a page that has others below it (https://sqlite.org/fileformat2.html#b_tree_pages)."""


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"


def filled(file: Path) -> Path:
    """Sessions, what was said in them, and what was accepted; closed, everything in the one file."""
    file.touch(0o600)
    file.write_bytes(_filled())
    return file


@cache
def _filled() -> bytes:
    """Made once: to fill one takes longer than most tests of it do."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        _fill(file)
        assert [each.name for each in Path(folder).iterdir()] == [file.name]
        return file.read_bytes()


def _fill(file: Path) -> None:
    names = range(SESSIONS)
    with disposing(engine_of(url_of(file))) as engine:
        upgrade(engine)
        with engine.begin() as connection:
            connection.execute(insert(sessions), [session(f"s{name}", f"k{name}") for name in names])
            connection.execute(insert(routes), [route(f"s{name}", f"k{name}") for name in names])
            connection.execute(insert(inbox), [message(f"e{name}", f"k{name}") for name in names])
            connection.execute(insert(posts), [{"inbox_id": name + 1, "position": "1"} for name in names])
            connection.execute(insert(transcript), [line(f"s{n % SESSIONS}", said(n)) for n in range(LINES)])


def session(session_id: str, session_key: str) -> dict[str, object]:
    return {"session_id": session_id, "session_key": session_key, "created_at": MOMENT, "last_active_at": MOMENT}


def route(session_id: str, session_key: str) -> dict[str, object]:
    times = {"created_at": MOMENT, "updated_at": MOMENT}
    return {"session_key": session_key, "session_id": session_id, "thread_key": "t", "chat_type": "channel", **times}


def message(event_id: str, session_key: str) -> dict[str, object]:
    place = {"place": event_id, "session_key": session_key, "thread_key": "t"}
    return {"event_id": event_id, "payload": "", "state": "ended", "accepted_at": MOMENT, **place}


def line(session_id: str, content: str) -> dict[str, object]:
    return {"session_id": session_id, "role": "user", "kind": "said", "content": content, "at": MOMENT}


def said(number: int) -> str:
    return " ".join(f"word{(number * 7 + place * 13) % 500}" for place in range(60))


def changed(file: Path, *statements: str) -> None:
    """By somebody who may touch what is SQLite's own."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def rows(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT count(*) FROM {table} NOT INDEXED").fetchone()[0]  # noqa: S608 - our own


def root(file: Path, name: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]


def leaves(file: Path, name: str) -> list[int]:
    """The pages of a table or an index that hold its rows, in its order."""
    content = file.read_bytes()
    found: list[int] = []
    waiting = [root(file, name)]
    while waiting:
        number = waiting.pop()
        page = content[(number - 1) * _PAGE : number * _PAGE]
        header = _INTERIOR.get(page[0])
        if header is None:
            found.append(number)
            continue
        cells = [header + 2 * place for place in range(int.from_bytes(page[3:5]))]
        pointers = [int.from_bytes(page[cell : cell + 2]) for cell in cells]
        children = [int.from_bytes(page[pointer : pointer + 4]) for pointer in pointers]
        waiting += reversed([*children, int.from_bytes(page[8:12])])
    return found


def overwrite(file: Path, *pages: int) -> None:
    """With what is no page of any kind."""
    with file.open("r+b") as opened:
        for number in pages:
            opened.seek((number - 1) * _PAGE)
            opened.write(b"\xaa" * _PAGE)


def content_of(file: Path) -> bytes:
    return file.read_bytes()


def replaced(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def truncate(file: Path, *, pages: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size - pages * _PAGE)
