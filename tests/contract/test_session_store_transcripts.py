"""The session store's promises about what was said, over every database (session lifecycle, section 3)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, text

from app.sessions.entry import SessionId, SessionKey
from app.sessions.errors import TranscriptUnreadableError
from app.sessions.transcript import Kind, Rewound, TranscriptMessage
from app.state import transcript_rows
from app.state.engine import Database
from app.state.errors import StateError
from app.state.sessions import StateSessions
from app.state.tables import transcript
from app.state.transcript_rows import POSITIONS
from tests.fakes import EPOCH, ManualClock
from tests.session_lines import answer, contents, observed, said, store_over, thread

KEY = SessionKey("agent:main:slack:channel:C1:1.0")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(database: Database, clock: ManualClock) -> StateSessions:
    return store_over(database, clock)


@pytest.fixture
async def session(store: StateSessions) -> SessionId:
    return (await store.get_or_create(*thread())).session_id


async def states(database: Database, session: SessionId) -> list[tuple[str, bool, bool]]:
    """Content, active, compacted: of every line there ever was."""
    columns = (transcript.c.content, transcript.c.is_active, transcript.c.is_compacted)
    wanted = select(*columns).where(transcript.c.session_id == session).order_by(transcript.c.id)
    return await database.read(lambda connection: [tuple(row) for row in connection.execute(wanted)])


async def test_lines_come_back_whole_and_in_order(store: StateSessions, session: SessionId) -> None:
    at = EPOCH + timedelta(microseconds=7)
    lines = [
        observed("read along", "1.1"),
        TranscriptMessage(
            "user", "hello", at, author="Ann", user_id="slack:U1", position="1.2", directives="effort:low", files=2
        ),
        answer("hi"),
        TranscriptMessage("user", "a summary", EPOCH, Kind.SUMMARY),
    ]
    await store.append(session, lines[:2])
    await store.append(session, lines[2:])
    loaded = await store.load(session)
    assert [replace(line, id=None) for line in loaded] == lines
    numbers = [line.id or 0 for line in loaded]
    assert numbers == sorted(set(numbers))


async def test_a_session_without_lines_and_one_that_never_was_are_empty(
    store: StateSessions, session: SessionId
) -> None:
    assert await store.load(session) == []
    assert await store.load(SessionId("nowhere\x00")) == []
    await store.append(session, [])
    assert await store.load(session) == []


async def test_a_line_belongs_to_a_session_that_exists(store: StateSessions) -> None:
    with pytest.raises(StateError):
        await store.append(SessionId("nowhere"), [said("hello")])


async def test_a_position_is_kept_once(store: StateSessions, session: SessionId) -> None:
    """A redelivered message, or one that was read along already, adds nothing."""
    await store.append(session, [said("one", "1.1"), said("one again", "1.1"), said("no position")])
    await store.append(session, [observed("one as read", "1.1"), said("two", "1.2"), said("no position")])
    assert contents(await store.load(session)) == ["one", "no position", "two", "no position"]


async def test_a_position_of_another_session_does_not_matter(store: StateSessions, session: SessionId) -> None:
    other = await store.get_or_create(*thread("2.0"))
    await store.append(session, [said("one", "1.1")])
    await store.append(other.session_id, [said("one", "1.1")])
    assert contents(await store.load(other.session_id)) == ["one"]


async def test_many_positions_are_compared_at_once(store: StateSessions, session: SessionId) -> None:
    many = [said(str(number), f"{number}.0") for number in range(2 * POSITIONS + 7)]
    await store.append(session, many[::2])
    await store.append(session, many)
    assert sorted(map(int, contents(await store.load(session)))) == list(range(len(many)))


async def test_a_rewriting_puts_the_new_in_place_of_the_old_and_keeps_the_old(
    store: StateSessions, session: SessionId, database: Database
) -> None:
    """Section 3, ``rewrite_transcript``."""
    await store.append(session, [said("old", "1.1"), answer("older answer"), said("kept", "1.3")])
    summary = TranscriptMessage("user", "in short", EPOCH, Kind.SUMMARY)
    await store.rewrite(session, [summary, said("kept", "1.3")])
    assert contents(await store.load(session)) == ["in short", "kept"]
    assert await states(database, session) == [
        ("old", False, True),
        ("older answer", False, True),
        ("kept", False, True),
        ("in short", True, False),
        ("kept", True, False),
    ]
    await store.append(session, [said("kept again", "1.3"), said("old again", "1.1")])
    assert contents(await store.load(session)) == ["in short", "kept", "old again"]


async def test_a_rewriting_with_nothing_leaves_nothing(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("one")])
    await store.rewrite(session, [])
    assert await store.load(session) == []


async def test_going_back_hides_the_last_turns_and_tells_what_was_said(
    store: StateSessions, session: SessionId, database: Database
) -> None:
    """Section 3, ``rewind_session``."""
    await store.append(
        session,
        [said("one"), answer("first"), observed("aside", "1.3"), said("two"), said("and"), answer("second")],
    )
    assert await store.rewind(session) == Rewound(1, 4, "two\nand")
    assert contents(await store.load(session)) == ["one", "first"]
    assert [active for _, active, _ in await states(database, session)] == [True, True, False, False, False, False]
    assert not any(compacted for *_, compacted in await states(database, session))
    assert await store.rewind(session, 5) == Rewound(1, 2, "one")
    assert await store.rewind(session) == Rewound(0, 0)


async def test_positions_are_remembered_in_sight_or_not(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("one", "1.1"), said("two", "1.2"), answer("both", "1.3")])
    await store.rewind(session)
    await store.append(session, [said("three", "1.4")])
    other = (await store.get_or_create(*thread("2.0"))).session_id
    await store.append(other, [said("four", "1.5")])
    asked = [f"1.{number}" for number in range(40)]
    assert await store.heard(session, asked) == {"1.1", "1.2", "1.3", "1.4"}
    assert await store.heard(session, ["p\x00", "\ud83d"]) == frozenset()
    assert await store.heard(session, []) == frozenset()


async def test_what_was_taken_back_can_be_said_again(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("one", "1.1"), answer("first", "1.2")])
    await store.rewind(session)
    await store.append(session, [said("one", "1.1"), answer("better", "1.3")])
    assert contents(await store.load(session)) == ["one", "better"]


@pytest.mark.parametrize("damage", ["kind = 'whispered'", "role = 'system'", "at = 9000000000000000000"])
async def test_a_line_that_makes_no_sense_is_no_empty_transcript(
    store: StateSessions, session: SessionId, database: Database, damage: str
) -> None:
    await store.append(session, [said("secret words")])
    await database.write(lambda connection: connection.execute(text(f"UPDATE transcript SET {damage}")))  # noqa: S608
    with pytest.raises(TranscriptUnreadableError) as unreadable:
        await store.load(session)
    assert "secret" not in str(unreadable.value)
    with pytest.raises(TranscriptUnreadableError):
        await store.rewind(session)


async def test_a_line_that_makes_no_sense_is_told_of_by_a_search_as_well(
    store: StateSessions, session: SessionId, database: Database
) -> None:
    await store.append(session, [said("secret words")])
    damage = text("UPDATE transcript SET at = 9000000000000000000")
    await database.write(lambda connection: connection.execute(damage))
    with pytest.raises(TranscriptUnreadableError):
        await store.search("secret", [KEY])


async def test_a_line_can_be_any_text(store: StateSessions, session: SessionId) -> None:
    odd = TranscriptMessage("user", "a\x00b\ud83dc", EPOCH, author="x\x00", user_id="u\ud83d", position="p\x00")
    await store.append(session, [odd, odd])
    await store.append(session, [odd])
    [line] = await store.load(session)
    assert (line.content, line.author, line.user_id, line.position) == ("a b\ufffdc", "x ", "u\ufffd", "p ")


async def test_sessions_are_listed_with_how_they_began(
    store: StateSessions, session: SessionId, clock: ManualClock
) -> None:
    """Latest activity first, the current one included."""
    await store.append(session, [observed("aside"), said("x" * 500, at=EPOCH + timedelta(hours=5)), answer("first")])
    clock.elapsed_s = 60
    renewed = await store.reset(KEY, title="Plan")
    assert renewed is not None
    second = renewed.entry
    other = await store.get_or_create(*thread("2.0"))
    first_past, second_past = await store.sessions_of([KEY])
    assert (first_past.session_id, first_past.opening) == (session, "x" * 200)
    assert first_past.last_active_at == EPOCH + timedelta(hours=5)
    assert first_past.ended_at == EPOCH + timedelta(seconds=60)
    assert (second_past.session_id, second_past.title, second_past.opening) == (second.session_id, "Plan", "")
    assert second_past.session_key == KEY
    assert second_past.ended_at is None
    assert [past.session_id for past in await store.sessions_of([KEY], limit=1)] == [session]
    assert len(await store.sessions_of([KEY, other.session_key])) == 3
    assert await store.sessions_of([]) == []


async def test_how_a_session_began_outlives_compression_but_not_being_taken_back(
    store: StateSessions, session: SessionId
) -> None:
    await store.append(session, [said("slip"), answer("?")])
    await store.rewind(session)
    await store.append(session, [said("one"), answer("first")])
    await store.rewrite(session, [TranscriptMessage("user", "in short", EPOCH, Kind.SUMMARY), said("two")])
    [past] = await store.sessions_of([KEY])
    assert past.opening == "one"


async def test_rows_can_be_written_within_another_transaction(
    store: StateSessions, session: SessionId, database: Database
) -> None:
    """All or nothing: what a caller composes fails as one."""

    def append_and_fail(connection: object) -> None:
        transcript_rows.append(connection, session, [said("lost")])  # pyright: ignore[reportArgumentType]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.write(append_and_fail)
    kept = await database.write(lambda connection: transcript_rows.append(connection, session, [said("kept", "1.1")]))
    again = await database.write(lambda connection: transcript_rows.append(connection, session, [said("kept", "1.1")]))
    assert (kept, again) == (1, 0)
    assert contents(await store.load(session)) == ["kept"]


async def test_activity_of_a_session_is_never_taken_back(store: StateSessions, session: SessionId) -> None:
    await store.append(session, [said("late", at=EPOCH + timedelta(hours=1))])
    await store.append(session, [said("early", at=EPOCH - timedelta(hours=1))])
    [past] = await store.sessions_of([KEY])
    assert past.last_active_at == EPOCH + timedelta(hours=1)
