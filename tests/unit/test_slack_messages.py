"""What people say, from the event to the records."""

import asyncio
import re
from dataclasses import replace
from typing import Any

from structlog.testing import capture_logs

from app.background import Background
from app.channel import IncomingMessage, Place
from app.clock import Clock
from app.dispatch.dispatcher import Dispatcher
from app.dispatch.journal import Accepted, Waiting
from app.dispatch.ports import Limits
from app.dispatch.work import Work
from app.sessions.key import SessionKey
from app.sessions.ticket import Ticket
from app.slack.messages import Messages, new_reference
from tests.fakes import FakeJournal, OneModel, ScriptedProvider, ports_of, until
from tests.unbuilt_bolt import unconnected_workspace


class BusyJournal(FakeJournal):
    """Counts what asks to be written down, lets others come in between, and has known all of it before."""

    asked = 0

    async def accept(self, message: IncomingMessage, key: SessionKey, address: str | None) -> Accepted | None:
        self.asked += 1
        await asyncio.sleep(0)
        return None


class SlowJournal(FakeJournal):
    """Takes its time to write down the new words of a message that it knows."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.may_write = asyncio.Event()

    async def reword(self, place: Place, text: str) -> Waiting | None:
        waiting = await super().reword(place, text)
        if waiting is not None:
            await self.may_write.wait()
        return waiting


class Seeing(Dispatcher):
    """Remembers the words of what would stand in line next."""

    def __init__(self, journal: FakeJournal, clock: Clock) -> None:
        super().__init__(replace(ports_of(OneModel(ScriptedProvider([])), clock), journal=journal), Limits(1.0, 99))
        self.seen: list[str] = []

    async def see_to(self, work: Work, ticket: Ticket[Work] | None = None) -> str:
        revised = self.revising.revised(work)
        assert revised is not None
        self.seen.append(revised.message.text)
        return "ran"


def told(kind: str, event_id: str, ts: str = "1.1", **fields: Any) -> dict[str, Any]:
    event = {"type": kind, "user": "U1", "channel": "C1", "ts": ts, "text": "<@UBOT> hello", "channel_type": "channel"}
    return {"type": "event_callback", "event_id": event_id, "team_id": "T1", "event": event | fields}


def hearing() -> tuple[Messages, BusyJournal]:
    background = Background()
    workspace = unconnected_workspace(background)
    journal = BusyJournal(workspace.clock)
    ports = replace(ports_of(OneModel(ScriptedProvider([])), workspace.clock), journal=journal)
    return Messages(workspace, Dispatcher(ports, Limits(1.0, 1)), background), journal


async def test_a_mention_that_comes_as_two_events_asks_the_records_once() -> None:
    messages, journal = hearing()
    await asyncio.gather(messages.take(told("message", "Ev1")), messages.take(told("app_mention", "Ev2")))
    await messages.take(told("message", "Ev1"))
    assert journal.asked == 1


async def test_of_a_message_that_is_told_again_not_even_the_shape_is_looked_at() -> None:
    messages, _ = hearing()
    malformed = told("app_mention", "Ev2", user=7)
    with capture_logs() as lines:
        await asyncio.gather(messages.take(told("message", "Ev1")), messages.take(malformed))
        await messages.take(malformed)
        assert lines == []
        await messages.take(told("app_mention", "Ev3", "1.2", user=7))
    assert [line["event"] for line in lines] == ["event_malformed"]


def test_references_are_eight_digits_and_differ() -> None:
    references = {new_reference() for _ in range(100)}
    assert len(references) == 100
    assert all(re.fullmatch("[0-9a-f]{8}", each) for each in references)


async def test_two_messages_ask_twice_and_the_bots_own_words_never() -> None:
    messages, journal = hearing()
    await messages.take(told("message", "Ev1"))
    await messages.take(told("message", "Ev2", ts="1.2"))
    own = told("message", "Ev3", ts="1.3")
    own["event"] |= {"user": "UBOT", "bot_id": "BBOT"}
    await messages.take(own)
    assert journal.asked == 2


async def test_a_message_that_was_edited_before_it_came_keeps_its_place_before_those_that_came_after_it() -> None:
    background = Background()
    workspace = unconnected_workspace(background)
    journal = SlowJournal(workspace.clock)
    dispatcher = Seeing(journal, workspace.clock)
    messages = Messages(workspace, dispatcher, background)
    before, after = ({"user": "U1", "ts": "1.1", "text": f"<@UBOT> {words}"} for words in ("old", "new"))
    await messages.take(
        told("message", "Ev0", "1.3", subtype="message_changed", previous_message=before, message=after)
    )
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        for event_id, ts, words in (("Ev1", "1.1", "old"), ("Ev2", "1.2", "second")):
            fields = {"text": f"<@UBOT> {words}", "thread_ts": "1.0"}
            group.create_task(messages.take(told("app_mention", event_id, ts, **fields)))
        await until(lambda: journal.reworded != {})
        journal.may_write.set()
        await until(lambda: len(dispatcher.seen) == len(("new", "second")))
    assert dispatcher.seen == ["new", "second"]
