"""What becomes of a conversation's record (session lifecycle, sections 2, 3, 6 and 7)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.channel import ThreadKey
from app.sessions import lifecycle
from app.sessions.entry import Cost, EndReason, ResumeReason, SessionEntry, SessionId, SessionKey, Tokens
from app.sessions.lifecycle import Opening, opening_of
from app.sessions.source import ChatType, SessionSource
from tests.fakes import EPOCH

KEY, OLD, NEW = SessionKey("agent:main:slack:channel:C1:1.2"), SessionId("old"), SessionId("new")
THREAD = ThreadKey("slack:C1:1.2")
SOURCE = SessionSource("slack", "C1", chat_name="general", chat_type=ChatType.CHANNEL, thread_id="1.2")
DAY = timedelta(days=1)

moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive
reasons = st.sampled_from(ResumeReason)
entries = st.builds(
    SessionEntry,
    session_key=st.just(KEY),
    session_id=st.just(OLD),
    thread_key=st.just(THREAD),
    created_at=moments,
    updated_at=moments,
    tokens=st.builds(Tokens, st.integers(0, 9), st.integers(0, 9)),
    was_auto_reset=st.booleans(),
    is_fresh_reset=st.booleans(),
    suspended=st.booleans(),
    resume_pending=st.booleans(),
    resume_reason=st.none() | reasons,
    last_resume_marked_at=st.none() | moments,
    active_turn_token=st.none() | st.sampled_from(["t1", "t2"]),
    interrupted_boots=st.integers(0, 5),
    watermark=st.none() | st.just("1.1"),
)
ENTRY = lifecycle.fresh(KEY, OLD, SOURCE, THREAD, EPOCH)
BUSY = replace(
    ENTRY,
    tokens=Tokens(1, 2, 3, 4),
    cost=Cost(5, "estimated"),
    last_prompt_tokens=6,
    interrupted_boots=2,
    watermark="1.5",
    active_turn_token="t1",
)


@given(entries)
def test_suspension_goes_before_resuming_and_resuming_before_going_on(entry: SessionEntry) -> None:
    """Session lifecycle, section 2: the order of priorities."""
    expected = Opening.REPLACE if entry.suspended else Opening.RESUME if entry.resume_pending else Opening.CONTINUE
    assert opening_of(entry) is expected


@given(st.none() | entries)
def test_a_session_is_made_when_there_is_none_or_when_it_is_asked_for(entry: SessionEntry | None) -> None:
    """Session lifecycle, section 2."""
    assert opening_of(entry, force_new=True) is Opening.CREATE
    assert opening_of(None) is Opening.CREATE


@given(entries, moments, st.integers(1, 40_000))
def test_no_passage_of_time_changes_the_session(entry: SessionEntry, now: datetime, days: int) -> None:
    """Session lifecycle, section 6: what a message finds does not depend on when it comes."""
    later = lifecycle.touched(entry, now)
    assert later.session_id == entry.session_id
    aged = replace(entry, created_at=entry.created_at - timedelta(hours=days), updated_at=now - timedelta(days=1))
    assert opening_of(aged) is opening_of(entry) is opening_of(later)


@given(entries, reasons, moments)
def test_a_mark_never_overrides_a_suspension(entry: SessionEntry, reason: ResumeReason, now: datetime) -> None:
    """Session lifecycle, section 3, ``mark_resume_pending``."""
    marked = lifecycle.marked(entry, reason, now)
    if entry.suspended:
        assert marked == entry
    else:
        assert (marked.resume_pending, marked.resume_reason, marked.last_resume_marked_at) == (True, reason, now)
        assert opening_of(marked) is Opening.RESUME
    assert marked.session_id == entry.session_id
    assert opening_of(lifecycle.suspended(marked)) is Opening.REPLACE


@given(entries)
def test_what_was_resumed_goes_on(entry: SessionEntry) -> None:
    cleared = lifecycle.cleared(entry)
    assert (cleared.resume_pending, cleared.resume_reason) == (False, None)
    assert (cleared.last_resume_marked_at, cleared.suspended) == (entry.last_resume_marked_at, entry.suspended)


def test_session_ids_have_the_documented_form() -> None:
    """Session lifecycle, section 2."""
    assert lifecycle.new_session_id(datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC), "00c0ffee") == "20260304_050607_00c0ffee"


def test_a_new_entry_knows_where_it_began() -> None:
    assert (ENTRY.origin, ENTRY.display_name, ENTRY.platform) == (SOURCE, "general", "slack")
    assert (ENTRY.chat_type, ENTRY.created_at, ENTRY.updated_at) == (ChatType.CHANNEL, EPOCH, EPOCH)
    assert opening_of(ENTRY) is Opening.CONTINUE


def test_activity_is_never_taken_back() -> None:
    assert lifecycle.touched(ENTRY, EPOCH - DAY).updated_at == EPOCH
    assert lifecycle.touched(BUSY, EPOCH + DAY, 77) == replace(BUSY, updated_at=EPOCH + DAY, last_prompt_tokens=77)


def test_a_turn_that_is_kept_adds_to_its_session_and_takes_away_nothing_that_it_does_not_know() -> None:
    used, cost = Tokens(3, 4, 5, 6), Cost(900, "actual")
    told = lifecycle.answered(BUSY, EPOCH + DAY, used=used, cost=cost, prompt_tokens=77, watermark="9.9")
    assert told == replace(
        BUSY,
        updated_at=EPOCH + DAY,
        tokens=BUSY.tokens + used,
        cost=cost,
        last_prompt_tokens=77,
        watermark="9.9",
    )
    assert BUSY.last_prompt_tokens != 77
    untold = lifecycle.answered(told, EPOCH - DAY, used=Tokens(), cost=cost, prompt_tokens=None, watermark=None)
    assert untold == told


@given(entry=entries, had_activity=st.booleans())
def test_a_renewal_starts_from_zero_and_keeps_what_the_thread_accounts_for(
    *, entry: SessionEntry, had_activity: bool
) -> None:
    """Session lifecycle, sections 2 and 3."""
    now = EPOCH
    renewals = {
        "auto": lifecycle.auto_reset(entry, NEW, now, had_activity=had_activity),
        "asked": lifecycle.reset(entry, NEW, now, had_activity=had_activity),
    }
    for renewal in renewals.values():
        assert (renewal.session_id, renewal.created_at) == (NEW, now)
        assert (renewal.tokens, renewal.cost, renewal.last_prompt_tokens) == (Tokens(), Cost(), 0)
        assert not renewal.suspended
        assert not renewal.resume_pending
        assert (renewal.reset_had_activity, renewal.interrupted_boots) == (had_activity, 0)
        assert (renewal.watermark, renewal.active_turn_token) == (entry.watermark, entry.active_turn_token)
        assert opening_of(renewal) is Opening.CONTINUE
    auto, asked = renewals["auto"], renewals["asked"]
    assert (auto.was_auto_reset, auto.auto_reset_reason, auto.is_fresh_reset) == (True, "suspended", False)
    assert (asked.was_auto_reset, asked.auto_reset_reason, asked.is_fresh_reset) == (False, None, True)


def test_a_reset_moves_the_watermark_when_it_is_told_where_the_thread_stands() -> None:
    assert lifecycle.reset(BUSY, NEW, EPOCH, had_activity=True, watermark="1.9").watermark == "1.9"
    assert lifecycle.reset(BUSY, NEW, EPOCH, had_activity=True).watermark == "1.5"


def test_a_switch_goes_back_to_the_session_as_old_as_it_is() -> None:
    """Session lifecycle, section 3, ``switch_session``."""
    suspended = lifecycle.suspended(BUSY)
    switched = lifecycle.switched(suspended, NEW, EPOCH + DAY, created_at=EPOCH - DAY, watermark="1.9")
    assert (switched.session_id, switched.created_at, switched.updated_at) == (NEW, EPOCH - DAY, EPOCH + DAY)
    assert (switched.tokens, switched.suspended, switched.is_fresh_reset) == (Tokens(), False, False)
    assert switched.watermark == "1.9"
    assert lifecycle.switched(BUSY, NEW, EPOCH, created_at=EPOCH).watermark == "1.5"


def test_to_switch_to_where_one_is_only_lifts_what_is_in_the_way() -> None:
    stuck = lifecycle.suspended(lifecycle.marked(BUSY, ResumeReason.RESTART_TIMEOUT, EPOCH))
    switched = lifecycle.switched(stuck, OLD, EPOCH, created_at=EPOCH)
    assert switched == replace(BUSY, last_resume_marked_at=EPOCH)
    assert lifecycle.switched(stuck, OLD, EPOCH, created_at=EPOCH, watermark="2.0").watermark == "2.0"


def test_a_turn_is_marked_until_it_has_ended() -> None:
    begun = lifecycle.begun(replace(ENTRY, is_fresh_reset=True, interrupted_boots=2), "t1", EPOCH)
    assert (begun.active_turn_token, begun.active_turn_started_at) == ("t1", EPOCH)
    assert begun.is_fresh_reset
    ended = lifecycle.ended(begun, "t1")
    assert ended == ENTRY


def test_a_turn_that_begins_is_activity() -> None:
    assert lifecycle.begun(ENTRY, "t1", EPOCH + DAY).updated_at == EPOCH + DAY
    assert lifecycle.begun(ENTRY, "t1", EPOCH - DAY).updated_at == EPOCH


@given(entries)
def test_only_the_turn_that_is_under_way_can_end(entry: SessionEntry) -> None:
    assert (lifecycle.ended(entry, "t1") is not None) == (entry.active_turn_token == "t1")


@given(st.lists(entries, max_size=6), moments, st.floats(0, 1e6))
def test_a_crash_marks_what_was_lately_active_and_neither_marked_nor_suspended(
    found: list[SessionEntry], now: datetime, age: float
) -> None:
    """Session lifecycle, section 7, ``suspend_recently_active``."""
    chosen = lifecycle.recently_active(found, now, age)
    for entry in found:
        is_meant = now - entry.updated_at <= timedelta(seconds=age) and not entry.suspended and not entry.resume_pending
        assert (entry in chosen) == is_meant


def test_the_edge_of_recently_is_within_it() -> None:
    """Session lifecycle, section 7: the last 120 seconds."""
    assert lifecycle.recently_active([ENTRY], EPOCH + timedelta(seconds=120), 120.0) == [ENTRY]
    assert lifecycle.recently_active([ENTRY], EPOCH + timedelta(seconds=121), 120.0) == []


def test_pruning_spares_the_suspended_those_at_work_and_those_it_is_told_to() -> None:
    """Session lifecycle, section 3, ``prune_old_entries``."""
    kept = SessionKey("kept")
    found = [
        ENTRY,
        replace(ENTRY, session_key=SessionKey("suspended"), suspended=True),
        replace(ENTRY, session_key=SessionKey("at work"), active_turn_token="t1"),
        replace(ENTRY, session_key=SessionKey("young"), updated_at=EPOCH + 8 * DAY),
        replace(ENTRY, session_key=kept),
    ]
    assert lifecycle.prunable(found, EPOCH + 10 * DAY, 7, [kept]) == [KEY]


def test_pruning_is_off_unless_days_are_given() -> None:
    """Session lifecycle, appendix: 0 = disabled."""
    assert lifecycle.prunable([ENTRY], EPOCH + 10_000 * DAY, 0) == []
    assert lifecycle.prunable([ENTRY], EPOCH + 10_000 * DAY, 1) == [KEY]


def test_end_reasons_and_token_sums_are_the_documented_ones() -> None:
    assert [reason.value for reason in EndReason] == ["session_reset", "session_switch", "suspended"]
    assert Tokens(1, 2, 3, 4).total == 10
