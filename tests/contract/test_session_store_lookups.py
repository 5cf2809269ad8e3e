"""The session store's promises about who spoke where, and about going on elsewhere, over every database."""

from dataclasses import replace

import pytest
from sqlalchemy import select, update

from app.channel import ThreadKey
from app.sessions.entry import SessionEntry, SessionId, SessionKey
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.source import ChatType, SessionSource
from app.sessions.transcript import Kind, TranscriptMessage
from app.state.engine import Database
from app.state.sessions import StateSessions
from app.state.tables import sessions, transcript
from tests.fakes import EPOCH, ManualClock
from tests.session_lines import answer, contents, observed, said, store_over, thread

KEY = SessionKey("agent:main:slack:channel:C1:1.0")
STEM = "agent:main:slack:channel:C1"


@pytest.fixture
def store(database: Database) -> StateSessions:
    return store_over(database, ManualClock())


async def opened(store: StateSessions, root: str = "1.0", chat: str = "C1") -> SessionEntry:
    source, key = thread(root)
    return await store.get_or_create(replace(source, chat_id=chat), key)


def by(user_id: str, content: str = "hello") -> TranscriptMessage:
    return replace(said(content), user_id=user_id)


async def test_all_who_spoke_are_known_in_sight_or_not(store: StateSessions) -> None:
    entry, other = await opened(store), await opened(store, "2.0")
    await store.append(entry.session_id, [by("slack:U1"), answer("yes")])
    await store.rewind(entry.session_id)
    await store.append(entry.session_id, [by("slack:U2"), by("slack:U2")])
    await store.rewrite(entry.session_id, [TranscriptMessage("user", "in short", EPOCH, Kind.SUMMARY)])
    await store.reset(KEY)
    await store.append((await opened(store)).session_id, [by("slack:U3")])
    await store.append(other.session_id, [by("slack:U4")])
    assert await store.speakers([KEY]) == {"slack:U1", "slack:U2", "slack:U3"}
    assert await store.speakers([KEY, other.session_key]) == {"slack:U1", "slack:U2", "slack:U3", "slack:U4"}


async def test_who_was_only_read_along_did_not_speak_to_the_bot(store: StateSessions) -> None:
    entry = await opened(store)
    await store.append(entry.session_id, [replace(observed("aside"), user_id="slack:U9"), answer("yes")])
    assert await store.speakers([KEY]) == frozenset()
    assert await store.speakers([]) == frozenset()


async def test_conversations_are_found_by_how_their_keys_begin(store: StateSessions) -> None:
    """C1 is neither C12 nor c1, and what was pruned or ended is still a conversation."""
    for root, chat in (("2.0", "C1"), ("1.0", "C1"), ("1.0", "C12"), ("1.0", "c1"), ("1.0", "C%")):
        await opened(store, root, chat)
    rolling = SessionSource("slack", "C1", None, ChatType.CHANNEL, thread_id=None)
    await store.get_or_create(rolling, ThreadKey("slack:C1:9.9"))
    await store.reset(KEY)
    assert await store.keys_within(STEM) == [STEM, f"{STEM}:1.0", f"{STEM}:2.0"]
    assert await store.keys_within("agent:main:slack:channel:c1") == ["agent:main:slack:channel:c1:1.0"]
    assert await store.keys_within("agent:main:slack:channel:_1") == []
    assert await store.keys_within(f"{STEM}%") == []


async def test_conversations_are_found_by_who_spoke_in_them(store: StateSessions) -> None:
    first, second, third = [await opened(store, root) for root in ("1.0", "2.0", "3.0")]
    await store.append(first.session_id, [by("slack:U1")])
    await store.reset(KEY)
    await store.append(second.session_id, [by("slack:U2"), replace(observed("aside"), user_id="slack:U1")])
    await store.append(third.session_id, [by("slack:U1"), by("slack:U1")])
    assert await store.keys_within(STEM, speaker="slack:U1") == [f"{STEM}:1.0", f"{STEM}:3.0"]
    assert await store.keys_within(STEM, speaker="slack:U") == []
    assert await store.keys_within(STEM, speaker="\x00\ud83d") == []


async def test_a_session_goes_on_elsewhere_and_stays_where_it_is(store: StateSessions, database: Database) -> None:
    entry, other = await opened(store), await opened(store, "2.0")
    await store.append(other.session_id, [said("slip", "2.0"), answer("?")])
    await store.rewind(other.session_id)
    await store.append(other.session_id, [said("one", "2.1"), answer("first"), observed("aside", "2.3")])
    await store.set_title(other.session_id, "Plan")
    forked = await store.fork(KEY, other.session_id, expected=entry.session_id, watermark="1.5")
    assert forked is not None
    assert forked == await store.get(KEY)
    assert (forked.watermark, forked.session_key) == ("1.5", KEY)
    assert contents(await store.load(forked.session_id)) == ["one", "first", "aside"]
    assert [replace(line, id=None) for line in await store.load(forked.session_id)] == [
        replace(line, id=None) for line in await store.load(other.session_id)
    ]
    assert await store.get(other.session_key) == other
    columns = (sessions.c.session_id, sessions.c.parent_session_id, sessions.c.end_reason)
    rows = await database.read(
        lambda connection: {row[0]: tuple(row[1:]) for row in connection.execute(select(*columns))}
    )
    assert rows == {
        entry.session_id: (None, "session_switch"),
        other.session_id: (None, None),
        forked.session_id: (other.session_id, None),
    }


async def test_a_session_goes_on_elsewhere_only_from_where_the_conversation_stands(store: StateSessions) -> None:
    entry, other = await opened(store), await opened(store, "2.0")
    assert await store.fork(KEY, other.session_id, expected=other.session_id) is None
    assert await store.fork(KEY, SessionId("20200101_000000_ffffffff")) is None
    assert await store.fork(SessionKey("agent:main:slack:channel:C9:9.9"), other.session_id) is None
    assert await store.get(KEY) == entry
    assert len(await store.sessions_of([KEY])) == 1


async def test_what_cannot_be_read_goes_on_nowhere(store: StateSessions, database: Database) -> None:
    entry, other = await opened(store), await opened(store, "2.0")
    await store.append(other.session_id, [said("secret")])
    await database.write(lambda connection: connection.execute(update(transcript).values(role="system")))
    with pytest.raises(TranscriptUnreadableError):
        await store.fork(KEY, other.session_id)
    assert await store.get(KEY) == entry
    assert len(await store.sessions_of([KEY])) == 1
