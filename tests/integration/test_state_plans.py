"""How SQLite finds what a conversation asks for: by an index, however much is kept."""

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import event

from app.dispatch.journal import Accepted
from app.dispatch.keying import Keying
from app.sessions.entry import SessionEntry
from app.state.engine import Database
from app.state.journal import StateJournal
from app.state.opening import FILE_NAME, default_url, open_database
from app.state.sessions import StateSessions
from tests.fakes import ManualClock, message
from tests.session_lines import turn_record

KEYING = Keying()
_STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_INDEX = "transcript_fts"
"""The full-text index asks its own tables in its own ways."""


def listened(database: Database) -> list[str]:
    """What is asked from now on, values filled in; without what triggers do."""
    asked: list[str] = []

    def listen(raw: Any, _record: object) -> None:
        raw.set_trace_callback(asked.append)

    database.engine.dispose()
    event.listen(database.engine, "connect", listen)
    return asked


def scanned(file: Path, asked: Collection[str]) -> set[str]:
    """What of it goes through a whole table, or a whole index."""
    with closing(sqlite3.connect(file)) as connection:
        looks = [each for each in dict.fromkeys(asked) if each.startswith(_STATEMENTS) and _INDEX not in each]
        plans = {each: connection.execute(f"EXPLAIN QUERY PLAN {each}").fetchall() for each in looks}
    assert plans
    return {each for each, steps in plans.items() if any(step[3].startswith("SCAN") for step in steps)}


async def turn(journal: StateJournal, position: str) -> tuple[Accepted, SessionEntry]:
    asked = message(event=f"Ev{position}", position=position, root="1.0")
    accepted = await journal.accept(asked, KEYING.key(asked), "here")
    assert accepted is not None
    entry = await journal.begin(accepted, KEYING.source(asked))
    await journal.posted(accepted, f"{position}5")
    await journal.promise(accepted, "5433", turn_record(entry))
    await journal.undelivered(accepted, turn_record(entry))
    await journal.end(accepted, "ran", turn_record(entry))
    return accepted, entry


async def test_nothing_that_a_turn_asks_for_is_looked_for_in_a_whole_table(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_database(default_url(tmp_path)) as database:
        asked = listened(database)
        journal, sessions = StateJournal(database, clock), StateSessions(database, clock)
        for position in ("1.1", "1.2"):
            accepted, entry = await turn(journal, position)
        await journal.reword(accepted.message.place, "other words")
        await journal.withdraw(accepted.message.place, ("", "+"))
        await sessions.heard(entry.session_id, ["1.1"])
        await sessions.load(entry.session_id)
        await sessions.reset(entry.session_key, title="another")
        await sessions.prune(1)
        await sessions.lookup(entry.session_id)
        await sessions.sessions_of([entry.session_key])
        await sessions.speakers([entry.session_key])
        await turn(journal, "1.3")
    assert scanned(tmp_path / FILE_NAME, asked) == set()
