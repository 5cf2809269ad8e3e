"""The session store's promises about entries, over every database (session lifecycle, sections 2, 3, 6 and 7)."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.channel import ThreadKey
from app.sessions.entry import ResumeReason, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.errors import TitleTakenError
from app.sessions.key import KeyRules
from app.sessions.source import ChatType, SessionSource
from app.state import entry_rows
from app.state.engine import Database
from app.state.sessions import StateSessions, eight_hex_digits
from app.state.tables import routes, sessions
from tests.fakes import EPOCH, ManualClock
from tests.session_lines import contents, said, store_over, thread

KEY = SessionKey("agent:main:slack:channel:C1:1.0")
NOBODY = SessionKey("agent:main:slack:channel:C9:9.9")
DAY_S = 86_400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(database: Database, clock: ManualClock) -> StateSessions:
    return store_over(database, clock)


async def current(store: StateSessions) -> SessionEntry:
    entry = await store.get(KEY)
    assert entry is not None
    return entry


async def row_of(database: Database, session_id: str) -> dict[str, object]:
    wanted = select(sessions).where(sessions.c.session_id == session_id)
    return await database.read(lambda connection: dict(connection.execute(wanted).mappings().one()))


async def test_a_first_message_makes_a_session_and_the_next_finds_it(store: StateSessions, clock: ManualClock) -> None:
    """Section 2: no entry makes one, an entry is returned and its activity noted."""
    made = await store.get_or_create(*thread())
    assert (made.session_key, made.session_id) == (KEY, "20261129_120000_00000001")
    assert (made.origin, made.thread_key) == thread()
    assert (made.display_name, made.platform, made.chat_type) == ("general", "slack", ChatType.CHANNEL)
    clock.elapsed_s = 5
    found = await store.get_or_create(*thread())
    assert found.session_id == made.session_id
    assert (found.created_at, found.updated_at) == (EPOCH, EPOCH + timedelta(seconds=5))
    assert await store.get(KEY) == found


async def test_what_is_no_activity_leaves_the_entry_as_it_is(store: StateSessions, clock: ManualClock) -> None:
    made = await store.get_or_create(*thread())
    clock.elapsed_s = 5
    assert await store.get_or_create(*thread(), touch=False) == made
    assert await store.get(KEY) == made


async def test_two_at_once_get_the_same_session(store: StateSessions) -> None:
    entries = await asyncio.gather(*(store.get_or_create(*thread()) for _ in range(20)))
    assert len({entry.session_id for entry in entries}) == 1
    assert len(await store.sessions_of([KEY])) == 1


@pytest.mark.unfollowed  # two thousand times what the tests beside it do once
async def test_a_thousand_conversations_open_at_once_and_none_is_mixed_up(store: StateSessions) -> None:
    made = await asyncio.gather(*(store.get_or_create(*thread(f"{number}.0")) for number in range(1_000)))
    found = await asyncio.gather(*(store.get_or_create(*thread(f"{number}.0")) for number in range(1_000)))
    assert [entry.session_id for entry in made] == [entry.session_id for entry in found]
    assert len({entry.session_id for entry in made}) == 1_000
    assert [entry.thread_key for entry in made] == [f"slack:C1:{number}.0" for number in range(1_000)]


async def test_no_time_that_passes_replaces_a_session(store: StateSessions, clock: ManualClock) -> None:
    """Section 6, and the appendix: conversation lifetime."""
    made = await store.get_or_create(*thread())
    for days in (1, 30, 365, 3_650):
        clock.elapsed_s = days * DAY_S
        assert (await store.get_or_create(*thread())).session_id == made.session_id


async def test_a_suspended_conversation_starts_anew_even_when_it_was_to_be_resumed(
    store: StateSessions, database: Database
) -> None:
    """Section 2: suspension goes before resuming."""
    made = await store.get_or_create(*thread())
    await store.append(made.session_id, [said("hello")])
    await store.mark_resume_pending(KEY, ResumeReason.RESTART_TIMEOUT)
    await store.suspend(KEY)
    renewed = await store.get_or_create(*thread())
    assert renewed.session_id != made.session_id
    assert (renewed.was_auto_reset, renewed.auto_reset_reason) == (True, "suspended")
    assert (renewed.reset_had_activity, renewed.suspended, renewed.resume_pending) == (True, False, False)
    assert await store.get(KEY) == renewed
    old, new = await row_of(database, made.session_id), await row_of(database, renewed.session_id)
    assert (old["ended_at"], old["end_reason"]) == (EPOCH, "suspended")
    assert (new["parent_session_id"], new["ended_at"], new["end_reason"]) == (made.session_id, None, None)
    assert contents(await store.load(made.session_id)) == ["hello"]
    assert await store.load(renewed.session_id) == []
    assert (await store.get_or_create(*thread())).session_id == renewed.session_id


async def test_what_is_to_be_resumed_keeps_its_session_and_its_mark(store: StateSessions) -> None:
    """Section 7: the mark survives until the next turn that succeeds."""
    made = await store.get_or_create(*thread())
    await store.mark_resume_pending(KEY, ResumeReason.SHUTDOWN_TIMEOUT)
    found = await store.get_or_create(*thread())
    assert (found.session_id, found.resume_pending) == (made.session_id, True)
    assert (found.resume_reason, found.last_resume_marked_at) == (ResumeReason.SHUTDOWN_TIMEOUT, EPOCH)
    await store.clear_resume_pending(KEY)
    assert not (await current(store)).resume_pending


async def test_a_mark_does_not_override_a_suspension(store: StateSessions) -> None:
    """Section 3, ``mark_resume_pending``."""
    await store.get_or_create(*thread())
    await store.suspend(KEY)
    await store.mark_resume_pending(KEY, ResumeReason.RESTART_TIMEOUT)
    entry = await current(store)
    assert (entry.suspended, entry.resume_pending) == (True, False)


async def test_a_forced_session_ends_the_one_before(store: StateSessions, database: Database) -> None:
    made = await store.get_or_create(*thread())
    forced = await store.get_or_create(*thread(), force_new=True)
    assert forced.session_id != made.session_id
    assert (forced.was_auto_reset, forced.is_fresh_reset) == (False, False)
    assert (await row_of(database, made.session_id))["end_reason"] == "session_reset"
    assert (await row_of(database, forced.session_id))["parent_session_id"] == made.session_id


async def test_a_reset_ends_the_session_and_keeps_what_was_said(
    store: StateSessions, database: Database, clock: ManualClock
) -> None:
    """Section 3, ``reset_session``."""
    made = await store.get_or_create(*thread())
    await store.append(made.session_id, [said("hello")])
    await store.update(KEY, last_prompt_tokens=900)
    clock.elapsed_s = 60
    done = await store.reset(KEY, watermark="1.7", title="Second try")
    assert done is not None
    renewed = done.entry
    assert renewed == await current(store)
    assert (renewed.is_fresh_reset, renewed.was_auto_reset, renewed.reset_had_activity) == (True, False, True)
    assert (renewed.watermark, renewed.last_prompt_tokens, renewed.tokens) == ("1.7", 0, Tokens())
    old, new = await row_of(database, made.session_id), await row_of(database, renewed.session_id)
    assert (old["end_reason"], old["ended_at"]) == ("session_reset", EPOCH + timedelta(seconds=60))
    assert (new["parent_session_id"], new["title"]) == (made.session_id, "Second try")
    assert contents(await store.load(made.session_id)) == ["hello"]


async def test_a_reset_with_a_title_that_is_taken_changes_nothing(store: StateSessions) -> None:
    made = await store.get_or_create(*thread())
    await store.set_title(made.session_id, "Plan")
    with pytest.raises(TitleTakenError):
        await store.reset(KEY, title="Plan")
    assert await current(store) == made
    assert [past.title for past in await store.sessions_of([KEY])] == ["Plan"]


async def test_a_title_belongs_to_one_session_of_a_conversation(store: StateSessions) -> None:
    first = await store.get_or_create(*thread())
    other = await store.get_or_create(*thread("2.0"))
    await store.set_title(first.session_id, "Plan")
    await store.set_title(first.session_id, "Plan")
    await store.set_title(other.session_id, "Plan")
    renewed = await store.reset(KEY)
    assert renewed is not None
    second = renewed.entry
    with pytest.raises(TitleTakenError):
        await store.set_title(second.session_id, "Plan")
    await store.set_title(SessionId("20200101_000000_ffffffff"), "Plan")


async def test_a_switch_goes_back_and_forth(store: StateSessions, database: Database, clock: ManualClock) -> None:
    """Section 3, ``switch_session``: the current session ends, the target is open again."""
    first = await store.get_or_create(*thread())
    await store.append(first.session_id, [said("first")])
    clock.elapsed_s = 60
    renewed = await store.reset(KEY)
    assert renewed is not None
    second = renewed.entry
    back = await store.switch(KEY, first.session_id, expected=second.session_id, watermark="3.0")
    assert back is not None
    assert back == await current(store)
    assert (back.session_id, back.created_at, back.watermark) == (first.session_id, EPOCH, "3.0")
    assert (await row_of(database, second.session_id))["end_reason"] == "session_switch"
    reopened = await row_of(database, first.session_id)
    assert (reopened["ended_at"], reopened["end_reason"]) == (None, None)
    assert (await store.get_or_create(*thread())).session_id == first.session_id
    forth = await store.switch(KEY, second.session_id)
    assert forth is not None
    assert forth.session_id == second.session_id


async def test_a_switch_goes_only_to_sessions_of_the_conversation(store: StateSessions) -> None:
    made = await store.get_or_create(*thread())
    other = await store.get_or_create(*thread("2.0"))
    for target in (other.session_id, SessionId("20200101_000000_ffffffff"), SessionId("../x\x00\ud83d")):
        assert await store.switch(KEY, target) is None
    assert await store.switch(NOBODY, made.session_id) is None
    assert await current(store) == made


async def test_a_switch_is_refused_when_somebody_was_faster(store: StateSessions) -> None:
    first = await store.get_or_create(*thread())
    renewed = await store.reset(KEY)
    assert renewed is not None
    second = renewed.entry
    assert await store.switch(KEY, first.session_id, expected=first.session_id) is None
    assert (await current(store)).session_id == second.session_id


async def test_to_switch_to_the_current_session_lifts_its_suspension(store: StateSessions, database: Database) -> None:
    made = await store.get_or_create(*thread())
    await store.suspend(KEY)
    assert await store.switch(KEY, made.session_id) == made
    assert (await row_of(database, made.session_id))["ended_at"] is None


async def test_a_turn_is_marked_until_its_own_token_ends_it(store: StateSessions, clock: ManualClock) -> None:
    await store.get_or_create(*thread())
    await store.begin_turn(KEY, "one")
    clock.elapsed_s = 3
    await store.begin_turn(KEY, "two")
    entry = await current(store)
    assert (entry.active_turn_token, entry.active_turn_started_at) == ("two", EPOCH + timedelta(seconds=3))
    assert not await store.end_turn(KEY, "one")
    assert (await current(store)).active_turn_token == "two"
    assert await store.end_turn(KEY, "two")
    assert (await current(store)).active_turn_token is None
    assert not await store.end_turn(KEY, "two")


async def test_a_reset_is_fresh_until_its_first_turn_has_ended(store: StateSessions) -> None:
    await store.get_or_create(*thread())
    await store.reset(KEY)
    await store.begin_turn(KEY, "t")
    assert (await current(store)).is_fresh_reset
    await store.end_turn(KEY, "t")
    assert not (await current(store)).is_fresh_reset


async def test_after_a_crash_what_was_lately_active_is_to_be_resumed(store: StateSessions, clock: ManualClock) -> None:
    """Section 7, ``suspend_recently_active``."""
    for root in ("old", "marked", "suspended", "lately"):
        await store.get_or_create(*thread(root))
        clock.elapsed_s += 121 if root == "old" else 1
    old, marked, stopped, lately = (
        SessionKey(f"agent:main:slack:channel:C1:{root}") for root in ("old", "marked", "suspended", "lately")
    )
    await store.mark_resume_pending(marked, ResumeReason.RESTART_TIMEOUT)
    await store.suspend(stopped)
    assert await store.suspend_recently_active(max_age_s=120.0) == 1
    entries = {key: await store.get(key) for key in (old, marked, stopped, lately)}
    pending = {key: entry.resume_reason for key, entry in entries.items() if entry is not None and entry.resume_pending}
    assert pending == {marked: ResumeReason.RESTART_TIMEOUT, lately: ResumeReason.RESTART_INTERRUPTED}
    assert await store.suspend_recently_active() == 0


async def test_pruning_drops_entries_and_never_what_was_said(store: StateSessions, clock: ManualClock) -> None:
    """Section 3, ``prune_old_entries``."""
    made = await store.get_or_create(*thread())
    await store.append(made.session_id, [said("hello", "1.0")])
    await store.get_or_create(*thread("kept"))
    await store.get_or_create(*thread("stopped"))
    kept, stopped = (SessionKey(f"agent:main:slack:channel:C1:{root}") for root in ("kept", "stopped"))
    await store.suspend(stopped)
    clock.elapsed_s = 8 * DAY_S
    await store.get_or_create(*thread("young"))
    assert await store.prune(0) == 0
    assert await store.prune(7, keep=[kept]) == 1
    assert await store.get(KEY) is None
    assert contents(await store.load(made.session_id)) == ["hello"]
    assert len(await store.list_sessions()) == 3


async def test_a_conversation_whose_entry_was_pruned_goes_on(store: StateSessions, clock: ManualClock) -> None:
    """Section 6: inactivity rotates nothing, with or without pruning."""
    first = await store.get_or_create(*thread())
    renewed = await store.reset(KEY)
    assert renewed is not None
    second = renewed.entry
    await store.append(second.session_id, [said("hello", "1.5"), said("no position")])
    clock.elapsed_s = 8 * DAY_S
    assert await store.prune(7) == 1
    found = await store.get_or_create(*thread())
    assert (found.session_id, found.created_at) == (second.session_id, EPOCH)
    assert found.watermark == "1.5"
    assert found.session_id != first.session_id
    assert await store.get(KEY) == found


async def test_a_conversation_that_was_ended_and_pruned_starts_anew(store: StateSessions, database: Database) -> None:
    made = await store.get_or_create(*thread())
    await database.write(lambda connection: entry_rows.remove(connection, [KEY]))
    await database.write(lambda connection: connection.execute(update(sessions).values(ended_at=EPOCH)))
    assert (await store.get_or_create(*thread())).session_id != made.session_id


async def test_entries_are_listed_latest_first(store: StateSessions, clock: ManualClock) -> None:
    for second, root in enumerate(("a", "b", "c")):
        clock.elapsed_s = second
        await store.get_or_create(*thread(root))
    clock.elapsed_s = 10
    await store.update(SessionKey("agent:main:slack:channel:C1:a"))
    assert [entry.thread_key for entry in await store.list_sessions()] == ["slack:C1:a", "slack:C1:c", "slack:C1:b"]
    lately = await store.list_sessions(active_since=EPOCH + timedelta(seconds=2))
    assert [entry.thread_key for entry in lately] == ["slack:C1:a", "slack:C1:c"]
    assert len(await store.list_sessions(limit=1)) == 1


async def test_an_update_notes_activity_and_what_the_prompt_took(store: StateSessions, clock: ManualClock) -> None:
    """Section 3, ``update_session``."""
    await store.get_or_create(*thread())
    clock.elapsed_s = 4
    await store.update(KEY, last_prompt_tokens=1_234)
    clock.elapsed_s = 9
    await store.update(KEY)
    entry = await current(store)
    assert (entry.last_prompt_tokens, entry.updated_at) == (1_234, EPOCH + timedelta(seconds=9))


async def test_a_thread_has_one_entry_for_each_person_when_it_is_split(database: Database, clock: ManualClock) -> None:
    """Section 5."""
    store = store_over(database, clock, KeyRules(thread_sessions_per_user=True))
    source, key = thread()
    for user in ("U2", "U1"):
        await store.get_or_create(SessionSource("slack", "C1", None, source.chat_type, user, None, "1.0"), key)
    entries = await store.in_thread(key)
    assert [entry.session_key.rpartition(":")[2] for entry in entries] == ["U1", "U2"]
    assert await store.in_thread(ThreadKey("slack:C1:9.9")) == []


async def test_an_entry_is_found_by_the_session_it_stands_at(store: StateSessions) -> None:
    made = await store.get_or_create(*thread())
    assert await store.lookup(made.session_id) == made
    done = await store.reset(KEY)
    assert done is not None
    renewed = done.entry
    assert await store.lookup(made.session_id) is None
    assert await store.lookup(renewed.session_id) == renewed
    assert await store.lookup(SessionId("\x00\ud83d")) is None


async def test_a_key_without_an_entry_is_no_error(store: StateSessions) -> None:
    assert await store.get(NOBODY) is None
    assert await store.reset(NOBODY) is None
    await store.update(NOBODY, last_prompt_tokens=1)
    await store.suspend(NOBODY)
    await store.mark_resume_pending(NOBODY, ResumeReason.RESTART_TIMEOUT)
    await store.clear_resume_pending(NOBODY)
    await store.begin_turn(NOBODY, "t")
    assert not await store.end_turn(NOBODY, "t")
    assert await store.get(NOBODY) is None


async def test_it_is_known_whether_there_ever_was_a_session(store: StateSessions, database: Database) -> None:
    """Section 3, ``has_any_sessions``: history counts, not what is at hand."""
    assert not await store.has_any()
    await store.get_or_create(*thread())
    await database.write(lambda connection: entry_rows.remove(connection, [KEY]))
    assert await store.has_any()


async def test_an_id_that_is_taken_is_not_given_again(database: Database, clock: ManualClock) -> None:
    given = iter(["same", "same", "same", "other"])
    store = StateSessions(database, clock, suffix=lambda: next(given))
    first = await store.get_or_create(*thread("1.0"))
    second = await store.get_or_create(*thread("2.0"))
    assert (first.session_id[-5:], second.session_id[-6:]) == ("_same", "_other")
    assert len(bytes.fromhex(eight_hex_digits())) == 4


async def test_an_entry_of_any_names_comes_back_as_it_was(store: StateSessions) -> None:
    odd = "a\x00b \ud83d 'quoted' \u202e"
    source = SessionSource("slack", f"C{odd}", odd, ChatType.CHANNEL, odd, odd, odd, odd, scope_id="../x")
    made = await store.get_or_create(source, ThreadKey("slack:C1:1.0"))
    found = await store.get(made.session_key)
    assert found is not None
    assert found.origin == source


@pytest.mark.parametrize("kept", ["not json", "[]", "{}", '{"platform": "slack", "chat_id": "../../etc"}'])
async def test_an_origin_that_makes_no_sense_is_not_known(store: StateSessions, database: Database, kept: str) -> None:
    made = await store.get_or_create(*thread())
    await database.write(lambda connection: connection.execute(update(routes).values(origin=kept)))
    found = await current(store)
    assert (found.origin, found.session_id) == (None, made.session_id)


async def test_every_field_of_an_entry_is_kept(store: StateSessions, database: Database) -> None:
    made = await store.get_or_create(*thread())
    full = SessionEntry(
        session_key=KEY,
        session_id=made.session_id,
        thread_key=ThreadKey("slack:C1:7.7"),
        created_at=EPOCH + timedelta(microseconds=1),
        updated_at=EPOCH + timedelta(microseconds=2),
        origin=None,
        display_name="renamed",
        platform="other",
        chat_type=ChatType.GROUP,
        tokens=Tokens(1, 2, 3, 4),
        cost=made.cost.__class__(5, "estimated"),
        last_prompt_tokens=6,
        was_auto_reset=True,
        auto_reset_reason="suspended",
        reset_had_activity=True,
        is_fresh_reset=True,
        expiry_finalized=True,
        suspended=True,
        resume_pending=True,
        resume_reason=ResumeReason.RESTART_INTERRUPTED,
        last_resume_marked_at=EPOCH + timedelta(microseconds=3),
        active_turn_token="t",
        active_turn_started_at=EPOCH + timedelta(microseconds=4),
        interrupted_boots=2,
        watermark="7.8",
    )
    await database.write(lambda connection: entry_rows.save(connection, full))
    assert await store.get(KEY) == full
