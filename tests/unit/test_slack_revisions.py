"""What Slack tells of messages that were said before."""

from dataclasses import replace
from typing import Any

import pytest

from app.background import Background
from app.channel import ChannelId, Place, UserId, WorkspaceId
from app.errors import StateError
from app.slack.gate import Ignored, refusal
from app.slack.payloads import MalformedEventError
from app.slack.revision_payloads import is_revision, revision_event
from app.slack.revisions import EARLY_MOST, EARLY_S, Revisions
from tests.fakes import ManualClock
from tests.unbuilt_bolt import IDENTITY, unconnected_workspace

Json = dict[str, Any]


def said(text: str = "<@UBOT> old", **fields: Any) -> Json:
    return {"type": "message", "user": "U1", "ts": "1.1", "text": text} | fields


def changed(message: Json, previous: Json | None, ts: str = "2.1", **fields: Any) -> Json:
    event = {"type": "message", "subtype": "message_changed", "channel": "C1", "hidden": True, "ts": ts}
    before = {} if previous is None else {"previous_message": previous}
    return {"event_id": "Ev1", "team_id": "T1", "event": event | {"message": message} | before | fields}


def deleted(previous: Json | None, ts: str = "2.1", **fields: Any) -> Json:
    event = {"type": "message", "subtype": "message_deleted", "channel": "C1", "ts": ts, "deleted_ts": "1.1"}
    before = {} if previous is None else {"previous_message": previous}
    return {"event_id": "Ev1", "team_id": "T1", "event": event | before | fields}


TOMBSTONE = said("This message was deleted.", user="USLACKBOT", subtype="tombstone")


class Heard:
    """Stands where ``Revising`` does."""

    def __init__(self) -> None:
        self.told: list[tuple[Place, str]] = []
        self.fault: StateError | None = None

    async def withdraw(self, place: Place, author: UserId) -> None:
        self._tell(place, f"withdrawn by {author}")

    async def reword(self, place: Place, text: str) -> None:
        self._tell(place, text)

    def _tell(self, place: Place, what: str) -> None:
        if self.fault is not None:
            raise self.fault
        self.told.append((place, what))


HERE = Place(WorkspaceId("slack:T1"), ChannelId("slack:C1"), "1.1")


def listening() -> tuple[Revisions, Heard, ManualClock]:
    heard, clock = Heard(), ManualClock()
    return Revisions(replace(unconnected_workspace(Background()), clock=clock), heard), heard, clock


async def told(*bodies: Json, fault: StateError | None = None) -> list[tuple[Place, str]]:
    revisions, heard, _ = listening()
    heard.fault = fault
    for body in bodies:
        assert is_revision(body)
        await revisions.take(body)
    return heard.told


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (changed(said("<@UBOT> a &amp; b"), said()), "a & b"),
        (changed(said("no mention"), said()), "no mention"),
        (changed(said("", edited={"user": "U1", "ts": "2.1"}), said()), ""),
        (
            changed(
                said("see", attachments=[{"text": "a preview"}, {"is_share": True, "text": "what Bob said"}]), said()
            ),
            "see\nwhat Bob said",
        ),
        (deleted(said()), "withdrawn by slack:U1"),
        (deleted(None), "withdrawn by slack:None"),
        # Of a message with a thread below it Slack keeps a stone.
        (changed(TOMBSTONE, said()), "withdrawn by slack:U1"),
    ],
)
async def test_a_person_has_changed_or_deleted_a_message(body: Json, what: str) -> None:
    assert await told(body) == [(HERE, what)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (changed(said(attachments=[{"text": "a preview"}]), said()), Ignored.SAME_WORDS),
        (changed(said("new"), None), Ignored.SAME_WORDS),
        (changed(said("new", user="UBOT", bot_id="BBOT"), said(user="UBOT")), Ignored.OWN),
        (changed(said("new", bot_id="BOTHER"), said()), Ignored.MACHINE),
        (changed(said("new", user="USLACKBOT"), said()), Ignored.MACHINE),
        (deleted(said(user="UBOT", bot_id="BBOT")), Ignored.OWN),
        (deleted(said(bot_id="BOTHER")), Ignored.MACHINE),
        (deleted(TOMBSTONE), Ignored.MACHINE),
    ],
)
async def test_what_no_person_has_said_otherwise_is_ignored(body: Json, reason: Ignored) -> None:
    assert refusal(revision_event(body), IDENTITY) == reason
    assert await told(body) == []


