"""A compression over every state database: the same session id, the old lines kept for the record, one account."""

from dataclasses import replace

import pytest
from sqlalchemy import func, select

from app.background import Background
from app.channel import ThreadKey
from app.sessions.compression import Cause
from app.sessions.compression_outcome import Result
from app.sessions.compressor import Compressor, Policy, Ports
from app.sessions.entry import SessionEntry
from app.sessions.source import ChatType, SessionSource
from app.sessions.summariser import Conversation, Summariser
from app.sessions.usage import By, Which
from app.state.engine import Database
from app.state.sessions import StateSessions
from app.state.tables import transcript as lines
from app.state.usage import StateUsage
from tests.fakes import ManualClock, OneModel, ScriptedProvider
from tests.transcripts import signs_of, transcript

SOURCE = SessionSource("slack", "C1", "general", ChatType.CHANNEL, user_id="U1", thread_id="1.0")
LONG = "{sign}{number} " + "word " * 100


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(database: Database, clock: ManualClock) -> StateSessions:
    return StateSessions(database, clock)


@pytest.fixture
def compressor(database: Database, store: StateSessions, clock: ManualClock) -> Compressor:
    models = OneModel(ScriptedProvider(["The notes."]))
    summariser = Summariser(models, StateUsage(database), clock, prices={}, timeout_s=5)
    return Compressor(Ports(store, summariser, Background(), clock), Policy(protect_first=2, protect_last=2))


async def begun(store: StateSessions, signs: str) -> tuple[SessionEntry, Conversation]:
    entry = await store.get_or_create(SOURCE, ThreadKey("slack:C1:1.0"))
    await store.append(entry.session_id, [replace(line, id=None) for line in transcript(signs, LONG)])
    await store.update(entry.session_key, last_prompt_tokens=1_000)
    where = Conversation(
        entry.session_key, entry.session_id, "slack:U1", "slack:C1", "abcd1234", "test/scripted", window=4_000
    )
    return entry, where


async def test_the_session_keeps_its_id_and_its_old_lines(
    database: Database, store: StateSessions, compressor: Compressor
) -> None:
    """Session lifecycle, section 3: a rewrite replaces what is active, under the same session id."""
    entry, where = await begun(store, "qaqaqaqa")
    outcome = await compressor.compress(where)
    kept = await store.load(entry.session_id)
    assert (outcome.result, signs_of(kept), kept[2].content) == (Result.SUMMARISED, "qasqa", "The notes.")
    now = await store.get(entry.session_key)
    assert now is not None
    assert (now.session_id, now.last_prompt_tokens) == (entry.session_id, outcome.tokens_after)
    compacted = select(func.count()).where(lines.c.is_compacted)
    assert await database.read(lambda connection: connection.scalar(compacted)) == 8


async def test_what_was_compressed_twice_holds_one_summary(store: StateSessions, compressor: Compressor) -> None:
    entry, where = await begun(store, "qaqaqaqa")
    await compressor.compress(where)
    await store.append(entry.session_id, [replace(line, id=None) for line in transcript("qaqa", LONG)])
    assert (await compressor.compress(where, cause=Cause.COMMAND)).result is Result.SUMMARISED
    assert signs_of(await store.load(entry.session_id)) == "qasqa"


async def test_a_compression_stands_in_the_account_beside_the_turns(
    database: Database, store: StateSessions, compressor: Compressor
) -> None:
    _, where = await begun(store, "qaqaqaqa")
    await compressor.compress(where)
    (share,) = await StateUsage(database).shares(By.TASK, Which(session_key=where.session_key))
    assert (share.name, share.spent.tokens.total, share.spent.cost.unknown) == ("compression", 8, 1)
