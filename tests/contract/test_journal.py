"""What the journal promises, over every state database."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
import structlog
from sqlalchemy import func, select, update

from app.channel import IncomingMessage, WorkspaceId
from app.dispatch.journal import Accepted, Boot, TurnRecord, Waiting
from app.dispatch.keying import Keying
from app.sessions.entry import Cost, ResumeReason, SessionEntry, SessionKey, Tokens
from app.sessions.restart import BEGINS_MOST
from app.sessions.transcript import Kind, TranscriptMessage
from app.sessions.usage import Run, Which
from app.state.engine import Database
from app.state.errors import StateValueError
from app.state.journal import MESSAGE_UNREADABLE, StateJournal
from app.state.message_rows import KEPT
from app.state.sessions import StateSessions
from app.state.tables import deliveries, inbox, routes
from app.state.usage import StateUsage
from tests.fakes import EPOCH, ManualClock, message
from tests.state_databases import database, state_url

__all__ = ["database", "state_url"]

KEYING = Keying()
USED = Tokens(input=10, output=5, cache_read=3, cache_write=2)
Took = tuple[Tokens, Cost, int]
"""What a turn has taken, and by how many calls."""
KNOWN: Took = (USED, Cost(7, "estimated"), 1)
CUT_OFF: Took = (Tokens(is_partial=True), Cost(), 1)
UNTOLD: Took = (Tokens(), Cost(), 1)
UNPRICED: Took = (USED, Cost(), 1)
UNASKED: Took = (Tokens(), Cost(0, "estimated"), 0)


class House:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = ManualClock()
        self.journal = StateJournal(database, self.clock)
        self.sessions = StateSessions(database, self.clock)
        self.usage = StateUsage(database)

    async def accept(self, said: IncomingMessage | None = None, address: str | None = "here") -> Accepted:
        said = said or message()
        accepted = await self.journal.accept(said, KEYING.key(said), address)
        assert accepted is not None
        return accepted

    async def begun(self, accepted: Accepted) -> SessionEntry:
        return await self.journal.begin(accepted, KEYING.source(accepted.message))

    async def entry(self, key: SessionKey) -> SessionEntry:
        entry = await self.sessions.get(key)
        assert entry is not None
        return entry


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


def record_of(entry: SessionEntry, *, is_success: bool = True, cost: Cost | None = None) -> TurnRecord:
    run = Run(
        reference="abcd1234",
        session_key=entry.session_key,
        session_id=entry.session_id,
        user_id="slack:U1",
        channel_id="slack:C1",
        outcome="ran" if is_success else "failed",
        tokens=USED,
        cost=cost or Cost(7, "estimated"),
        started_at=EPOCH,
        ended_at=EPOCH,
        agent="general",
        model="test/scripted",
        memory_records=("org:acme/1",),
    )
    lines = (
        TranscriptMessage("user", "which port?", EPOCH, Kind.SAID, author="Alice", user_id="slack:U1", position="1.1"),
        TranscriptMessage("assistant", "5433", EPOCH),
    )
    return TurnRecord(run, lines, watermark="1.1", prompt_tokens=15, is_success=is_success)


async def test_a_message_is_claimed_once_by_its_event_and_by_its_place(house: House) -> None:
    """Acceptance test 1 of a gateway."""
    await house.accept(message(event="Ev1", position="1.1"))
    for again in (message(event="Ev1", position="9.9"), message(event="Ev2", position="1.1")):
        assert await house.journal.accept(again, KEYING.key(again), None) is None
    await house.accept(message(event="Ev3", position="1.2"))
    await house.accept(replace(message(event="Ev1", position="1.1"), part="+"))


async def test_claims_are_kept_over_the_process_and_forgotten_a_day_after_the_end(house: House) -> None:
    accepted = await house.accept()
    await house.journal.end(accepted, "ran")
    house.clock.elapsed_s = KEPT.total_seconds()
    assert await house.journal.prune() == 0
    assert await house.journal.accept(message(), KEYING.key(message()), None) is None
    house.clock.elapsed_s += 1
    assert await house.journal.prune() == 1
    await house.accept()


async def test_unfinished_messages_are_found_whole_and_in_their_order(house: House) -> None:
    first = await house.accept(message("öne\0\n two", event="Ev1", position="1.1"))
    second = await house.accept(message(event="Ev2", position="1.2"), address=None)
    third = await house.accept(message(event="Ev3", position="1.3"))
    await house.journal.end(second, "ran")
    await house.begun(third)
    found = await house.journal.unfinished()
    assert [each.accepted for each in found] == [first, third]
    assert [each.begins for each in found] == [0, 1]
    assert not any(each.is_command or each.promise for each in found)


async def test_what_a_command_has_answered_is_found_in_its_place_with_the_answer_of_the_command(house: House) -> None:
    command = await house.accept(message("!queue x", event="Ev1", position="1.1"))
    later = await house.accept(message(event="Ev2", position="1.2"))
    said = replace(command.message, text="x", part="+")
    asked = await house.journal.lead_on(command, "In line.", said)
    assert asked is not None
    owed, *_ = await house.journal.unfinished()
    assert (owed.accepted, owed.promise and owed.promise.text) == (command, "In line.")
    assert await house.journal.lead_on(command, "In line.", said) is None
    await house.journal.end(command, "command")
    assert [each.accepted for each in await house.journal.unfinished()] == [asked, later]


async def test_a_message_that_waits_is_taken_back_once_with_what_its_command_has_asked_for(house: House) -> None:
    command = await house.accept(message("!queue x", event="Ev1", position="1.1"))
    asked = await house.journal.lead_on(command, "In line.", replace(command.message, text="SECRET", part="+"))
    assert asked is not None
    await house.journal.end(command, "command")
    other = await house.accept(message(event="Ev2", position="1.10"))
    place = command.message.place
    assert await house.journal.withdraw(replace(place, workspace_id=WorkspaceId("slack:T2")), ("", "+")) == []
    assert await house.journal.withdraw(place, ("",)) == []
    assert await house.journal.withdraw(place, ("", "+")) == [Waiting(asked.id, asked.session_key)]
    assert await house.journal.withdraw(place, ("", "+")) == []
    assert [each.accepted for each in await house.journal.unfinished()] == [other]
    rows = await house.database.read(
        lambda c: c.execute(select(inbox.c.payload, inbox.c.outcome).where(inbox.c.id != other.id)).all()
    )
    assert sorted(tuple(row) for row in rows) == [("", "command"), ("", "withdrawn")]
    assert await house.journal.accept(command.message, command.session_key, "here") is None


async def test_a_message_that_waits_is_found_in_the_words_it_was_changed_to(house: House) -> None:
    accepted = await house.accept(message("old"))
    place = accepted.message.place
    assert await house.journal.reword(place, "nëw\0\n words") == Waiting(accepted.id, accepted.session_key)
    assert await house.journal.reword(replace(place, position="9.9"), "other words") is None
    (found,) = await house.journal.unfinished()
    said = replace(accepted.message, text="nëw\0\n words")
    assert found.accepted == replace(accepted, message=said)


async def test_a_message_whose_answer_was_begun_is_changed_and_taken_back_while_it_is_not_made(house: House) -> None:
    accepted = await house.accept(message("old"))
    await house.begun(accepted)
    place, waiting = accepted.message.place, Waiting(accepted.id, accepted.session_key)
    assert await house.journal.reword(place, "new") == waiting
    (found,) = await house.journal.unfinished()
    assert (found.begins, found.accepted.message.text) == (1, "new")
    assert await house.journal.withdraw(place, ("", "+")) == [waiting]
    assert await house.journal.unfinished() == []


@pytest.mark.parametrize("step", ["promised", "command", "ended"])
async def test_what_is_answered_is_neither_taken_back_nor_changed(house: House, step: str) -> None:
    accepted = await house.accept()
    if step == "command":
        await house.journal.begin_command(accepted)
    else:
        await house.begun(accepted)
        await house.journal.promise(accepted, "An answer.")
    if step == "ended":
        await house.journal.end(accepted, "ran")
    before = await house.journal.unfinished()
    assert await house.journal.withdraw(accepted.message.place, ("",)) == []
    assert await house.journal.reword(accepted.message.place, "other words") is None
    assert await house.journal.unfinished() == before


async def test_a_message_that_ended_leaves_no_words_here(house: House) -> None:
    accepted = await house.accept(message("SECRET"))
    await house.begun(accepted)
    await house.journal.promise(accepted, "SECRET answer")
    await house.journal.end(accepted, "ran")
    rows = await house.database.read(lambda c: [*c.execute(select(inbox)).all(), *c.execute(select(deliveries)).all()])
    assert "SECRET" not in str(rows)
    assert await house.journal.unfinished() == []


async def test_a_promise_is_kept_with_the_turn_until_the_answer_is_delivered(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    record = record_of(entry)
    await house.journal.promise(accepted, "5433", record)
    await house.journal.promise(accepted, "5433", record)
    (found,) = await house.journal.unfinished()
    assert found.promise is not None
    assert (found.promise.text, found.promise.record, found.promise.attempts) == ("5433", record, 0)
    await house.journal.end(accepted, "ran", record)
    kept = await house.sessions.load(entry.session_id)
    assert [replace(line, id=None) for line in kept] == list(record.lines)


async def test_a_later_promise_takes_the_place_of_an_earlier_one(house: House) -> None:
    accepted = await house.accept()
    await house.journal.promise(accepted, "one")
    await house.journal.promise(accepted, "two")
    (found,) = await house.journal.unfinished()
    assert found.promise is not None
    assert found.promise.text == "two"


async def test_half_a_character_is_replaced_and_nothing_of_the_message_or_the_answer_is_lost(house: House) -> None:
    accepted = await house.accept(message("hi \ud83d \x00 there"))
    record = record_of(await house.begun(accepted))
    broken = replace(record, lines=tuple(replace(line, content="half \ud83d") for line in record.lines))
    await house.journal.promise(accepted, "half \ud83d", broken)
    (found,) = await house.journal.unfinished()
    assert found.accepted.message.text == "hi \ufffd \x00 there"
    assert found.promise is not None
    assert found.promise.text == "half \ufffd"
    assert found.promise.record is not None
    assert {line.content for line in found.promise.record.lines} == {"half \ufffd"}


async def test_messages_that_are_answered_with_another_end_with_its_promise(house: House) -> None:
    first = await house.accept(message(event="Ev1", position="1.1"))
    second = await house.accept(message(event="Ev2", position="1.2"))
    await house.journal.promise(first, "both", carried=[second])
    assert [each.accepted.id for each in await house.journal.unfinished()] == [first.id]


async def test_a_turn_is_kept_in_one_step_with_its_tokens_its_cost_and_its_watermark(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    assert entry.active_turn_token is not None
    await house.sessions.mark_resume_pending(entry.session_key, ResumeReason.RESTART_INTERRUPTED)
    await house.journal.end(accepted, "ran", record_of(entry))
    kept = await house.entry(entry.session_key)
    assert (kept.active_turn_token, kept.resume_pending) == (None, False)
    assert (kept.tokens, kept.cost, kept.last_prompt_tokens, kept.watermark) == (USED, Cost(7, "estimated"), 15, "1.1")
    spent = await house.usage.total(Which(session_key=entry.session_key))
    assert (spent.tokens, spent.cost.microusd, spent.cost.runs) == (USED, 7, 1)


async def test_one_unknown_cost_makes_the_conversations_cost_unknown_and_never_zero(house: House) -> None:
    """Acceptance test 20 of a gateway."""
    accepted = await house.accept(message(event="Ev1", position="1.1", root="1.0"))
    entry = await house.begun(accepted)
    await house.journal.end(accepted, "ran", record_of(entry))
    again = await house.accept(message(event="Ev2", position="1.2", root="1.0"))
    entry = await house.begun(again)
    await house.journal.end(again, "ran", record_of(entry, cost=Cost(None, "unknown")))
    assert (await house.entry(entry.session_key)).cost == Cost(None, "unknown")


@pytest.mark.parametrize(
    ("turns", "cost"),
    [
        ((CUT_OFF, KNOWN), Cost(7, "at_least")),
        ((UNTOLD, KNOWN), Cost(7, "at_least")),
        ((KNOWN, CUT_OFF), Cost(7, "at_least")),
        ((KNOWN, UNTOLD), Cost(7, "at_least")),
        ((CUT_OFF, UNTOLD, KNOWN, KNOWN), Cost(14, "at_least")),
        ((CUT_OFF, UNPRICED, KNOWN), Cost(None, "unknown")),
        ((UNPRICED, CUT_OFF, KNOWN), Cost(None, "unknown")),
        ((UNASKED, KNOWN), Cost(7, "estimated")),
        ((KNOWN, UNASKED), Cost(7, "estimated")),
        ((UNASKED,), Cost(None, "unknown")),
    ],
)
async def test_what_nobody_has_counted_is_more_than_nothing_whenever_it_was(
    house: House, turns: Sequence[Took], cost: Cost
) -> None:
    for number, (tokens, taken, calls) in enumerate(turns):
        accepted = await house.accept(message(event=f"Ev{number}", position=f"1.{number}", root="1.0"))
        entry = await house.begun(accepted)
        record = record_of(entry, cost=taken)
        run = replace(record.run, tokens=tokens, calls=calls)
        await house.journal.end(accepted, "ran", replace(record, run=run))
    last = await house.accept(message(event="Ev9", position="1.9", root="1.0"))
    assert (await house.entry(last.session_key)).cost == cost


async def test_a_turn_that_failed_does_not_take_the_wish_to_resume_away(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    await house.sessions.mark_resume_pending(entry.session_key, ResumeReason.SHUTDOWN_TIMEOUT)
    await house.journal.end(accepted, "failed", record_of(entry, is_success=False))
    kept = await house.entry(entry.session_key)
    assert (kept.resume_pending, kept.active_turn_token) == (True, None)


async def test_the_end_of_one_message_leaves_the_turn_of_another_one_marked(house: House) -> None:
    first = await house.accept(message(event="Ev1", position="1.1", root="1.0"))
    second = await house.accept(message(event="Ev2", position="1.2", root="1.0"))
    entry = await house.begun(second)
    await house.journal.end(first, "refused")
    assert (await house.entry(entry.session_key)).active_turn_token == entry.active_turn_token


async def test_a_turn_of_a_session_that_was_left_meanwhile_is_kept_where_it_began(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    renewed = await house.sessions.reset(entry.session_key)
    assert renewed is not None
    fresh = renewed.entry
    await house.journal.end(accepted, "ran", record_of(entry))
    assert await house.sessions.load(fresh.session_id) == []
    assert len(await house.sessions.load(entry.session_id)) == 2
    assert (await house.entry(entry.session_key)).tokens == Tokens()


async def test_an_undelivered_answer_stays_owed_and_its_turn_is_kept_once(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    record = record_of(entry)
    await house.journal.promise(accepted, "5433", record)
    assert await house.journal.undelivered(accepted, record) == 1
    (found,) = await house.journal.unfinished()
    assert found.promise is not None
    assert (found.promise.record, found.promise.attempts) == (None, 1)
    assert await house.journal.undelivered(accepted, None) == 2
    await house.journal.end(accepted, "redelivered")
    assert len(await house.sessions.load(entry.session_id)) == 2
    assert (await house.usage.total(Which())).cost.runs == 1


async def test_a_message_that_ends_again_has_its_turn_kept_once(house: House) -> None:
    """Nobody knows of a commit that broke off whether it was kept, so the end is written again."""
    accepted = await house.accept()
    entry = await house.begun(accepted)
    record = record_of(entry)
    for _ in range(2):
        await house.journal.promise(accepted, "5433", record)
        await house.journal.end(accepted, "ran", record)
    assert await house.journal.undelivered(accepted, record) == 0
    assert len(await house.sessions.load(entry.session_id)) == 2
    assert (await house.usage.total(Which())).cost.runs == 1
    assert await house.journal.unfinished() == []


async def test_a_failed_delivery_that_is_written_again_has_its_turn_kept_once(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    record = record_of(entry)
    await house.journal.promise(accepted, "5433", record)
    for attempts in (1, 2):
        assert await house.journal.undelivered(accepted, record) == attempts
    await house.journal.promise(accepted, "another", record)
    await house.journal.end(accepted, "stopped", record)
    assert len(await house.sessions.load(entry.session_id)) == 2
    assert (await house.usage.total(Which())).cost.runs == 1


async def test_a_message_that_is_dismissed_leaves_the_turn_that_was_promised(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    await house.journal.promise(accepted, "5433", record_of(entry))
    await house.journal.end(accepted, "dismissed")
    assert len(await house.sessions.load(entry.session_id)) == 2
    assert (await house.entry(entry.session_key)).tokens == USED


async def test_the_end_of_a_message_whose_names_are_forgotten_changes_nothing(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    await house.journal.end(accepted, "ran", record_of(entry))
    house.clock.elapsed_s = KEPT.total_seconds() + 1
    assert await house.journal.prune() == 1
    await house.journal.end(accepted, "ran", record_of(entry))
    assert len(await house.sessions.load(entry.session_id)) == 2


async def test_posts_of_other_answers_in_the_thread_are_foreign(house: House) -> None:
    first = await house.accept(message(event="Ev1", position="1.1", root="1.0"))
    second = await house.accept(message(event="Ev2", position="1.2", root="1.0"))
    elsewhere = await house.accept(message(event="Ev3", position="2.1", root="2.0"))
    for accepted, position in ((first, "1.11"), (first, "1.11"), (second, "1.21"), (elsewhere, "2.11")):
        await house.journal.posted(accepted, position)
    assert await house.journal.foreign(first) == {"1.21"}
    assert await house.journal.foreign(second) == {"1.11"}


async def test_a_command_is_marked_as_one(house: House) -> None:
    accepted = await house.accept()
    await house.journal.begin_command(accepted)
    (found,) = await house.journal.unfinished()
    assert (found.is_command, found.begins) == (True, 1)


async def test_a_start_after_an_unclean_end_marks_what_was_active_to_be_resumed(house: House) -> None:
    """Session lifecycle, section 7."""
    assert (await house.journal.began()).was_clean
    entry = await house.begun(await house.accept())
    boot = await house.journal.began()
    assert not boot.was_clean
    kept = await house.entry(entry.session_key)
    assert (kept.resume_pending, kept.resume_reason) == (True, ResumeReason.RESTART_INTERRUPTED)
    assert (kept.interrupted_boots, kept.active_turn_token) == (1, None)


async def test_what_is_active_in_too_many_starts_in_a_row_is_suspended(house: House) -> None:
    accepted = await house.accept()
    entry = await house.begun(accepted)
    for _ in range(BEGINS_MOST):
        await house.begun(accepted)
        await house.journal.began()
    kept = await house.entry(entry.session_key)
    assert (kept.suspended, kept.interrupted_boots) == (True, BEGINS_MOST)
    fresh = await house.begun(accepted)
    assert fresh.session_id != entry.session_id


async def test_an_orderly_stop_is_clean_unless_it_cut_something_short(house: House) -> None:
    first = await house.journal.began()
    house.clock.elapsed_s += 10
    await house.journal.stopped(is_clean=True)
    second = await house.journal.began()
    entry = await house.begun(await house.accept())
    await house.journal.stopped(is_clean=False)
    kept = await house.entry(entry.session_key)
    assert (kept.resume_pending, kept.resume_reason) == (True, ResumeReason.SHUTDOWN_TIMEOUT)
    third = await house.journal.began()
    assert (first.was_clean, second.was_clean, third.was_clean) == (True, True, False)
    start = EPOCH + timedelta(seconds=10)
    assert third == Boot(was_clean=False, recent_at=(start, start, EPOCH))
    assert (await house.entry(entry.session_key)).resume_reason is ResumeReason.SHUTDOWN_TIMEOUT


async def test_an_entry_that_makes_no_sense_keeps_no_process_from_starting(house: House) -> None:
    broken = await house.begun(await house.accept(message(event="Ev1", position="1.1")))
    other = await house.begun(await house.accept(message(event="Ev2", position="2.1")))
    spoil = update(routes).where(routes.c.session_key == broken.session_key).values(chat_type="room")
    await house.database.write(lambda c: c.execute(spoil).rowcount)
    await house.journal.began()
    await house.journal.stopped(is_clean=True)
    assert (await house.entry(other.session_key)).resume_pending
    with pytest.raises(StateValueError):
        await house.entry(broken.session_key)


async def test_an_answer_is_owed_although_its_turn_makes_no_sense_any_more(house: House) -> None:
    """What an older version promised, for example."""
    accepted = await house.accept()
    entry = await house.begun(accepted)
    await house.journal.promise(accepted, "5433", record_of(entry))
    await house.database.write(lambda c: c.execute(update(deliveries).values(turn='{"run": 1}')).rowcount)
    with structlog.testing.capture_logs() as lines:
        (found,) = await house.journal.unfinished()
    assert [line["event"] for line in lines] == [MESSAGE_UNREADABLE]
    assert found.promise is not None
    assert (found.promise.text, found.promise.record) == ("5433", None)
    await house.journal.end(accepted, "redelivered")
    assert list(await house.journal.unfinished()) == []


async def test_a_row_that_makes_no_sense_ends_and_the_rest_is_found(house: House) -> None:
    broken = await house.accept(message(event="Ev1", position="1.1"))
    whole = await house.accept(message(event="Ev2", position="1.2"))
    spoil = update(inbox).where(inbox.c.id == broken.id).values(payload="{")
    await house.database.write(lambda c: c.execute(spoil).rowcount)
    assert [each.accepted.id for each in await house.journal.unfinished()] == [whole.id]
    ended = select(func.count()).select_from(inbox).where(inbox.c.outcome == "unreadable")
    assert await house.database.read(lambda c: c.scalar(ended)) == 1