def test_nothing_is_revised_before_the_bot_knows_who_it_is() -> None:
    assert refusal(revision_event(deleted(said())), None) == Ignored.IDENTITY_UNKNOWN


async def test_the_latest_words_count_in_whatever_order_and_however_often_they_come() -> None:
    first, second = changed(said("first"), said(), ts="2.1"), changed(said("second"), said("first"), ts="2.2")
    assert [what for _, what in await told(second, first, second)] == ["second", "second"]


async def test_another_teams_message_has_another_place() -> None:
    ((place, _),) = await told(deleted(said()) | {"team_id": "T2"})
    assert place.workspace_id == "slack:T2"


async def test_records_that_cannot_be_written_keep_nobody_waiting() -> None:
    assert await told(deleted(said()), fault=StateError("disk full")) == []


@pytest.mark.parametrize(
    ("body", "what"), [(changed(said("new"), said()), "new"), (deleted(said()), "withdrawn by slack:U1")]
)
async def test_what_was_told_of_a_message_before_it_came_goes_for_it_when_it_comes(body: Json, what: str) -> None:
    revisions, heard, _ = listening()
    await revisions.arrived(HERE)
    assert heard.told == []
    await revisions.take(body)
    await revisions.arrived(replace(HERE, position="1.2"))
    await revisions.arrived(HERE)
    assert heard.told == [(HERE, what)] * 2


async def test_the_latest_of_what_was_told_before_a_message_came_goes_for_it() -> None:
    revisions, heard, _ = listening()
    for body in (changed(said("second"), said("first"), ts="2.2"), changed(said("first"), said(), ts="2.1")):
        await revisions.take(body)
    await revisions.arrived(HERE)
    assert heard.told == [(HERE, "second")] * 2


async def test_what_was_told_of_a_message_that_does_not_come_is_forgotten_after_a_while_or_for_others() -> None:
    revisions, heard, clock = listening()
    await revisions.take(deleted(said()))
    clock.elapsed_s = EARLY_S
    await revisions.arrived(HERE)
    assert len(heard.told) == 1
    for number in range(EARLY_MOST + 1):
        await revisions.take(changed(said("new", ts=f"9.{number}"), said()))
    heard.told.clear()
    for number in range(EARLY_MOST + 1):
        await revisions.arrived(replace(HERE, position=f"9.{number}"))
    assert [place.position for place, _ in heard.told] == [f"9.{number}" for number in range(1, EARLY_MOST + 1)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (changed(said(), said(), channel=""), "channel"),
        (changed(said(), said(), ts="soon"), "ts"),
        (changed(said(ts=""), said()), "message.ts"),
        (changed({"ts": "1.1", "text": ["SECRET"]}, said()), "message.text"),
        (deleted(said(), deleted_ts=None), "deleted_ts"),
        (deleted(said()) | {"event_id": ""}, "event_id"),
    ],
)
def test_malformed_revisions_are_told_by_their_fields_alone(body: Json, field: str) -> None:
    with pytest.raises(MalformedEventError) as fault:
        revision_event(body)
    assert str(fault.value).startswith(f"{field}: ")
    assert "SECRET" not in str(fault.value)


@pytest.mark.parametrize("subtype", [None, "file_share", [], {}])
def test_other_messages_are_no_revisions(subtype: object) -> None:
    assert not is_revision({"event": {"type": "message", "subtype": subtype}})
