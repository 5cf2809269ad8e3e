"""How the entry of a conversation is kept where little of it changes, over every state database."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, update

from app.channel import ThreadKey
from app.sessions import lifecycle
from app.sessions.entry import Cost, ResumeReason, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.source import ChatType
from app.state import entry_rows, session_rows
from app.state.engine import Database
from app.state.tables import routes
from tests.fakes import EPOCH
from tests.session_lines import thread
from tests.state_databases import database, migrated_url, state_backend

__all__ = ["database", "migrated_url", "state_backend"]

KEY, LATER = SessionKey("agent:main:slack:channel:C1:1.0"), EPOCH + timedelta(hours=1)
SOURCE, THREAD = thread()
OTHERWISE: dict[str, Any] = {
    "session_id": SessionId("20260101_000000_00000002"),
    "thread_key": ThreadKey("slack:C1:2.0"),
    "created_at": LATER,
    "updated_at": LATER,
    "origin": replace(SOURCE, chat_id="C2"),
    "display_name": "another",
    "platform": "console",
    "chat_type": ChatType.GROUP,
    "tokens": Tokens(1, 2, 3, 4),
    "cost": Cost(7, "estimated"),
    "last_prompt_tokens": 5,
    "was_auto_reset": True,
    "auto_reset_reason": "suspended",
    "reset_had_activity": True,
    "is_fresh_reset": True,
    "expiry_finalized": True,
    "suspended": True,
    "resume_pending": True,
    "resume_reason": ResumeReason.RESTART_INTERRUPTED,
    "last_resume_marked_at": LATER,
    "active_turn_token": "1.1",
    "active_turn_started_at": LATER,
    "interrupted_boots": 2,
    "watermark": "1.1",
}
"""A value for each thing about an entry but its key, other than the one it begins with."""


async def begun_with(database: Database) -> SessionEntry:
    fresh = lifecycle.fresh(KEY, SessionId("20260101_000000_00000001"), SOURCE, THREAD, EPOCH)

    def write(connection: Connection) -> None:
        for session_id in (fresh.session_id, OTHERWISE["session_id"]):
            assert session_rows.create(connection, session_id, KEY, EPOCH)
        entry_rows.save(connection, fresh)

    await database.write(write)
    return fresh


async def kept(database: Database) -> SessionEntry | None:
    return await database.read(lambda connection: entry_rows.get(connection, KEY))


async def test_whatever_changes_is_kept_and_nothing_else_changes(database: Database) -> None:
    assert {"session_key", *OTHERWISE} == {field.name for field in fields(SessionEntry)}
    before = await begun_with(database)
    for name, value in OTHERWISE.items():
        changed = replace(before, **{name: value})
        for there, then in ((before, changed), (changed, before)):
            await database.write(lambda connection, there=there, then=then: entry_rows.save(connection, then, there))
            assert await kept(database) == then, name


async def test_all_that_changes_at_once_is_kept(database: Database) -> None:
    before = await begun_with(database)
    changed = replace(before, **OTHERWISE)
    await database.write(lambda connection: entry_rows.save(connection, changed, before))
    assert await kept(database) == changed


@pytest.mark.parametrize("changes", [{}, {"watermark": "1.2"}])
async def test_what_is_as_it_was_is_not_written(database: Database, changes: dict[str, Any]) -> None:
    entry = await begun_with(database)

    def write(connection: Connection) -> None:
        connection.execute(update(routes).values(display_name="written by somebody else"))
        entry_rows.save(connection, replace(entry, **changes), entry)

    await database.write(write)
    assert await kept(database) == replace(entry, display_name="written by somebody else", **changes)
